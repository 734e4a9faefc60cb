"""Label-dependent costs: an exact identity on finite supports."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from decorrupt import CostWeightedSourcesClassifier
from decorrupt.corruption import label_costs
from decorrupt.meta.cost_weighted import label_weights, noisy_mixture, true_class_scores
from decorrupt.observed import as_observed, matrix_of_rates
from helpers.class_sources import RATES, three_classes

LINEAR = LogisticRegression(C=1e8, tol=1e-10, max_iter=1000)
rates = st.tuples(st.floats(0, 0.45), st.floats(0, 0.45))


@given(
    st.lists(rates, min_size=1, max_size=4),
    st.floats(0.05, 0.95),
    st.lists(st.floats(0, 1), min_size=2, max_size=8),
    st.integers(0, 1000),
)
def test_decisions_and_probabilities_are_those_of_clean_labels(pairs, threshold, clean, seed):
    """On a finite support the weighted learner's q(x) is known, and P(Y=1|x) comes back."""
    pairs, clean = np.array(pairs), np.array(clean)
    shares = np.random.default_rng(seed).dirichlet(np.ones(len(pairs)))
    matrices = np.array([matrix_of_rates(*pair) for pair in pairs])
    sources = SimpleNamespace(
        source_sizes=shares, only_sources=lambda: SimpleNamespace(matrices=matrices)
    )
    costs = label_costs(matrices, threshold)
    assert (costs >= 0).all()
    flip_pos, flip_neg = pairs.T
    noisy = clean[:, None] * (1 - flip_pos) + (1 - clean[:, None]) * flip_neg
    pos, neg = noisy @ (shares * costs[:, 1]), (1 - noisy) @ (shares * costs[:, 0])
    q = pos / (pos + neg)
    found = expit(true_class_scores(logit(q), noisy_mixture(sources, costs)))
    limited = np.maximum([1 - clean, clean], 1e-6)  # so that log-odds are finite
    assert_allclose(found, limited[1] / limited.sum(axis=0), atol=1e-9)
    apart = np.abs(clean - threshold) > 1e-9
    assert ((q > 0.5) == (clean > threshold))[apart].all()


@pytest.mark.parametrize("decision", ["balanced", "accuracy"])
def test_a_tree_on_four_points_gives_the_clean_probabilities(decision):
    """A learner that is exact on a finite support: the noisy counts are exact too."""
    clean, flips = np.array([0.1, 0.4, 0.6, 0.9]), {"a": (0.1, 0.2), "b": (0.3, 0.0)}
    rows = []
    for point, share in enumerate(clean):
        for source, (flip_pos, flip_neg) in flips.items():
            n_pos = round(1000 * (share * (1 - flip_pos) + (1 - share) * flip_neg))
            rows += [(point, source, 1)] * n_pos + [(point, source, 0)] * (1000 - n_pos)
    points, sources, y = map(np.array, zip(*rows, strict=True))
    model = CostWeightedSourcesClassifier(DecisionTreeClassifier(), decision=decision)
    model.fit(points[:, None], y, sources=sources, noise_rates=flips)
    support = np.arange(4)[:, None]
    assert_allclose(model.predict_proba(support)[:, 1], clean, atol=1e-6)
    assert_allclose(model.class_prior_, 0.5, atol=1e-9)
    assert model.predict(support).tolist() == [0, 0, 1, 1]


def test_it_learns_the_clean_classes(source_data):
    d = source_data
    for learner in (None, LogisticRegression()):
        model = CostWeightedSourcesClassifier(learner, random_state=0)
        model.fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
        assert balanced_accuracy_score(d.labels, model.predict(d.X)) > 0.88
    noisy = as_observed(d.noisy, sources=d.sources, noise_rates=d.rates)
    weights = label_weights(noisy, "label_dependent", "balanced")
    by_source = dict(zip(noisy.sources.ids, weights, strict=True))
    assert by_source["expert"][1] > by_source["crowd"][1]


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LinearSVC(), "LinearSVC has no predict_proba"),
        (LinearRegression(), "LinearRegression has no predict_proba: choose another classifier$"),
        ("forest", "estimator='forest' is not an estimator"),
    ],
)
def test_bad_estimators(estimator, message, source_data):
    d = source_data
    with pytest.raises(ValueError, match=message):
        CostWeightedSourcesClassifier(estimator).fit(d.X, d.labels)


