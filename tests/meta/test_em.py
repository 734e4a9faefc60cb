"""EM with any learner: it does what EM does, and learns from bags, sources and both."""

from functools import cached_property

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from decorrupt import EMClassifier
from decorrupt.meta.em import SoftLearner, run_round
from decorrupt.meta.soft_labels import fit_soft_labels, soft_scores
from decorrupt.observed import class_columns, read_observed
from decorrupt.risks import LabelLikelihood

FOREST = RandomForestRegressor(30, min_samples_leaf=3, random_state=0)


def quick(estimator=FOREST, **params):
    return EMClassifier(estimator, cv=3, random_state=0, **params)


@pytest.mark.parametrize("kind", ["bags", "sources", "range"])
def test_the_log_likelihood_does_not_fall(kind, bag_data, source_data):
    """Logistic regression maximises the M-step, so without folds EM cannot lose likelihood."""
    if kind == "sources":
        X = source_data.X
        observed = read_observed(
            source_data.noisy, sources=source_data.sources, noise_rates=source_data.rates
        )
    else:
        X = bag_data.X
        upper = np.minimum(bag_data.y + 0.2, 1) if kind == "range" else None
        observed = read_observed(bag_data.y, bags=bag_data.bags, upper=upper)
    learner = SoftLearner(LogisticRegression(C=1e6, tol=1e-8, max_iter=1000), 2)
    likelihood, scores = LabelLikelihood(observed), 0.1 * X[:, 0]
    found = [likelihood.log_likelihood(scores)]
    options = {"folds": None, "blend": 1, "calibrate": False}
    for _ in range(15):
        last = run_round(learner, X, likelihood, scores, **options)
        scores = last.scores
        found.append(last.log_likelihood)
    assert (np.diff(found) > -1e-6).all()
    assert found[-1] > found[0] + 10


