"""An Observed as the y of scikit-learn: splitters, pipelines, searches, importance, messages."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from decorrupt import (
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    Observed,
)
from decorrupt.model_selection import BagScorer


class BagMeans(ClassifierMixin, BaseEstimator):
    """The smallest estimator that takes an Observed: ridge regression on the bags' means."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        assert isinstance(y, Observed)
        assert len(X) == len(y)
        self.classes_ = y.classes
        means = y.mean_by_bag(np.asarray(X))
        self.ridge_ = Ridge(alpha=self.alpha).fit(means, y.proportions[:, 1], y.sizes)
        return self

    def predict(self, X):
        return self.classes_[(self.ridge_.predict(X) > 0.5).astype(int)]

    def score(self, X, y):
        y.warn_of_parts()
        shares = y.mean_by_bag(self.ridge_.predict(X))
        return -float(np.mean((shares - y.proportions[:, 1]) ** 2))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    bags = np.repeat(np.arange(24), 5)
    rates = rng.uniform(0.1, 0.9, 24)[bags]
    labels = (rng.random(120) < rates).astype(int)
    X = rng.normal(size=(120, 3)) + 2 * labels[:, None] * [1, 1, 0]
    return X, Observed.from_bags((np.bincount(bags, labels) / 5)[bags], bags)


def test_shape_length_and_rows(data):
    _, observed = data
    assert len(observed) == 120
    assert observed.shape == (120,)
    assert repr(observed) == "<Observed: 120 rows in 24 bags, classes [0, 1]>"
    rows = np.arange(120)
    keys = [np.array([7, 3]), [7, 3], slice(5, 20), rows < 30, (rows < 30).tolist(), 4]
    for key in [*keys, (slice(5, 20), ...)]:
        plain = key[0] if isinstance(key, tuple) else key
        taken = np.atleast_1d(rows[plain])
        part = observed[key]
        assert part.ids[part.row_bag].tolist() == observed.ids[observed.row_bag[taken]].tolist()
    again = pickle.loads(pickle.dumps(observed[:20]))  # noqa: S301 — our own bytes
    np.testing.assert_array_equal(again.proportions, observed.proportions[:4])


def test_the_other_reprs():
    noisy = Observed.from_sources([0, 1, 1], ["a", "b", "b"], (0.1, 0.2))
    assert repr(noisy) == "<Observed: 3 rows from 2 sources, classes [0, 1]>"
    mixed = Observed.from_bags(
        [0.5, 0.5, 1], [0, 0, None], sources=[None, None, "a"], noise_rates=(0.1, 0.2)
    )
    assert repr(mixed) == "<Observed: 3 rows in 2 bags (1 sources), classes [0, 1]>"


def test_folds_of_whole_bags_keep_counts_and_others_do_not(data):
    X, observed = data
    for train, test in GroupKFold(4).split(X, observed, groups=observed.row_bag):
        assert observed[train].counts.is_exact.all()
        assert not observed[test].is_part.any()
    for train, _ in KFold(4, shuffle=True, random_state=0).split(X, observed):
        assert observed[train].is_part.any()
    train, test, _, X_test = train_test_split(observed, X, test_size=0.25, random_state=0)
    assert (len(train), len(test)) == (90, len(X_test))


@pytest.mark.parametrize(
    "make", [BagMeans, lambda: CorrectedLossClassifier(kernel="linear")], ids=["tiny", "corrected"]
)
def test_a_pipeline(data, make):
    X, observed = data
    labels = (observed.row_proportions[:, 1] > 0.5).astype(int)
    model = make_pipeline(StandardScaler(), make()).fit(X, observed)
    assert np.mean(model.predict(X) == labels) > 0.6