def test_rates_by_row_are_those_of_a_source_per_row(source_data):
    d = source_data
    varied = np.column_stack([np.linspace(0, 0.4, 900), np.zeros(900)])
    with pytest.raises(ValueError, match="every row is a source"):
        CostWeightedSourcesClassifier().fit(d.X, d.noisy, noise_rates=varied)


def test_noisy_probabilities_return_to_the_true_ones():
    """q ∝ pᵀM by its definition, for two and three classes and any positive weights."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        mixture = np.eye(n_classes) + rng.random((n_classes, n_classes)) / 4
        clean = rng.dirichlet(np.ones(n_classes), size=50)
        noisy = clean @ mixture
        noisy /= noisy.sum(axis=1, keepdims=True)
        if n_classes == 2:
            found = expit(true_class_scores(logit(noisy[:, 1]), mixture))
            assert_allclose(found, clean[:, 1], atol=2e-6)
        else:
            found = np.exp(true_class_scores(np.log(noisy), mixture))
            assert_allclose(found, clean, atol=2e-6)


def test_label_dependent_costs_are_those_of_natarajan(source_data):
    """Weights s(1−α) and s·α, and P(Y=1|x) = (oC − A)/(B + oD)."""
    d = source_data
    model = CostWeightedSourcesClassifier(LINEAR)
    model.fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
    flip_pos, flip_neg = np.array([d.rates[source] for source in d.sources]).T
    signal = 1 - flip_pos - flip_neg
    border = signal * model.class_prior_[1] + flip_neg
    if_pos, if_neg = signal * (1 - border), signal * border
    learner = clone(LINEAR).fit(d.X, d.noisy, sample_weight=np.where(d.noisy, if_pos, if_neg))
    odds = np.exp(learner.decision_function(d.X))
    top = odds * np.mean(if_neg * (1 - flip_neg)) - np.mean(if_pos * flip_neg)
    expected = top / (np.mean(if_pos * signal) + odds * np.mean(if_neg * signal))
    assert_allclose(model.predict_proba(d.X)[:, 1], np.clip(expected, 0, 1), atol=1e-4)


def test_equal_costs_take_labels_at_face_value(source_data):
    """The balanced decision is P(Ỹ=1|x) > P(Ỹ=1) of the ordinary model of all labels."""
    d = source_data
    model = CostWeightedSourcesClassifier(LINEAR, costs="equal")
    model.fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
    naive = clone(LINEAR).fit(d.X, d.noisy)
    assert_allclose(model.estimator_.coef_, naive.coef_, rtol=1e-9)
    order = np.argsort(naive.decision_function(d.X))
    assert (np.diff(model.decision_function(d.X)[order]) >= 0).all()


def test_several_classes():
    data = three_classes(1500, seed=0)
    model = CostWeightedSourcesClassifier(LogisticRegression(), costs="equal")
    model.fit(data.X, data.noisy, sources=data.sources, noise_rates=RATES)
    found = model.predict_proba(data.X)
    assert_allclose(found.sum(axis=1), 1)
    assert_allclose(found.mean(axis=0), np.bincount(data.labels) / 1500, atol=0.06)
    assert model.score(data.X, data.labels) > 0.8  # a linear model


@pytest.mark.parametrize(
    ("params", "changed", "message"),
    [
        ({"costs": "none"}, {}, "unknown costs 'none': choose one of equal, label_dependent"),
        ({}, {"source_priors": {"a": 0.2, "b": 0.6}}, "source_priors differ between sources"),
    ],
)
def test_messages(params, changed, message):
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    known = {"sources": np.repeat(["a", "b"], 20)}
    known["noise_rates"] = {"a": (0.1, 0.1), "b": (0.2, 0.1)}
    with pytest.raises(ValueError, match=message):
        CostWeightedSourcesClassifier(**params).fit(X, y, **known | changed)


def test_label_dependent_costs_are_for_two_classes():
    data = three_classes(60, seed=0)
    model = CostWeightedSourcesClassifier()
    with pytest.raises(ValueError, match="Only binary classification"):
        model.fit(data.X, data.noisy, sources=data.sources, noise_rates=RATES)