def test_soft_labels_are_repeated_rows():
    """Weights w and 1−w are the same as many copies of a row with both labels."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(50, 2)), rng.integers(0, 5, 50) / 4
    soft = fit_soft_labels(LogisticRegression(C=100, tol=1e-8), X, class_columns(w))
    copies = np.repeat(np.arange(50), 4)
    labels = (np.tile(np.arange(4), 50) < 4 * w[copies]).astype(int)
    hard = LogisticRegression(C=25, tol=1e-8).fit(X[copies], labels)
    assert_allclose(soft.coef_, hard.coef_, rtol=1e-4)


def test_soft_labels_of_several_classes():
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(200, 3)), rng.dirichlet(np.ones(3), 200)
    for learner in (LogisticRegression(), LinearRegression(), HistGradientBoostingClassifier()):
        model = fit_soft_labels(learner, X, w)
        scores = soft_scores(model, X, 3)
        assert scores.shape == (200, 3)
        assert_allclose(np.exp(scores).sum(axis=1), 1)


def test_a_class_without_a_row_has_probability_zero():
    X = np.arange(6.0)[:, None]
    model = fit_soft_labels(LogisticRegression(), X, np.eye(3)[[0, 0, 0, 2, 2, 2]])
    assert (np.exp(soft_scores(model, X, 3))[:, 1] < 0.002).all()


LEARNERS = [
    LogisticRegression(),
    ExtraTreesClassifier(30, min_samples_leaf=3),
    HistGradientBoostingClassifier(max_iter=30),
    FOREST,
    make_pipeline(StandardScaler(), LogisticRegression()),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_any_learner_learns_from_bags(learner, bag_data):
    model = quick(learner).fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert balanced_accuracy_score(bag_data.labels, model.predict(bag_data.X)) > 0.88
    assert model.held_out_log_likelihood_ > model.prior_log_likelihood_ + 5
    prob = model.predict_proba(bag_data.X)[:, 1]
    assert abs(prob.mean() - bag_data.y.mean()) < 0.05


def test_blend_zero_is_the_start_and_one_the_learner(bag_data):
    d = bag_data
    start, learner = (quick(blend=b).fit(d.X, d.y, bags=d.bags) for b in (0.0, 1.0))
    expected = start.start_.raw_scores(start.columns_.transform(d.X))
    assert_allclose(start.decision_function(d.X) + start.decision_threshold_, expected)
    own = soft_scores(learner.estimator_, d.X, 2)
    assert_allclose(learner.raw_scores(d.X), learner.slope_ * own + learner.shift_)


def test_the_start_estimates_its_class_prior_once_per_fit(bag_data, monkeypatch):
    d, calls = bag_data, []
    estimate = LabelLikelihood.class_prior.func

    def counted(likelihood):
        calls.append(len(likelihood.observed.row_bag))
        return estimate(likelihood)

    prior = cached_property(counted)
    prior.__set_name__(LabelLikelihood, "class_prior")
    monkeypatch.setattr(LabelLikelihood, "class_prior", prior)
    upper = np.minimum(d.y + 0.3, 1)
    model = EMClassifier(LogisticRegression(), cv=3, random_state=0)
    model.fit(d.X, d.y, bags=d.bags, upper=upper)
    # The model, two starts on three folds, and the better one on all rows.
    assert calls == [600, *[400] * 6, 600]
    assert_allclose(model.start_.class_prior_, model.class_prior_)
    assert model.class_prior_[1] > d.y.mean() + 0.05  # of the lower ends


def test_posteriors_come_from_held_out_scores(bag_data):
    """A learner that remembers its rows learns nothing from its own posteriors."""
    d = bag_data
    deep = RandomForestRegressor(30, random_state=0)
    likelihood = LabelLikelihood(read_observed(d.y, bags=d.bags))
    learner, start = SoftLearner(deep, 2), np.zeros(600)
    options = {"blend": 1.0, "calibrate": False}
    in_sample = run_round(learner, d.X, likelihood, start, folds=None, **options)
    w = in_sample.posterior[:, 1]
    assert np.corrcoef(w, in_sample.scores)[0, 1] > 0.9


def test_sources_and_both(source_data, bag_data):
    d = source_data
    model = quick().fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
    assert balanced_accuracy_score(d.labels, model.predict(d.X)) > 0.88
    X = np.vstack([d.X[:300], bag_data.X])
    y = np.concatenate([d.noisy[:300], bag_data.y])
    bags = [None] * 300 + bag_data.bags.tolist()
    sources = d.sources[:300].tolist() + [None] * 600
    both = quick().fit(X, y, bags=bags, sources=sources, noise_rates=d.rates)
    assert both.score(bag_data.X, bag_data.labels) > 0.88


def test_several_classes():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 2)) + 3 * np.eye(3)[labels][:, :2]
    bags = np.arange(600) // 6
    shares = pd.DataFrame(np.eye(3)[labels], columns=["a", "b", "c"])
    y = shares.groupby(bags).transform("mean")
    model = quick().fit(X, y, bags=bags)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert (model.predict(X) == np.array(["a", "b", "c"])[labels]).mean() > 0.85
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    names = np.array(["a", "b", "c"])
    rates = {"s": 0.7 * np.eye(3) + 0.1}
    wrong = rng.random(600) < 0.3
    noisy = np.where(wrong, rng.integers(0, 3, 600), labels)
    from_sources = quick().fit(X, names[noisy], sources=["s"] * 600, noise_rates=rates)
    assert (from_sources.predict(X) == names[labels]).mean() > 0.85


def test_categories_and_missing_values_reach_the_learner_unencoded(bag_data):
    d = bag_data
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"first": d.X[:, 0], "second": d.X[:, 1]})
    frame["colour"] = pd.Categorical(np.where(d.labels & (rng.random(600) < 0.8), "red", "blue"))
    frame.loc[rng.random(600) < 0.2, "first"] = np.nan
    learner = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=30)
    model = quick(learner).fit(frame, d.y, bags=d.bags)
    assert model.estimator_.is_categorical_.tolist() == [False, False, True]
    assert balanced_accuracy_score(d.labels, model.predict(frame)) > 0.85


def test_weights_of_a_pipeline_can_be_named(bag_data):
    d = bag_data
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    named = quick(pipe, sample_weight_name="logisticregression__sample_weight")
    expected = quick(pipe).fit(d.X, d.y, bags=d.bags).decision_function(d.X)
    assert_allclose(named.fit(d.X, d.y, bags=d.bags).decision_function(d.X), expected)


def test_equal_whatever_the_number_of_jobs(bag_data):
    d = bag_data
    one, two = (
        EMClassifier(cv=3, random_state=1, n_jobs=n).fit(d.X, d.y, bags=d.bags) for n in (None, 2)
    )
    assert_allclose(one.decision_function(d.X), two.decision_function(d.X))


class NoWeights(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):  # noqa: ARG002
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            EMClassifier(LinearSVC()),
            r"LinearSVC has no predict_proba: choose another classifier or",
        ),
        (EMClassifier(LinearSVC), r"is not an estimator: give an instance"),
        (EMClassifier(NoWeights()), r"NoWeights has no sample_weight"),
        (
            EMClassifier(LogisticRegression(), sample_weight_name="weights"),
            r"sample_weight_name='weights' .* LogisticRegression: None uses 'sample_weight'",
        ),
        (
            EMClassifier(
                make_pipeline(StandardScaler(), LogisticRegression()),
                sample_weight_name="sample_weight",
            ),
            r"sample_weight_name='sample_weight' .*: None uses 'logisticregression__sample_weight'",
        ),
        (EMClassifier(KNeighborsClassifier()), r"KNeighborsClassifier has no sample_weight"),
        (EMClassifier(cv=1), r"cv=1 must be a whole number, at least 2"),
    ],
)
def test_bad_parameters(model, message, bag_data):
    with pytest.raises(ValueError, match=message):
        model.fit(bag_data.X, bag_data.y, bags=bag_data.bags)


@pytest.mark.parametrize("sources", [None, ["nurse"] * 40])
def test_ranges_without_bags_are_refused(sources):
    rates = sources and {"nurse": (0.1, 0.1)}
    with pytest.raises(ValueError, match="pass bags= as well"):
        EMClassifier().fit(
            np.zeros((40, 1)),
            [0, 1] * 20,
            upper=np.ones(40),
            sources=sources,
            noise_rates=rates,
        )


def test_columns_may_have_numbers_as_names(bag_data):
    d = bag_data
    frame = pd.DataFrame(d.X, columns=[7, 0])
    model = EMClassifier(LogisticRegression(), cv=2, random_state=0)
    expected = clone(model).fit(d.X, d.y, bags=d.bags).decision_function(d.X)
    assert_allclose(model.fit(frame, d.y, bags=d.bags).decision_function(frame), expected)
