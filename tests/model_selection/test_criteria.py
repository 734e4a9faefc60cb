"""Label-free criteria against what labels would say."""

import numpy as np
import pytest
from scipy.stats import binom

from decorrupt.model_selection import (
    corrected_accuracy,
    corrected_risk,
    count_score,
    proportion_risk,
)

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
