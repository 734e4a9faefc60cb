"""Class counts of bags of all kinds: enumeration, the normal approximation, rounding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import log_softmax
from scipy.stats import multinomial, norm

from decorrupt.corruption import Strata, strata_from_bags
from decorrupt.risks.multiclass import (
    class_count_log_likelihood,
    class_count_risk,
    whole_counts,
)
from decorrupt.risks.multiclass.exact_counts import ExactBags
from decorrupt.risks.multiclass.normal_counts import NormalBags
from decorrupt.risks.segments import Segments
from decorrupt.risks.tilted_normal import tilted_normal
from oracles.class_counts import enumerate_class_counts, make_class_strata


def normal_bag(counts):
    size = np.array([sum(counts)])
    counts, noise = np.array([counts], dtype=float), np.zeros(1)
    return NormalBags(np.array([0]), np.arange(size[0]), Segments(size), counts, noise)


def exact_bag(counts):
    size, counts = np.array([sum(counts)]), np.array([counts])
    return ExactBags.of_ranges(np.array([0]), np.arange(size[0]), size, counts, counts)


def slope_in_scores(slope, log_prob):
    return slope - np.exp(log_prob) * slope.sum(axis=1, keepdims=True)


@given(st.integers(0, 10_000), st.sampled_from([0.3, 3.0, 30.0]))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_small_bags_are_exact(seed, scale):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=5)
    counts = np.array([rng.multinomial(size, rng.dirichlet(np.ones(3))) for size in sizes])
    strata = make_class_strata(counts, seed)
    scores = rng.normal(scale=scale, size=(sizes.sum(), 3))
    risk = class_count_risk(strata)
    by_bag, _ = risk.log_probs_and_slope(log_softmax(scores, axis=1))
    value, slope = risk.value_and_slope(scores)
    for bag in range(5):
        rows = strata.row_stratum == bag
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
            total += np.exp(bag.log_prob_and_slope(log_prob)[0][0])
    assert_allclose(total, 1, rtol=1e-12)


def test_rows_with_equal_probabilities_are_a_multinomial():
    shares = np.array([0.2, 0.5, 0.3])
    log_prob = np.log(np.tile(shares, (40, 1)))
    found, posterior = exact_bag([8, 20, 12]).log_prob_and_slope(log_prob)
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
    (group,) = class_count_risk(make_class_strata([counts])).groups
    assert type(group).__name__ == kind


def test_bags_of_one_class_or_row_are_cross_entropy():
    labels = np.array([0, 2, 1, 1, 2, 2, 2])
    strata = Strata(np.arange(4), np.array([0, 1, 2, 2, 3, 3, 3]), np.eye(3)[[0, 2, 1, 2]])
    scores = np.random.default_rng(2).normal(size=(7, 3))
    risk = class_count_risk(strata)
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
        found, _ = normal_bag([100 - count, count]).log_prob_and_slope(log_prob)
        assert_allclose(found, norm.logpdf(count, prob.sum(), sd), rtol=1e-10)

    def test_two_classes_agree_with_the_binary_approximation(self):
        scores = np.random.default_rng(4).normal(size=600)
        count = round(np.sum(1 / (1 + np.exp(-scores)))) + 10
        size = Segments(np.array([600]))
        binary, slope = tilted_normal(scores, size, np.array([float(count)]))
        log_prob = log_softmax(np.column_stack([-scores / 2, scores / 2]), axis=1)
        found, in_log_prob = normal_bag([600 - count, count]).log_prob_and_slope(log_prob)
        assert_allclose(found, binary, atol=0.01)
        both = slope_in_scores(in_log_prob, log_prob)
        assert_allclose(both[:, 1], slope, atol=0.002)

    @pytest.mark.parametrize("scale", [0.5, 2.0])
    def test_it_is_close_to_the_exact_probability_of_a_large_bag(self, scale):
        rng = np.random.default_rng(5)
        log_prob = log_softmax(rng.normal(scale=scale, size=(90, 3)), axis=1)
        counts = np.bincount([rng.choice(3, p=p) for p in np.exp(log_prob)], minlength=3)
        found, slope = normal_bag(counts).log_prob_and_slope(log_prob)
        exact, exact_slope = exact_bag(counts).log_prob_and_slope(log_prob)
        assert_allclose(found, exact, atol=0.03)
        assert_allclose(
            slope_in_scores(slope, log_prob), slope_in_scores(exact_slope, log_prob), atol=0.02
        )

    def test_bags_of_several_sizes_are_as_each_alone(self):
        counts = np.array([[14, 9, 10], [3, 30, 11], [20, 21, 22]])
        strata = make_class_strata(counts)
        log_prob = log_softmax(np.random.default_rng(6).normal(size=(140, 3)), axis=1)
        by_bag, slope = class_count_risk(strata).log_probs_and_slope(log_prob)
        for bag in range(3):
            rows = strata.row_stratum == bag
            alone, alone_slope = normal_bag(counts[bag]).log_prob_and_slope(log_prob[rows])
            assert_allclose(by_bag[bag], alone[0], rtol=1e-12)
            assert_allclose(slope[rows], alone_slope, rtol=1e-10)


class TestWholeCounts:
    def test_largest_remainders(self):
        """3.5, 1.4, 2.1 of 7: two of three are rounded down, one row is left for class 0."""
        strata = Strata(np.array(["a"]), np.zeros(7, dtype=int), np.array([[0.5, 0.2, 0.3]]))
        assert whole_counts(strata).tolist() == [[4, 1, 2]]

    @given(st.integers(2, 12), st.integers(1, 300), st.integers(0, 10_000))
    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    def test_they_sum_to_the_rows_and_move_by_less_than_one(self, n_classes, size, seed):
        shares = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.5))
        strata = Strata(np.array([0]), np.zeros(size, dtype=int), shares[None])
        (counts,) = whole_counts(strata)
        assert counts.sum() == size
        assert (np.abs(counts - size * shares) < 1 + 1e-6).all()

    @given(st.lists(st.integers(0, 100), min_size=2, max_size=10))
    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    def test_counts_survive_as_shares_of_single_precision(self, counts):
        counts[0] += 1
        strata = make_class_strata([counts])
        rounded = strata.proportions.astype(np.float32).astype(float)
        assert whole_counts(Strata(strata.ids, strata.row_stratum, rounded)).tolist() == [counts]


class TestLogLikelihood:
    STRATA = strata_from_bags(["x", "y", "x"], [[0.5, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0]])

    def test_by_hand(self):
        probabilities = [[0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.5, 0.25, 0.25]]
        by_bag = class_count_log_likelihood(probabilities, self.STRATA)
        assert_allclose(np.exp(by_bag), [0.2 * 0.25 + 0.7 * 0.5, 0.4])

    @pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
    def test_certain_probabilities_have_a_finite_log_likelihood(self, dtype):
        certain = np.eye(3, dtype=dtype)[[2, 0, 1]]
        by_bag = class_count_log_likelihood(certain, self.STRATA)
        assert np.isfinite(by_bag).all()
        assert (by_bag < -10).all()

    @pytest.mark.parametrize(
        ("probabilities", "message"),
        [
            (np.full((2, 3), 1 / 3), r"shape \(2, 3\).*the 3 rows and 3 classes"),
            (np.full((3, 3), 0.3), r"probabilities\[0\] = .*sum to 1"),
            ([[1, 0, 0], [0.5, 0.75, -0.25], [0, 0, 1]], r"probabilities\[1\] = .*\[0, 1\]"),
        ],
    )
    def test_bad_probabilities(self, probabilities, message):
        with pytest.raises(ValueError, match=message):
            class_count_log_likelihood(probabilities, self.STRATA)
