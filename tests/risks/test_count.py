"""The count likelihood of bags of all kinds and sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import expit, log_expit, log_softmax
from scipy.stats import multinomial, norm

from decorrupt.losses import log_probabilities, slope_in_scores
from decorrupt.observed import GeometricNoise, LaplaceNoise, Observed, class_columns
from decorrupt.risks import Segments, count_log_likelihood, count_risk
from decorrupt.risks.exact_counts import ExactBags
from decorrupt.risks.normal_counts import NormalBags
from decorrupt.risks.tilted_normal import tilted_normal
from decorrupt.solvers import Objective
from oracles.counts import (
    convolved_pmf,
    enumerate_class_counts,
    enumerate_count,
    log_recursion,
    make_observed,
    noisy_count_density,
)


def two_classes(sizes, counts, seed=0, **options):
    """Return bags with these sizes and counts of positives, in shuffled rows."""
    rows = np.repeat(np.arange(len(sizes)), sizes)
    np.random.default_rng(seed).shuffle(rows)
    shares = np.array(counts) / np.array(sizes)
    return Observed.from_bags(shares[rows], rows, **options)


MIXED_SIZES = [1, 1, 2, 3, 3, 5, 12, 12, 4, 7, 20]
MIXED_COUNTS = [0, 1, 1, 1, 2, 4, 6, 1, 4, 0, 13]


def test_the_risk_is_the_mean_log_probability_of_the_counts():
    observed = two_classes(MIXED_SIZES, MIXED_COUNTS)
    scores = np.random.default_rng(1).normal(scale=2, size=70)
    log_prob, slope = count_risk(observed).log_probs_and_slope(scores)
    for bag, count in enumerate(MIXED_COUNTS):
        rows = np.flatnonzero(observed.row_bag == bag)
        assert_allclose(log_prob[bag], log_recursion(scores[rows], count), rtol=1e-11)
        if len(rows) <= 12:
            assert_allclose(slope[rows], enumerate_count(scores[rows], count)[1], atol=1e-11)
    value, risk_slope = count_risk(observed).value_and_slope(scores)
    assert_allclose(value, -log_prob.sum() / 70)
    assert_allclose(risk_slope, -slope / 70)


def test_the_slope_is_the_gradient_for_every_kind_of_bag():
    noise = {**dict.fromkeys(range(11)), 5: 5, 6: 2, 7: LaplaceNoise(2), 9: GeometricNoise(1)}
    observed = two_classes(MIXED_SIZES, MIXED_COUNTS, count_noise=noise)
    risk = count_risk(observed, large_bags=10)
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
    observed = two_classes(sizes, counts, seed)
    scores = rng.normal(scale=3, size=sum(sizes))
    log_prob, _ = count_risk(observed).log_probs_and_slope(scores)
    for bag, count in enumerate(counts):
        alone = log_recursion(scores[observed.row_bag == bag], count)
        assert_allclose(log_prob[bag], alone, rtol=1e-10, atol=1e-12)


def test_the_order_of_rows_and_bags_does_not_matter():
    observed = two_classes(MIXED_SIZES, MIXED_COUNTS)
    scores = np.random.default_rng(3).normal(size=70)
    order, bag_order = np.random.default_rng(4).permutation(70), np.arange(11)[::-1]
    shuffled = Observed(
        observed.classes,
        observed.ids[bag_order],
        10 - observed.row_bag[order],
        observed.proportions[bag_order],
    )
    value, slope = count_risk(observed).value_and_slope(scores)
    other, other_slope = count_risk(shuffled).value_and_slope(scores[order])
    assert_allclose(other, value, rtol=1e-12)
    assert_allclose(other_slope, slope[order], atol=1e-14)


@pytest.mark.parametrize(("sizes", "counts"), [([1] * 30, [0, 1] * 15), ([10, 20], [10, 0])])
def test_bags_of_one_class_or_row_are_logistic_regression(sizes, counts):
    observed = two_classes(sizes, counts)
    labels = 2 * observed.row_proportions[:, 1] - 1
    scores = np.random.default_rng(5).normal(scale=3, size=30)
    risk = count_risk(observed)
    value, slope = risk.value_and_slope(scores)
    assert risk.is_convex
    assert_allclose(value, -log_expit(labels * scores).mean())
    assert_allclose(slope, -labels * expit(-labels * scores) / 30)
    bend = risk.curvature(scores)(np.ones(30))
    assert_allclose(bend, expit(scores) * expit(-scores) / 30)


def test_other_bags_have_no_curvature_to_give():
    risk = count_risk(two_classes([2, 2], [1, 0]))
    assert not risk.is_convex
    with pytest.raises(
        ValueError, match=r"not compatible with solver='newton'.*use solver='lbfgs'"
    ):
        risk.curvature(np.zeros(4))


@pytest.mark.parametrize("size", [256, 257])
def test_the_approximation_takes_over_within_its_stated_tolerance(size):
    rng = np.random.default_rng(6)
    scores = np.concatenate([scale * rng.normal(size=size) for scale in (1, 4, 30)])
    shares = np.repeat([100 / size, 140 / size, 90 / size], size)
    observed = Observed.from_bags(shares, np.repeat(["a", "b", "c"], size))
    switched, slope = count_risk(observed).log_probs_and_slope(scores)
    exact, exact_slope = count_risk(observed, large_bags=np.inf).log_probs_and_slope(scores)
    assert (switched[0] == exact[0]) == (size == 256)
    assert_allclose(switched, exact, atol=0.01)
    assert_allclose(slope, exact_slope, atol=0.001)
    assert count_risk(observed, large_bags=100).log_probs_and_slope(scores)[0][0] != exact[0]


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("large_bags", ["auto", 1, np.inf])
def test_extremes_stay_finite(scale, large_bags):
    sizes = [1, 2, 30, 300, 300, 300, 30]
    observed = two_classes(sizes, [1, 1, 30, 0, 300, 1, 29])
    scores = scale * np.random.default_rng(7).choice([-1.0, 1.0], size=sum(sizes))
    for each in (scores, np.full(len(scores), scale), np.full(len(scores), -scale)):
        value, slope = count_risk(observed, large_bags=large_bags).value_and_slope(each)
        assert np.isfinite(value)
        assert np.isfinite(slope).all()
        assert np.abs(slope).max() <= 1.001 / len(scores)


def test_single_precision_scores_are_counted_in_double():
    observed = two_classes(MIXED_SIZES, MIXED_COUNTS)
    scores = np.random.default_rng(8).normal(size=70).astype(np.float32)
    value, slope = count_risk(observed).value_and_slope(scores)
    assert slope.dtype == np.float64
    assert value == count_risk(observed).value_and_slope(scores.astype(float))[0]


def test_it_is_a_risk_like_any_other():
    observed = two_classes(MIXED_SIZES, MIXED_COUNTS)
    features = np.random.default_rng(9).normal(size=(70, 3))
    objective = Objective(features, count_risk(observed), 0.1, fit_intercept=True)
    coef = np.array([0.3, -0.2, 0.5, 0.1])
    numeric = approx_fprime(coef, lambda c: objective.value_and_gradient(c)[0], 1e-6)
    assert_allclose(objective.value_and_gradient(coef)[1], numeric, atol=1e-6)


def test_noise_by_bag_leaves_the_other_bags_exact():
    observed = two_classes([4, 4, 4], [1.3, 2, 3], count_noise={0: 1.5, 1: None, 2: None})
    scores = np.random.default_rng(10).normal(size=12)
    log_prob, _ = count_risk(observed).log_probs_and_slope(scores)
    assert_allclose(log_prob[1], enumerate_count(scores[observed.row_bag == 1], 2)[0])
    expected = noisy_count_density(scores[observed.row_bag == 0], 1.3, 1.5)
    assert_allclose(log_prob[0], expected, rtol=1e-11)


@pytest.mark.parametrize("large_bags", ["some", 0, np.nan])
def test_bad_options(large_bags):
    with pytest.raises(ValueError, match=rf"large_bags={large_bags!r}: give 'auto' or"):
        count_risk(Observed.from_bags([0.0, 1.0], ["a", "b"]), large_bags=large_bags)


def test_large_bags_are_an_option_of_two_classes():
    with pytest.raises(ValueError, match="large_bags=100, and y has 3 classes: leave it at 'auto'"):
        count_risk(make_observed([[1, 1, 1]]), large_bags=100)


def test_log_likelihood_of_probabilities():
    observed = Observed.from_bags([2 / 3, 0.5, 2 / 3, 0.5, 2 / 3], ["x", "y", "x", "y", "x"])
    probabilities = np.array([0.2, 0.5, 0.9, 0.25, 0.4])
    by_bag = count_log_likelihood(probabilities, observed)
    assert_allclose(count_log_likelihood(class_columns(probabilities), observed), by_bag)
    x = 0.2 * 0.9 * 0.6 + 0.2 * 0.1 * 0.4 + 0.8 * 0.9 * 0.4
    assert_allclose(np.exp(by_bag), [x, 0.5 * 0.75 + 0.5 * 0.25])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
def test_certain_probabilities_have_a_finite_log_likelihood(dtype):
    observed = two_classes([3, 5, 300, 2], [1, 0, 150, 1])
    for probabilities in (np.zeros(310, dtype=dtype), np.ones(310, dtype=dtype)):
        by_bag = count_log_likelihood(probabilities, observed)
        assert np.isfinite(by_bag).all()
        assert by_bag[0] < -10
    right = count_log_likelihood(np.zeros(310), observed)[1]
    assert_allclose(right, 0, atol=1e-12)


def test_log_likelihood_is_a_proper_score():
    """Averaged over the true distribution of the count, no other probabilities score higher."""
    rng = np.random.default_rng(11)
    truth = rng.uniform(0.05, 0.95, size=7)
    pmf = convolved_pmf(np.log(truth / (1 - truth)))

    def average(probabilities):
        scores = [
            count_log_likelihood(probabilities, two_classes([7], [count]))[0] for count in range(8)
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
        count_log_likelihood(probabilities, two_classes([1, 2], [1, 1]))


# --- several classes


def normal_bag(counts):
    size = np.array([sum(counts)])
    counts, noise = np.array([counts], dtype=float), np.zeros(1)
    return NormalBags(np.array([0]), np.arange(size[0]), Segments(size), counts, noise)


def exact_bag(counts):
    size, counts = np.array([sum(counts)]), np.array([counts])
    return ExactBags.of_ranges(np.array([0]), np.arange(size[0]), size, counts, counts)


@given(st.integers(0, 10_000), st.sampled_from([0.3, 3.0, 30.0]))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_small_bags_of_several_classes_are_exact(seed, scale):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=5)
    counts = np.array([rng.multinomial(size, rng.dirichlet(np.ones(3))) for size in sizes])
    observed = make_observed(counts, seed)
    scores = rng.normal(scale=scale, size=(sizes.sum(), 3))
    risk = count_risk(observed)
    by_bag, _ = risk.log_probs_and_slope(scores)
    value, slope = risk.value_and_slope(scores)
    for bag in range(5):
        rows = observed.row_bag == bag
        log_prob, posterior_gain = enumerate_class_counts(scores[rows], counts[bag])
        assert_allclose(by_bag[bag], log_prob, rtol=1e-10, atol=1e-12)
        assert_allclose(slope[rows] * -len(scores), posterior_gain, atol=1e-10)
    assert_allclose(value, -by_bag.sum() / len(scores))


def test_all_count_vectors_of_a_bag_together_have_probability_one():
    log_prob = log_softmax(np.random.default_rng(1).normal(scale=2, size=(7, 4)), axis=1)
    total = 0.0
    for code in range(8**3):
        counts = [code % 8, code // 8 % 8, code // 64]
        if sum(counts) <= 7:
            bag = exact_bag([*counts, 7 - sum(counts)])
            total += np.exp(bag.of_log_prob(log_prob)[0][0])
    assert_allclose(total, 1, rtol=1e-12)


def test_rows_with_equal_probabilities_are_a_multinomial():
    shares = np.array([0.2, 0.5, 0.3])
    log_prob = np.log(np.tile(shares, (40, 1)))
    found, posterior = exact_bag([8, 20, 12]).of_log_prob(log_prob)
    assert_allclose(found, multinomial.logpmf([8, 20, 12], 40, shares), rtol=1e-10)
    assert_allclose(posterior, np.tile(shares, (40, 1)), rtol=1e-9)


@pytest.mark.parametrize(
    ("counts", "kind"),
    [
        ([9, 0, 0], "PureBags"),
        ([0, 400, 0], "PureBags"),
        ([1] * 9, "ExactBags"),
        ([7, 7, 7], "ExactBags"),
        ([8, 7, 7], "NormalBags"),
        ([1] * 10, "NormalBags"),
        ([255, 1, 0], "ExactBags"),
        ([40] * 60, "NormalBags"),
    ],
)
def test_how_a_bag_is_computed_depends_on_its_count_vectors(counts, kind):
    (group,) = count_risk(make_observed([counts])).groups
    assert type(group).__name__ == kind


def test_bags_of_one_class_or_row_are_cross_entropy():
    labels = np.array([0, 2, 1, 1, 2, 2, 2])
    bags, shares = np.array([0, 1, 2, 2, 3, 3, 3]), np.eye(3)[[0, 2, 1, 2]]
    observed = Observed(np.arange(3), np.arange(4), bags, shares)
    scores = np.random.default_rng(2).normal(size=(7, 3))
    risk = count_risk(observed)
    assert risk.is_convex
    log_prob = log_softmax(scores, axis=1)
    value, slope = risk.value_and_slope(scores)
    assert_allclose(value, -log_prob[np.arange(7), labels].mean())
    assert_allclose(slope, (np.exp(log_prob) - np.eye(3)[labels]) / 7)


class TestNormalApproximation:
    @pytest.mark.parametrize("count", [0, 40, 75])
    def test_two_classes_are_a_normal_density_of_one_count(self, count):
        log_prob = log_softmax(np.random.default_rng(3).normal(size=(100, 2)), axis=1)
        prob = np.exp(log_prob[:, 1])
        sd = np.sqrt(np.sum(prob * (1 - prob)) + 1 / 12)
        found, _ = normal_bag([100 - count, count]).of_log_prob(log_prob)
        assert_allclose(found, norm.logpdf(count, prob.sum(), sd), rtol=1e-10)

    def test_two_classes_agree_with_the_binary_approximation(self):
        scores = np.random.default_rng(4).normal(size=600)
        count = round(np.sum(1 / (1 + np.exp(-scores)))) + 10
        size = Segments(np.array([600]))
        binary, slope = tilted_normal(scores, size, np.array([float(count)]))
        log_prob = log_probabilities(scores)
        found, in_log_prob = normal_bag([600 - count, count]).of_log_prob(log_prob)
        assert_allclose(found, binary, atol=0.01)
        found_slope = slope_in_scores(in_log_prob, np.exp(log_prob))
        assert_allclose(found_slope, slope, atol=0.002)

    @pytest.mark.parametrize("scale", [0.5, 2.0])
    def test_it_is_close_to_the_exact_probability_of_a_large_bag(self, scale):
        rng = np.random.default_rng(5)
        log_prob = log_softmax(rng.normal(scale=scale, size=(90, 3)), axis=1)
        counts = np.bincount([rng.choice(3, p=p) for p in np.exp(log_prob)], minlength=3)
        found, slope = normal_bag(counts).of_log_prob(log_prob)
        exact, exact_slope = exact_bag(counts).of_log_prob(log_prob)
        assert_allclose(found, exact, atol=0.03)
        assert_allclose(
            slope_in_scores(slope, np.exp(log_prob)),
            slope_in_scores(exact_slope, np.exp(log_prob)),
            atol=0.02,
        )

    def test_bags_of_several_sizes_are_as_each_alone(self):
        counts = np.array([[14, 9, 10], [3, 30, 11], [20, 21, 22]])
        observed = make_observed(counts)
        log_prob = log_softmax(np.random.default_rng(6).normal(size=(140, 3)), axis=1)
        by_bag, slope = count_risk(observed).log_probs_and_slope(log_prob)
        for bag in range(3):
            rows = observed.row_bag == bag
            alone, alone_slope = normal_bag(counts[bag]).of_log_prob(log_prob[rows])
            assert_allclose(by_bag[bag], alone[0], rtol=1e-12)
            in_scores = slope_in_scores(alone_slope, np.exp(log_prob[rows]))
            assert_allclose(slope[rows], in_scores, rtol=1e-8, atol=1e-12)


class TestLogLikelihoodOfSeveralClasses:
    OBSERVED = Observed.from_bags([[0.5, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0]], ["x", "y", "x"])

    def test_by_hand(self):
        probabilities = [[0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.5, 0.25, 0.25]]
        by_bag = count_log_likelihood(probabilities, self.OBSERVED)
        assert_allclose(np.exp(by_bag), [0.2 * 0.25 + 0.7 * 0.5, 0.4])

    @pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
    def test_certain_probabilities_have_a_finite_log_likelihood(self, dtype):
        certain = np.eye(3, dtype=dtype)[[2, 0, 1]]
        by_bag = count_log_likelihood(certain, self.OBSERVED)
        assert np.isfinite(by_bag).all()
        assert (by_bag < -10).all()

    @pytest.mark.parametrize(
        ("probabilities", "message"),
        [
            (np.full((2, 3), 1 / 3), r"shape \(2, 3\).*the 3 rows and 3 classes"),
            (np.full((3, 3), 0.3), r"probabilities\[0\] = .*a sum of 1"),
            ([[1, 0, 0], [0.5, 0.75, -0.25], [0, 0, 1]], r"probabilities\[1\] = .*\[0, 1\]"),
        ],
    )
    def test_bad_probabilities(self, probabilities, message):
        with pytest.raises(ValueError, match=message):
            count_log_likelihood(probabilities, self.OBSERVED)
