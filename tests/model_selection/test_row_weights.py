"""Criteria, scorers and folds with rows that represent many."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagKFold,
    CountLikelihoodClassifier,
    estimate_accuracy,
)
from decorrupt.model_selection import BagScorer, corrected_accuracy, count_score
from decorrupt.model_selection.scorers import CRITERIA
from decorrupt.observed import read_bags
from helpers.quick import QUICK_SEARCH


@pytest.fixture
def weighted():
    rng = np.random.default_rng(0)
    bags = np.arange(60) // 5
    labels = rng.random(60) < 0.1 + 0.07 * bags
    weights = rng.integers(1, 5, 60)
    share = np.bincount(bags, weights * labels) / np.bincount(bags, weights)
    X = rng.normal(size=(60, 2)) + 2 * labels[:, None]
    return X, share[bags], bags, weights, np.repeat(np.arange(60), weights)


def test_count_score(weighted):
    X, y, bags, weights, person = weighted
    prob = 1 / (1 + np.exp(2 - X.sum(axis=1)))
    for bag_effect in (0.0, 0.1):
        found = count_score(y, prob, bags=bags, bag_effect=bag_effect, sample_weight=weights)
        expected = count_score(y[person], prob[person], bags=bags[person], bag_effect=bag_effect)
        assert_allclose(found, expected)


@pytest.mark.parametrize("name", CRITERIA)
def test_scorers(name, weighted):
    X, y, bags, weights, person = weighted
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=0.01)
    model.fit(X, y, bags=bags, sample_weight=weights)
    found = BagScorer(name)(model, X, y, bags=bags, sample_weight=weights)
    assert_allclose(found, BagScorer(name)(model, X[person], y[person], bags=bags[person]))


def test_folds_have_similar_numbers_of_people():
    bags, weights = np.arange(4), np.array([100, 1, 96, 1])
    splitter = BagKFold(2)
    folds = splitter.split(bags, bags=bags, sample_weight=weights)
    assert [weights[test].sum() for _, test in folds] == [100 + 1, 1 + 96]
    folds = splitter.split(bags, bags=bags)
    assert [weights[test].sum() for _, test in folds] == [100 + 96, 1 + 1]


def test_weights_in_a_callable_criterion(weighted):
    X, y, bags, weights, _ = weighted
    observed = read_bags(y, bags, sample_weight=weights)
    scores = X.sum(axis=1) - 2
    found = BagScorer(corrected_accuracy).score(scores, observed)
    assert found == corrected_accuracy(y, scores, bags=bags, sample_weight=weights)


@pytest.mark.filterwarnings("ignore")
def test_an_automatic_fit_and_its_accuracy(weighted):
    """Without the simulations of `check_assumptions`, whose random numbers differ."""
    X, y, bags, weights, person = weighted
    linear = {**QUICK_SEARCH, "kernels": ("linear",)}
    model = AutoLabelProportionsClassifier(**linear, check_assumptions=False, random_state=0)
    found = clone(model).fit(X, y, bags=bags, sample_weight=weights)
    expected = clone(model).fit(X[person], y[person], bags=bags[person])
    for one, other in zip(found.leaderboard_, expected.leaderboard_, strict=True):
        assert (one.method, one.params) == (other.method, other.params)
        assert_allclose([one.score, one.weight], [other.score, other.weight], rtol=1e-6)
    assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-6)
    for end in ("value", "low", "high", "group_rate"):
        assert_allclose(getattr(found.accuracy_, end), getattr(expected.accuracy_, end), atol=1e-6)


def test_an_interval_is_for_as_many_rows_as_fractions_sum_to(weighted):
    X, y, *_ = weighted
    labels = (y > 0.4).astype(int)
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=0.01).fit(X, labels)
    few, many = (
        estimate_accuracy(model, X, labels, sample_weight=np.full(60, m), random_state=0)
        for m in (1.5, 40.5)
    )
    assert few.high - few.low > 2 * (many.high - many.low)
