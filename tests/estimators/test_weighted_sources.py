"""Models of noisy labels, and the way back to the true classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from decorrupt import CorruptedSourcesClassifier, ForwardSourcesClassifier
from decorrupt.estimators import WeightedSourcesClassifier
from decorrupt.estimators.weighted_sources import true_class_scores
from decorrupt.observed import read_observed
from helpers.class_sources import RATES, three_classes

LINEAR = {"kernel": "linear", "reg_strength": 1e-3, "tol": 1e-10, "max_iter": 5000}


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
    """Weights s(1−α) and s·α, and P(Y=1|x) = (oC − A)/(B + oD), with another learner."""
    d = source_data
    model = WeightedSourcesClassifier(costs="label_dependent", **LINEAR | {"reg_strength": 0.0})
    model.fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
    flip_pos, flip_neg = np.array([d.rates[source] for source in d.sources]).T
    signal = 1 - flip_pos - flip_neg
    border = signal * model.class_prior_[1] + flip_neg
    if_pos, if_neg = signal * (1 - border), signal * border
    learner = LogisticRegression(C=1e8, tol=1e-10, max_iter=1000)
    learner.fit(d.X, d.noisy, sample_weight=np.where(d.noisy, if_pos, if_neg))
    odds = np.exp(learner.decision_function(d.X))
    top = odds * np.mean(if_neg * (1 - flip_neg)) - np.mean(if_pos * flip_neg)
    expected = top / (np.mean(if_pos * signal) + odds * np.mean(if_neg * signal))
    assert_allclose(model.predict_proba(d.X)[:, 1], np.clip(expected, 0, 1), atol=1e-4)


def test_equal_costs_take_labels_at_face_value(source_data):
    """The balanced decision is P(Ỹ=1|x) > P(Ỹ=1) of the ordinary model of all labels."""
    d = source_data
    model = WeightedSourcesClassifier(**LINEAR)
    model.fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
    naive = CorruptedSourcesClassifier(**LINEAR, decision="accuracy").fit(d.X, d.noisy)
    assert_allclose(model.coef_, naive.coef_, rtol=1e-5)
    order = np.argsort(naive.decision_function(d.X))
    assert (np.diff(model.decision_function(d.X)[order]) >= 0).all()


@pytest.mark.parametrize(
    "method",
    [
        CorruptedSourcesClassifier(class_prior=0.5),
        ForwardSourcesClassifier(),
        WeightedSourcesClassifier(),
        WeightedSourcesClassifier(costs="label_dependent"),
    ],
    ids=["corrected", "forward", "equal", "label_dependent"],
)
def test_a_path_has_the_scores_of_single_fits(source_data, method):
    d = source_data
    method = clone(method).set_params(kernel="linear", tol=1e-8)
    noisy = read_observed(d.noisy, sources=d.sources, noise_rates=d.rates)
    features, reg_strengths = method.fit_feature_map(d.X), [0.1, 1e-3]
    path = method.fit_path(features.matrix, noisy, reg_strengths)
    assert not [name for name in vars(method) if name.endswith("_")], "the model stays as is"
    for reg_strength, own in zip(reg_strengths, path.scores(features.matrix).T, strict=True):
        method.set_params(reg_strength=reg_strength)
        method.fit(d.X, d.noisy, sources=d.sources, noise_rates=d.rates)
        assert_array_equal(path.class_prior, method.class_prior_)
        assert_allclose(own - path.threshold, method.decision_function(d.X), atol=1e-4)


def test_several_classes():
    data = three_classes(1500, seed=0)
    model = WeightedSourcesClassifier(kernel="linear", reg_strength=1e-3)
    model.fit(data.X, data.noisy, sources=data.sources, noise_rates=RATES)
    found = model.predict_proba(data.X)
    assert_allclose(found.sum(axis=1), 1)
    assert_allclose(found.mean(axis=0), np.bincount(data.labels) / 1500, atol=0.06)
    assert model.score(data.X, data.labels) > 0.8  # a linear model


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"costs": "none"}, "unknown costs 'none': choose one of equal, label_dependent"),
        ({"source_priors": {"a": 0.2, "b": 0.6}}, "source_priors differ between sources"),
        ({"noise_rates": np.tile([[0.1, 0.1], [0.2, 0.1]], (20, 1))}, "differ within a source"),
    ],
)
def test_messages(params, message):
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    given = {"noise_rates": {"a": (0.1, 0.1), "b": (0.2, 0.1)}} | params
    with pytest.raises(ValueError, match=message):
        WeightedSourcesClassifier(**given).fit(X, y, sources=np.repeat(["a", "b"], 20))


def test_label_dependent_costs_are_for_two_classes():
    data = three_classes(60, seed=0)
    model = WeightedSourcesClassifier(costs="label_dependent", noise_rates=RATES)
    with pytest.raises(ValueError, match="Only binary classification"):
        model.fit(data.X, data.noisy, sources=data.sources)
