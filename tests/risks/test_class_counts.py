"""Counts of several classes: exact in small bags, the normal approximation in large ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import log_softmax
from scipy.stats import multinomial, norm

from decorrupt.observed import Observed
from decorrupt.risks import count_risk, groups
from decorrupt.risks.class_counts import ExactCounts, NormalCounts, box_lattice, fit_counts
from decorrupt.risks.segments import Segments
from oracles.counts import make_observed, random_ranges


def normal_bag(counts, scores):
    """Return the log-probability of a bag and its slope by the normal approximation."""
    size, counts = Segments(np.array([sum(counts)])), np.array([counts], dtype=float)
    return NormalCounts(size, counts, np.zeros(1)).log_prob_and_slope(scores)


def exact_bag(counts, scores):
    """Return the same by dynamic programming."""
    size, counts = np.array([sum(counts)]), np.array([counts])
    lattice = box_lattice(size, counts)
    return ExactCounts.of(size, lattice, np.zeros(len(lattice.bag))).log_prob_and_slope(scores)


def test_all_count_vectors_of_a_bag_together_have_probability_one():
    scores = np.random.default_rng(1).normal(scale=2, size=(7, 4))
    total = 0.0
    for code in range(8**3):
        counts = [code % 8, code // 8 % 8, code // 64]
        if sum(counts) <= 7:
            total += np.exp(exact_bag([*counts, 7 - sum(counts)], scores)[0][0])
    assert_allclose(total, 1, rtol=1e-12)


def test_rows_with_equal_probabilities_are_a_multinomial():
    shares = np.array([0.2, 0.5, 0.3])
    log_prob, slope = exact_bag([8, 20, 12], np.log(np.tile(shares, (40, 1))))
    assert_allclose(log_prob, multinomial.logpmf([8, 20, 12], 40, shares), rtol=1e-10)
    assert_allclose(slope, 0, atol=1e-9)


@pytest.mark.parametrize("count", [0, 40, 75])
def test_two_classes_are_a_normal_density_of_one_count(count):
    log_prob = log_softmax(np.random.default_rng(3).normal(size=(100, 2)), axis=1)
    prob = np.exp(log_prob[:, 1])
    sd = np.sqrt(np.sum(prob * (1 - prob)) + 1 / 12)
    by_bag, _ = normal_bag([100 - count, count], log_prob)
    assert_allclose(by_bag, norm.logpdf(count, prob.sum(), sd), rtol=1e-10)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_it_is_close_to_the_exact_probability_of_a_large_bag(scale):
    rng = np.random.default_rng(5)
    log_prob = log_softmax(rng.normal(scale=scale, size=(90, 3)), axis=1)
    counts = np.bincount([rng.choice(3, p=p) for p in np.exp(log_prob)], minlength=3)
    by_bag, slope = normal_bag(counts, log_prob)
    exact, exact_slope = exact_bag(counts, log_prob)
    assert_allclose(by_bag, exact, atol=0.03)
    assert_allclose(slope, exact_slope, atol=0.02)


def test_large_bags_of_several_sizes_are_as_each_alone():
    counts = np.array([[14, 9, 10], [3, 30, 11], [20, 21, 22]])
    observed = make_observed(counts)
    log_prob = log_softmax(np.random.default_rng(6).normal(size=(140, 3)), axis=1)
    by_bag, slope = count_risk(observed).log_probs_and_slope(log_prob)
    for bag in range(3):
        rows = observed.row_bag == bag
        alone, alone_slope = normal_bag(counts[bag], log_prob[rows])
        assert_allclose(by_bag[bag], alone[0], rtol=1e-12)
        assert_allclose(slope[rows], alone_slope, rtol=1e-8, atol=1e-12)


def class_ranges(low, high, size):
    """Return the risk of one bag with ranges of its class counts."""
    y, upper = (np.tile(np.array(ends) / size, (size, 1)) for ends in (low, high))
    return count_risk(Observed.from_bags(y, np.zeros(size), upper=upper))


@pytest.mark.parametrize(
    ("size", "n_classes", "nats", "shares"), [(12, 4, 0.7, 0.15), (100, 3, 0.1, 0.02)]
)
def test_ranges_of_large_bags_are_close_to_the_exact_sum(
    monkeypatch, size, n_classes, nats, shares
):
    rng = np.random.default_rng(size)
    for _ in range(5):
        log_prob = log_softmax(rng.normal(size=(size, n_classes)), axis=1)
        low, high = random_ranges(rng, size, n_classes, 4)
        near = class_ranges(low, high, size)
        assert isinstance(near.groups[0].log_prob_and_slope.__self__, NormalCounts)
        monkeypatch.setattr(groups, "EXACT_VECTORS", np.inf)
        exact = class_ranges(low, high, size)
        monkeypatch.undo()
        by_bag, expected = (one.log_probs_and_slope(log_prob)[0] for one in (near, exact))
        assert_allclose(by_bag, expected, atol=nats)
        posteriors = [one.posterior(log_prob) for one in (near, exact)]
        assert_allclose(*posteriors, atol=shares)


def test_the_slope_of_ranges_in_large_bags_is_the_gradient():
    risk = class_ranges([3, 0, 8], [9, 20, 14], 30)
    scores = np.random.default_rng(2).normal(size=(30, 3))
    numeric = approx_fprime(scores.ravel(), lambda f: risk.value_and_slope(f.reshape(30, 3))[0])
    assert_allclose(risk.value_and_slope(scores)[1].ravel(), numeric, atol=1e-6)


def test_proportional_fitting_of_two_rows():
    # w ∝ p·u with equal class sums: the odds of both rows are divided by √(9·(1/4)).
    prob = np.array([[0.1, 0.9], [0.8, 0.2]])
    fitted = fit_counts(prob, Segments(np.array([2])), np.ones((1, 2)))
    odds = np.array([9.0, 0.25]) / np.sqrt(9 * 0.25)
    assert_allclose(fitted[:, 1], odds / (1 + odds))
