"""Label-free criteria against what labels would say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.base import clone

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagKFold,
    CountLikelihoodClassifier,
    estimate_accuracy,
)
from decorrupt.model_selection import (
    BagScorer,
    corrected_accuracy,
    corrected_risk,
    count_score,
    proportion_risk,
)
from decorrupt.model_selection.scorers import CRITERIA
from decorrupt.observed import Observed
from helpers.quick import QUICK_SEARCH

BAGS = np.array(["u", "u", "u", "u", "v", "v"])
Y = np.array([0.75, 0.75, 0.75, 0.75, 0.5, 0.5])
SCORES = np.array([1.0, 2.0, -1.0, 3.0, -2.0, -0.5])


def test_corrected_accuracy_by_hand():
    """γ = (¾, ½), P̂(f>0) = (¾, 0): solve the two class rates from the two bags."""
    # p_k = γ_k·t + (1−γ_k)·f gives t (true positive rate) and f (false positive rate).
    rate_true, rate_false = np.linalg.solve([[0.75, 0.25], [0.5, 0.5]], [0.75, 0.0])
    estimate = corrected_accuracy(Y, SCORES, bags=BAGS)
    assert estimate.value == pytest.approx((rate_true + 1 - rate_false) / 2)


def draw(rng, n_bags=40, bag_size=12):
    shares = rng.choice([0.2, 0.5, 0.9], n_bags)
    bags = np.repeat(np.arange(n_bags), bag_size)
    labels = rng.random(len(bags)) < shares[bags]
    scores = rng.normal(size=len(bags)) + np.where(labels, 0.8, -0.8)
    return bags, shares[bags], scores


@pytest.mark.parametrize(
    ("criterion", "truth"),
    [
        # Φ(0.8), and E[1/(1+exp(Z+0.8))] by quadrature: the same for both classes.
        (corrected_accuracy, 0.788145),
        (corrected_risk, None),
    ],
)
def test_unbiased_and_its_standard_error_is_right(criterion, truth):
    rng = np.random.default_rng(0)
    if truth is None:
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        truth = weights @ (1 / (1 + np.exp(nodes + 0.8))) / weights.sum()
    values, errors = [], []
    for _ in range(400):
        bags, y, scores = draw(rng)
        value, std_error = criterion(y, scores, bags=bags)
        values.append(value)
        errors.append(std_error)
    assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / 20)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_proportion_risk_by_hand():
    assert proportion_risk(Y, SCORES, bags=BAGS).value == pytest.approx((4 * 0 + 2 * 0.5) / 6)


def test_count_score_is_the_mean_log_probability_of_the_counts():
    probabilities = np.array([0.3, 0.3, 0.3, 0.3, 0.6, 0.6])
    expected = (binom.logpmf(3, 4, 0.3) + binom.logpmf(1, 2, 0.6)) / 6
    assert count_score(Y, probabilities, bags=BAGS).value == pytest.approx(expected)
    columns = np.column_stack([1 - probabilities, probabilities])
    assert count_score(Y, columns, bags=BAGS).value == pytest.approx(expected)


@pytest.mark.parametrize("criterion", [corrected_accuracy, corrected_risk])
def test_equal_proportions_cannot_be_judged(criterion):
    with pytest.raises(ValueError, match=r"same proportion 0\.5"):
        criterion(np.full(6, 0.5), SCORES, bags=BAGS)


@pytest.mark.parametrize(
    "criterion", [corrected_accuracy, corrected_risk, proportion_risk, count_score]
)
def test_two_columns_of_shares_are_the_proportion_of_the_second_class(criterion):
    proportion, scores = np.repeat([0.25, 0.5], 4), np.linspace(0.1, 0.9, 8)
    shares, bags = np.column_stack([1 - proportion, proportion]), np.repeat([0, 1], 4)
    assert criterion(shares, scores, bags=bags) == criterion(proportion, scores, bags=bags)


# --- rows that represent many


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
    observed = Observed.from_bags(y, bags, sample_weight=weights)
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
