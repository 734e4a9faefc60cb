"""The count likelihood of bags of all kinds and sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import expit, log_expit

from decorrupt.corruption import Strata, strata_from_bags
from decorrupt.risks import GeometricNoise, LaplaceNoise
from decorrupt.risks.count import count_log_likelihood, count_risk
from decorrupt.solvers.objective import Objective
from oracles.counts import (
    convolved_pmf,
    enumerate_count,
    log_recursion,
    noisy_count_density,
)


def make_strata(sizes, counts, seed=0):
    """Return bags with these sizes and counts, in shuffled rows."""
    rows = np.repeat(np.arange(len(sizes)), sizes)
    np.random.default_rng(seed).shuffle(rows)
    return Strata(np.arange(len(sizes)), rows, np.array(counts) / np.array(sizes))


MIXED_SIZES = [1, 1, 2, 3, 3, 5, 12, 12, 4, 7, 20]
MIXED_COUNTS = [0, 1, 1, 1, 2, 4, 6, 1, 4, 0, 13]


def test_the_risk_is_the_mean_log_probability_of_the_counts():
    strata = make_strata(MIXED_SIZES, MIXED_COUNTS)
    scores = np.random.default_rng(1).normal(scale=2, size=70)
    log_prob, slope = count_risk(strata).log_probs_and_slope(scores)
    for bag, count in enumerate(MIXED_COUNTS):
        rows = np.flatnonzero(strata.row_stratum == bag)
        assert_allclose(log_prob[bag], log_recursion(scores[rows], count), rtol=1e-11)
        if len(rows) <= 12:
            assert_allclose(slope[rows], enumerate_count(scores[rows], count)[1], atol=1e-11)
    value, risk_slope = count_risk(strata).value_and_slope(scores)
    assert_allclose(value, -log_prob.sum() / 70)
    assert_allclose(risk_slope, -slope / 70)


def test_the_slope_is_the_gradient_for_every_kind_of_bag():
    strata = make_strata(MIXED_SIZES, MIXED_COUNTS)
    noise = {**dict.fromkeys(range(11)), 5: 5, 6: 2, 7: LaplaceNoise(2), 9: GeometricNoise(1)}
    risk = count_risk(strata, large_bags=10, count_noise=noise)
    assert [type(group).__name__ for group in risk.groups] == [
        "PureBags",
        "ApproximateBags",
        "ApproximateWeightedBags",
        "SmallBags",
        "WeightedBags",
    ]
    scores = np.random.default_rng(2).normal(size=70)
    numeric = approx_fprime(scores, lambda f: risk.value_and_slope(f)[0], 1e-6)
    assert_allclose(risk.value_and_slope(scores)[1], numeric, atol=1e-8)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(0, 100))
@settings(max_examples=50, deadline=None)
def test_bags_of_all_sizes_are_as_each_alone(sizes, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, np.array(sizes) + 1)
    strata = make_strata(sizes, counts, seed)
    scores = rng.normal(scale=3, size=sum(sizes))
    log_prob, _ = count_risk(strata).log_probs_and_slope(scores)
    for bag, count in enumerate(counts):
        alone = log_recursion(scores[strata.row_stratum == bag], count)
        assert_allclose(log_prob[bag], alone, rtol=1e-10, atol=1e-12)


def test_the_order_of_rows_and_bags_does_not_matter():
    strata = make_strata(MIXED_SIZES, MIXED_COUNTS)
    scores = np.random.default_rng(3).normal(size=70)
    order, bag_order = np.random.default_rng(4).permutation(70), np.arange(11)[::-1]
    shuffled = Strata(
        strata.ids[bag_order], 10 - strata.row_stratum[order], strata.proportions[bag_order]
    )
    value, slope = count_risk(strata).value_and_slope(scores)
    other, other_slope = count_risk(shuffled).value_and_slope(scores[order])
    assert_allclose(other, value, rtol=1e-12)
    assert_allclose(other_slope, slope[order], atol=1e-14)


@pytest.mark.parametrize(("sizes", "counts"), [([1] * 30, [0, 1] * 15), ([10, 20], [10, 0])])
def test_bags_of_one_class_or_row_are_logistic_regression(sizes, counts):
    strata = make_strata(sizes, counts)
    labels = 2 * strata.proportions[strata.row_stratum] - 1
    scores = np.random.default_rng(5).normal(scale=3, size=30)
    risk = count_risk(strata)
    value, slope = risk.value_and_slope(scores)
    assert risk.is_convex
    assert_allclose(value, -log_expit(labels * scores).mean())
    assert_allclose(slope, -labels * expit(-labels * scores) / 30)
    bend = risk.curvature(scores)(np.ones(30))
    assert_allclose(bend, expit(scores) * expit(-scores) / 30)


def test_other_bags_have_no_curvature_to_give():
    risk = count_risk(make_strata([2, 2], [1, 0]))
    assert not risk.is_convex
    with pytest.raises(
        ValueError, match=r"not compatible with solver='newton'.*use solver='lbfgs'"
    ):
        risk.curvature(np.zeros(4))


@pytest.mark.parametrize("size", [256, 257])
def test_the_approximation_takes_over_within_its_stated_tolerance(size):
    rng = np.random.default_rng(6)
    scores = np.concatenate([scale * rng.normal(size=size) for scale in (1, 4, 30)])
    strata = strata_from_bags(
        np.repeat(["a", "b", "c"], size), np.repeat([100 / size, 140 / size, 90 / size], size)
    )
    switched, slope = count_risk(strata).log_probs_and_slope(scores)
    exact, exact_slope = count_risk(strata, large_bags=np.inf).log_probs_and_slope(scores)
    assert (switched[0] == exact[0]) == (size == 256)
    assert_allclose(switched, exact, atol=0.01)
    assert_allclose(slope, exact_slope, atol=0.001)
    assert count_risk(strata, large_bags=100).log_probs_and_slope(scores)[0][0] != exact[0]


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("large_bags", ["auto", 1, np.inf])
def test_extremes_stay_finite(scale, large_bags):
    sizes = [1, 2, 30, 300, 300, 300, 30]
    strata = make_strata(sizes, [1, 1, 30, 0, 300, 1, 29])
    scores = scale * np.random.default_rng(7).choice([-1.0, 1.0], size=sum(sizes))
    for each in (scores, np.full(len(scores), scale), np.full(len(scores), -scale)):
        value, slope = count_risk(strata, large_bags=large_bags).value_and_slope(each)
        assert np.isfinite(value)
        assert np.isfinite(slope).all()
        assert np.abs(slope).max() <= 1.001 / len(scores)


def test_single_precision_scores_are_counted_in_double():
    strata = make_strata(MIXED_SIZES, MIXED_COUNTS)
    scores = np.random.default_rng(8).normal(size=70).astype(np.float32)
    value, slope = count_risk(strata).value_and_slope(scores)
    assert slope.dtype == np.float64
    assert value == count_risk(strata).value_and_slope(scores.astype(float))[0]


def test_it_is_a_risk_like_any_other():
    strata = make_strata(MIXED_SIZES, MIXED_COUNTS)
    features = np.random.default_rng(9).normal(size=(70, 3))
    objective = Objective(features, count_risk(strata), 0.1, fit_intercept=True)
    coef = np.array([0.3, -0.2, 0.5, 0.1])
    numeric = approx_fprime(coef, lambda c: objective.value_and_gradient(c)[0], 1e-6)
    assert_allclose(objective.value_and_gradient(coef)[1], numeric, atol=1e-6)


def test_noise_by_bag_leaves_the_other_bags_exact():
    strata = make_strata([4, 4, 4], [1.3, 2, 3])
    scores = np.random.default_rng(10).normal(size=12)
    noisy = count_risk(strata, count_noise={0: 1.5, 1: None, 2: None})
    log_prob, _ = noisy.log_probs_and_slope(scores)
    assert_allclose(log_prob[1], enumerate_count(scores[strata.row_stratum == 1], 2)[0])
    expected = noisy_count_density(scores[strata.row_stratum == 0], 1.3, 1.5)
    assert_allclose(log_prob[0], expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"large_bags": "some"}, r"large_bags='some': give 'auto' or"),
        ({"large_bags": 0}, r"large_bags=0: give 'auto' or"),
        ({"count_noise": -0.1}, r"count_noise=-0\.1 must be the standard deviation"),
        ({"count_noise": 0}, r"count_noise=0 must be .* None for counts without noise"),
        ({"count_noise": np.nan}, r"count_noise=nan must be"),
        ({"count_noise": "laplace"}, r"count_noise='laplace': give GaussianNoise"),
        ({"count_noise": {"a": 0.1}}, r"count_noise has no entry for bag 'b'"),
        ({"count_noise": {"a": 1, "b": -2}}, r"count_noise of bag 'b'=-2 must be"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        count_risk(strata_from_bags(["a", "b"], [0.0, 1.0]), **options)


def test_log_likelihood_of_probabilities():
    strata = strata_from_bags(["x", "y", "x", "y", "x"], [2 / 3, 0.5, 2 / 3, 0.5, 2 / 3])
    probabilities = np.array([0.2, 0.5, 0.9, 0.25, 0.4])
    by_bag = count_log_likelihood(probabilities, strata)
    x = 0.2 * 0.9 * 0.6 + 0.2 * 0.1 * 0.4 + 0.8 * 0.9 * 0.4
    assert_allclose(np.exp(by_bag), [x, 0.5 * 0.75 + 0.5 * 0.25])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
def test_certain_probabilities_have_a_finite_log_likelihood(dtype):
    strata = make_strata([3, 5, 300, 2], [1, 0, 150, 1])
    for probabilities in (np.zeros(310, dtype=dtype), np.ones(310, dtype=dtype)):
        by_bag = count_log_likelihood(probabilities, strata)
        assert np.isfinite(by_bag).all()
        assert by_bag[0] < -10
    right = count_log_likelihood(np.zeros(310), strata)[1]
    assert_allclose(right, 0, atol=1e-12)


def test_log_likelihood_is_a_proper_score():
    """Averaged over the true distribution of the count, no other probabilities score higher."""
    rng = np.random.default_rng(11)
    truth = rng.uniform(0.05, 0.95, size=7)
    pmf = convolved_pmf(np.log(truth / (1 - truth)))

    def average(probabilities):
        scores = [
            count_log_likelihood(probabilities, make_strata([7], [count]))[0] for count in range(8)
        ]
        return pmf @ scores

    best = average(truth)
    assert all(average(rng.uniform(0.05, 0.95, size=7)) < best for _ in range(20))


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.5, 0.5], r"shape \(2,\).*each of the 3 rows"),
        ([0.5, 1.5, 0.1], r"probabilities\[1\] = 1\.5 is not in \[0, 1\]"),
        ([0.5, 0.5, np.nan], r"probabilities\[2\] = nan"),
    ],
)
def test_bad_probabilities(probabilities, message):
    with pytest.raises(ValueError, match=message):
        count_log_likelihood(probabilities, make_strata([1, 2], [1, 1]))