def test_bags_and_sources_are_fitted_as_from_their_arguments(data):
    X, observed = data
    model = CorrectedLossClassifier(kernel="linear")
    y, bags = observed.row_proportions[:, 1], observed.row_bag
    coef = np.copy(model.fit(X, observed).coef_)
    np.testing.assert_array_equal(coef, model.fit(X, y, bags=bags).coef_)
    labels, sources, rates = (y > 0.5) * 1, bags % 2, {0: (0.1, 0.2), 1: (0.3, 0.0)}
    noisy = CorruptedSourcesClassifier(kernel="linear")
    coef = np.copy(noisy.fit(X, Observed.from_sources(labels, sources, rates)).coef_)
    noisy.fit(X, labels, sources=sources, noise_rates=rates)
    np.testing.assert_array_equal(coef, noisy.coef_)


@pytest.mark.parametrize("is_pipeline", [False, True])
@pytest.mark.parametrize("scoring", [None, "scorer"])
def test_a_search(data, is_pipeline, scoring):
    X, observed = data
    model = make_pipeline(StandardScaler(), BagMeans()) if is_pipeline else BagMeans()
    name = "bagmeans__alpha" if is_pipeline else "alpha"
    scoring = scoring and (lambda estimator, X, y: estimator.score(X, y))
    cv = GroupKFold(3)
    search = GridSearchCV(model, {name: [1e6, 1.0]}, cv=cv, scoring=scoring, error_score="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no bag is cut
        search.fit(X, observed, groups=observed.row_bag)
    assert search.best_params_ == {name: 1.0}


def test_a_search_over_a_method_with_a_criterion_for_bags(data):
    X, observed = data
    search = GridSearchCV(
        CorrectedLossClassifier(kernel="linear"),
        {"reg_strength": [100.0, 0.01]},
        scoring=BagScorer("proportion_risk"),
        cv=GroupKFold(3),
        error_score="raise",
    )
    assert search.fit(X, observed, groups=observed.row_bag).best_score_ < 0


def test_the_score_of_a_method_is_the_log_likelihood_per_row(data):
    X, observed = data
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=0.1).fit(X, observed)
    assert model.score(X, observed) == pytest.approx(model.log_likelihood_ / 120)
    with pytest.warns(UserWarning, match=r"a part of the rows.*groups=observed\.row_bag"):
        model.score(X[:7], observed[:7])


def test_scores_of_cut_bags_warn(data):
    X, observed = data
    with pytest.warns(UserWarning, match=r"a part of the rows.*groups=observed\.row_bag"):
        cross_val_score(BagMeans(), X, observed, cv=KFold(3, shuffle=True, random_state=0))


def test_permutation_importance(data):
    X, observed = data
    model = BagMeans().fit(X, observed)
    found = permutation_importance(model, X, observed, n_repeats=3, random_state=0)
    assert found.importances_mean[:2].min() > found.importances_mean[2]


NEEDS_LABELS = {
    "folds": lambda X, y: GridSearchCV(BagMeans(), {"alpha": [1.0]}, cv=3).fit(X, y),
    "strata": lambda X, y: next(StratifiedKFold(3).split(X, y)),
    "accuracy": lambda X, y: cross_val_score(
        BagMeans(), X, y, cv=KFold(3), scoring="accuracy", error_score="raise"
    ),
    "held-out predictions": lambda X, y: cross_val_predict(
        BagMeans(), X, y, cv=KFold(3), method="predict_proba"
    ),
    "voting": lambda X, y: VotingClassifier([("a", BagMeans())]).fit(X, y),
    "calibration": lambda X, y: CalibratedClassifierCV(CorrectedLossClassifier(), cv=KFold(3)).fit(
        X, y
    ),
    "another library's model": lambda X, y: LogisticRegression().fit(X, y),
    "an array": lambda _, y: np.asarray(y),
}


@pytest.mark.parametrize("use", NEEDS_LABELS.values(), ids=NEEDS_LABELS)
def test_what_needs_labels_says_what_to_use(data, use):
    with pytest.raises(TypeError, match=r"not an array of labels.*GroupKFold.*cv=KFold.*BagGrid"):
        use(*data)
