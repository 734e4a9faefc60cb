"""Combinations of bags: hand examples, closed forms, optimality, symmetry, errors."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from decorrupt.corruption import (
    COMBINATION_METHODS,
    bag_information,
    combine_bags,
    pair_bags,
    row_coefficients,
)
from decorrupt.observed import class_columns
from oracles.combinations import (
    average_over_whole_pair,
    bound_factor,
    combine_pairs,
    moments,
    smallest_bound_factor,
    square_factor,
    wanted_moments,
)
from oracles.counts import make_observed

UNBIASED = ("superbag", "pairs", "least_squares")
SIZES = np.array([10.0, 4.0, 25.0, 7.0, 13.0, 9.0])
PROPORTIONS = np.array([0.15, 0.8, 0.35, 0.6, 0.05, 0.95])
PRIORS = (0.5, 0.12, 0.77)

seeds = st.integers(0, 10_000)
unbiased_methods = pytest.mark.parametrize("method", UNBIASED)
all_methods = pytest.mark.parametrize("method", COMBINATION_METHODS)


def random_bags(seed, count=6, largest=60):
    rng = np.random.default_rng(seed)
    return rng.integers(1, largest, count).astype(float), rng.uniform(0, 1, count)


def information(sizes, proportions):
    """V, written with loops."""
    total = sum(sizes)
    mean = sum(n * g for n, g in zip(sizes, proportions, strict=True)) / total
    return sum(n * (g - mean) ** 2 for n, g in zip(sizes, proportions, strict=True))


class TestTwoBags:
    """With two bags of equal size all unbiased methods equal the paper's pair."""

    @unbiased_methods
    def test_equal_sizes(self, method):
        neg, pos = combine_bags([10, 10], [0.75, 0.25], method=method).T
        # ½·(1−γ−, −γ−)/gap and ½·(−(1−γ+), γ+)/gap
        np.testing.assert_allclose(pos, [0.75, -0.25], rtol=1e-14)
        np.testing.assert_allclose(neg, [-0.25, 0.75], rtol=1e-14)

    @unbiased_methods
    def test_class_prior_scales_the_two_columns(self, method):
        neg, pos = combine_bags([10, 10], [0.75, 0.25], method=method, class_prior=0.2).T
        np.testing.assert_allclose(pos, 0.4 * np.array([0.75, -0.25]), rtol=1e-14)
        np.testing.assert_allclose(neg, 1.6 * np.array([-0.25, 0.75]), rtol=1e-14)


class TestUnbiasedness:
    @unbiased_methods
    def test_pooled_prior(self, method):
        pooled = float(SIZES @ PROPORTIONS / SIZES.sum())
        combination = combine_bags(SIZES, PROPORTIONS, method=method, class_prior="pooled")
        np.testing.assert_allclose(
            moments(combination, PROPORTIONS), wanted_moments(pooled), atol=1e-14
        )

    def test_risk_over_the_populations_of_the_bags(self):
        """A direct check: three bags with known labels, and one score per kind of row."""
        sizes, positives = np.array([4, 10, 6]), np.array([1, 7, 3])
        labels = np.concatenate([np.arange(n) < k for n, k in zip(sizes, positives, strict=True)])
        bags = np.repeat([0, 1, 2], sizes)
        loss_pos = np.where(labels, 0.3, 2.0)  # ℓ(f,1), the same in all rows of one class
        loss_neg = np.where(labels, 1.7, 0.4)  # ℓ(f,−1)
        balanced = 0.5 * 0.3 + 0.5 * 0.4
        for method in UNBIASED:
            neg, pos = combine_bags(sizes, positives / sizes, method=method).T
            estimate = sum(
                pos[k] * loss_pos[bags == k].mean() + neg[k] * loss_neg[bags == k].mean()
                for k in range(3)
            )
            assert estimate == pytest.approx(balanced, rel=1e-12)

    def test_averaging_over_the_whole_pair_is_biased_for_unequal_sizes(self):
        """The paper's Σ_j/n_i: bags of 30 and 10 rows, γ = (.8, .2).

        a = (¾·.8, −¼·.2)/.6 = (1, −1/12), so Σaγ = .8 − 1/60 instead of ½.
        """
        paper = average_over_whole_pair(30, 10, 0.8, 0.2)
        neg, pos = paper.T
        np.testing.assert_allclose(pos, [1, -1 / 12], rtol=1e-14)
        np.testing.assert_allclose(neg, [-1 / 4, 1 / 3], rtol=1e-14)
        np.testing.assert_allclose(
            moments(paper, [0.8, 0.2]),
            [0.8 - 1 / 60, 0.2 - 1 / 15, -0.2 + 1 / 15, -0.05 + 0.8 / 3],
            rtol=1e-12,
        )
        ours = combine_bags([30, 10], [0.8, 0.2], method="pairs")
        np.testing.assert_allclose(moments(ours, [0.8, 0.2]), wanted_moments(0.5), atol=1e-15)


class TestPairs:
    def test_unequal_sizes_weight_pairs_by_harmonic_size_and_gap(self):
        sizes, proportions = np.array([100.0, 1.0, 50.0, 20.0]), np.array([0.9, 0.95, 0.1, 0.2])
        combination = combine_bags(sizes, proportions, method="pairs")
        candidates = [[(0, 1), (2, 3)], [(0, 2), (1, 3)], [(0, 3), (1, 2)]]
        options = [combine_pairs(pairs, sizes, proportions) for pairs in candidates]
        best = min(options, key=lambda option: bound_factor(option, sizes))
        np.testing.assert_allclose(combination, best, rtol=1e-12)

    def test_odd_bag_out_gets_zeros(self):
        coef = combine_bags([5, 5, 5], [0.2, 0.8, 0.4], method="pairs")
        assert coef[2].tolist() == [0, 0]
        np.testing.assert_allclose(moments(coef, [0.2, 0.8, 0.4]), wanted_moments(0.5), atol=1e-15)

    def test_zero_gap_pair_gets_zeros(self):
        coef = combine_bags([5, 5, 5, 5], [0.4, 0.9, 0.4, 0.1], method="pairs")
        np.testing.assert_array_equal(coef[[0, 2]], 0)
        two = combine_bags([5, 5], [0.9, 0.1], method="pairs")
        np.testing.assert_allclose(coef[[1, 3]], two, rtol=1e-14)

    def test_bags_are_paired_as_by_pair_bags(self):
        pos, neg, _ = pair_bags(PROPORTIONS, SIZES)
        found = combine_bags(SIZES, PROPORTIONS, method="pairs")
        expected = combine_pairs(list(zip(pos, neg, strict=True)), SIZES, PROPORTIONS)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


class TestSuperbag:
    def test_three_bags_by_hand(self):
        """n = 10, γ = (.9, .5, .1): γ̄ = .5, V = 3.2, the middle bag has no influence."""
        neg, pos = combine_bags([10, 10, 10], [0.9, 0.5, 0.1]).T
        # u/(2V) = ±4/6.4 = ±.625; θ = .9 above, .1 below
        np.testing.assert_allclose(pos, [0.625 * 0.9, 0, -0.625 * 0.1], atol=1e-15)
        np.testing.assert_allclose(neg, [-0.625 * 0.1, 0, 0.625 * 0.9], atol=1e-15)

    def test_unequal_bags_by_hand(self):
        """n = (1, 2, 1), γ = (1, .5, .8): γ̄ = .7, V = .18; superbags at .95 and .5."""
        neg, pos = combine_bags([1, 2, 1], [1.0, 0.5, 0.8]).T
        share = np.array([0.5, 0.05, 0.5])
        lever = np.array([0.3, -0.4, 0.1]) / 0.36
        np.testing.assert_allclose(pos, share * lever, rtol=1e-12)
        np.testing.assert_allclose(neg, -(1 - share) * lever, rtol=1e-12)

    @settings(max_examples=30)
    @given(seeds)
    def test_no_unbiased_combination_has_a_smaller_bound_factor(self, seed):
        sizes, proportions = random_bags(seed, count=5)
        least = smallest_bound_factor(sizes, proportions)
        factor = bound_factor(combine_bags(sizes, proportions), sizes)
        assert factor == pytest.approx(least, rel=1e-4)

    @settings(max_examples=30)
    @given(seeds, st.booleans())
    def test_never_above_any_pairing_and_below_twice_it(self, seed, equal_sizes):
        sizes, proportions = random_bags(seed)
        if equal_sizes:
            sizes = np.full(6, 12.0)
        factor = bound_factor(combine_bags(sizes, proportions), sizes)
        by_pairing = [
            bound_factor(combine_pairs(pairs, sizes, proportions), sizes)
            for pairs in perfect_matchings(range(6))
        ]
        assert len(by_pairing) == 15
        assert min(by_pairing) >= factor * (1 - 1e-12)
        if equal_sizes:
            # The mean over all pairings of their information is V/2·M/(M−1).
            assert min(by_pairing) <= 2 * 5 / 6 * factor * (1 + 1e-12)
        combination = combine_bags(sizes, proportions, method="pairs")
        assert bound_factor(combination, sizes) >= factor * (1 - 1e-12)

    def test_the_gain_over_pairs_tends_to_two(self):
        """One pure negative bag among positives: pairs can use one of the others, superbag all."""
        sizes, proportions = np.full(200, 5.0), np.r_[0.0, np.ones(199)]
        superbag = bound_factor(combine_bags(sizes, proportions), sizes)
        pairs = bound_factor(combine_bags(sizes, proportions, method="pairs"), sizes)
        assert pairs / superbag == pytest.approx(2 * 199 / 200)


def perfect_matchings(items):
    """All ways to split an even number of items into pairs."""
    items = list(items)
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partner in rest:
        others = [item for item in rest if item != partner]
        for pairs in perfect_matchings(others):
            yield [(first, partner), *pairs]


class TestLeastSquares:
    @pytest.mark.parametrize("class_prior", PRIORS)
    def test_even_and_odd_parts_of_the_design(self, class_prior):
        neg, pos = combine_bags(
            SIZES, PROPORTIONS, method="least_squares", class_prior=class_prior
        ).T
        share = SIZES / SIZES.sum()
        mean = share @ PROPORTIONS
        spread = share @ (PROPORTIONS - mean) ** 2
        tilt = (PROPORTIONS - mean) / spread
        even = share * (1 + (class_prior - mean) * tilt)
        cross = class_prior * (1 - mean) + (1 - class_prior) * mean
        odd = share * ((2 * class_prior - 1) + cross * tilt)
        np.testing.assert_allclose(pos + neg, even, rtol=1e-12)
        np.testing.assert_allclose(pos - neg, odd, rtol=1e-12, atol=1e-15)

    def test_equals_all_pairs(self):
        """Weighting every pair of bags by n_a·n_b·gap² gives the same even and odd tilt."""
        pos, neg = np.zeros(6), np.zeros(6)
        total = 0.0
        for one, other in itertools.combinations(range(6), 2):
            gap = PROPORTIONS[one] - PROPORTIONS[other]
            weight = SIZES[one] * SIZES[other] * gap**2
            total += weight
            pos[one] += weight * (1 - PROPORTIONS[other]) / (2 * gap)
            pos[other] -= weight * (1 - PROPORTIONS[one]) / (2 * gap)
            neg[one] -= weight * PROPORTIONS[other] / (2 * gap)
            neg[other] += weight * PROPORTIONS[one] / (2 * gap)
        combination = combine_bags(SIZES, PROPORTIONS, method="least_squares")
        np.testing.assert_allclose(combination, np.column_stack([neg, pos]) / total, rtol=1e-12)

    @given(seeds)
    def test_each_criterion_is_won_by_its_own_method(self, seed):
        sizes, proportions = random_bags(seed)
        squares, superbag = (
            combine_bags(sizes, proportions, method=method)
            for method in ("least_squares", "superbag")
        )
        rounding = 1 + 1e-12  # sometimes the two are equal
        assert square_factor(squares, sizes) < square_factor(superbag, sizes) * rounding
        assert bound_factor(superbag, sizes) < bound_factor(squares, sizes) * rounding


class TestSymmetry:
    @pytest.mark.parametrize("method", ["superbag", "least_squares"])
    def test_a_bag_cut_in_two_keeps_its_total(self, method):
        """Rows with equal proportion are exchangeable between bags."""
        whole = combine_bags(SIZES, PROPORTIONS, method=method)
        cut = combine_bags([3, 7, *SIZES[1:]], [0.15, *PROPORTIONS], method=method)
        for before, after in zip(whole.T, cut.T, strict=True):
            np.testing.assert_allclose(after[:2], before[0] * np.array([0.3, 0.7]), rtol=1e-11)
            np.testing.assert_allclose(after[2:], before[1:], rtol=1e-11)

    @pytest.mark.parametrize("method", UNBIASED)
    def test_only_relative_sizes_matter(self, method):
        plain = combine_bags(SIZES, PROPORTIONS, method=method)
        larger = combine_bags(1000 * SIZES, PROPORTIONS, method=method)
        np.testing.assert_allclose(larger, plain, rtol=1e-11)


THREE = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.3, 0.4]])
thorough = settings(max_examples=100, deadline=None, derandomize=True, database=None)


@st.composite
def class_bags(draw):
    """Sizes, shares and a class prior; the shares identify the classes in double precision."""
    n_classes = draw(st.integers(2, 5))
    n_bags = draw(st.integers(n_classes, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    shares = rng.dirichlet(np.full(n_classes, draw(st.sampled_from([0.2, 1.0, 5.0]))), n_bags)
    sizes = rng.integers(1, 500, n_bags).astype(float)
    scales = np.linalg.svd(np.sqrt(sizes)[:, None] * shares, compute_uv=False)
    assume(scales[-1] > 1e-4 * scales[0])
    return sizes, shares, rng.dirichlet(np.ones(n_classes)) * 0.9 + 0.1 / n_classes


def least_squares(sizes, shares, **options):
    return combine_bags(sizes, shares, method="least_squares", **options)


class TestAnyNumberOfClasses:
    @thorough
    @given(class_bags())
    def test_it_is_unbiased_for_any_class_prior(self, bags):
        sizes, shares, prior = bags
        coef = least_squares(sizes, shares, class_prior=prior)
        np.testing.assert_allclose(coef.T @ shares, np.diag(prior), atol=1e-10 * np.abs(coef).sum())

    @thorough
    @given(class_bags(), st.integers(0, 1000))
    def test_no_unbiased_combination_has_less_variance(self, bags, seed):
        sizes, shares, prior = bags
        coef = least_squares(sizes, shares, class_prior=prior)
        left_inverse = np.linalg.pinv(shares)
        noise = np.random.default_rng(seed).normal(size=coef.shape)
        other = coef + (noise - (left_inverse.T @ (shares.T @ noise))) * np.abs(coef).max()
        np.testing.assert_allclose(
            other.T @ shares, np.diag(prior), atol=1e-8 * np.abs(other).max()
        )
        variance = np.sum(coef**2 / sizes[:, None])
        assert variance <= np.sum(other**2 / sizes[:, None]) * (1 + 1e-9)

    @thorough
    @given(class_bags(), st.randoms(use_true_random=False))
    def test_the_order_of_the_classes_does_not_matter(self, bags, random):
        sizes, shares, prior = bags
        order = random.sample(range(len(prior)), len(prior))
        plain = least_squares(sizes, shares, class_prior=prior)
        moved = least_squares(sizes, shares[:, order], class_prior=prior[order])
        np.testing.assert_allclose(moved, plain[:, order], atol=1e-7 * np.abs(plain).max())

    @thorough
    @given(class_bags())
    def test_the_pooled_prior_gives_every_bag_its_share_of_rows(self, bags):
        sizes, shares, _ = bags
        coef = least_squares(sizes, shares, class_prior="pooled")
        np.testing.assert_allclose(
            coef.sum(axis=1), sizes / sizes.sum(), atol=1e-9 * np.abs(coef).max()
        )

    def test_least_squares_and_equal_shares_are_the_defaults(self):
        found = least_squares([5, 6, 7, 8], THREE, class_prior=[1 / 3, 1 / 3, 1 / 3])
        np.testing.assert_allclose(combine_bags([5, 6, 7, 8], THREE), found)

    @all_methods
    @pytest.mark.parametrize("prior", [0.5, 0.2, "pooled"])
    def test_two_columns_are_the_same_as_the_share_of_positives(self, method, prior):
        one = combine_bags(SIZES, PROPORTIONS, method=method, class_prior=prior)
        vector = [1 - prior, prior] if prior == 0.2 else prior
        both = class_columns(PROPORTIONS)
        two = combine_bags(SIZES, both, method=method, class_prior=vector)
        np.testing.assert_array_equal(two, one)

    def test_pure_bags_are_labels(self):
        coef = combine_bags([4, 6, 5, 5], np.eye(3)[[0, 1, 2, 2]])
        expected = [[1 / 3, 0, 0], [0, 1 / 3, 0], [0, 0, 1 / 6], [0, 0, 1 / 6]]
        np.testing.assert_allclose(coef, expected, atol=1e-15)

    @pytest.mark.parametrize(
        "counts",
        [
            [[2, 1], [0, 4], [6, 1]],
            [[2, 1, 0], [0, 2, 2], [1, 0, 5], [3, 3, 1]],
        ],
    )
    def test_rows_share_the_coefficients_of_their_bag(self, counts):
        observed = make_observed(counts)
        coef = combine_bags(observed.sizes, observed.proportions)
        rows = row_coefficients(coef, observed)
        assert rows.shape == (np.sum(counts), len(counts[0]))
        for bag in range(len(counts)):
            of_bag = rows[observed.row_bag == bag]
            assert (of_bag == of_bag[0]).all()
            np.testing.assert_allclose(of_bag.sum(axis=0), coef[bag])


class TestHelpers:
    def test_information_sums_to_v(self):
        parts = bag_information(SIZES, class_columns(PROPORTIONS))
        assert parts.sum() == pytest.approx(information(SIZES, PROPORTIONS))
        assert parts.shape == (6,)


TWO, ALL_EQUAL = (SIZES, PROPORTIONS), ([10, 5, 7], [0.4, 0.4, 0.4])
BAD_INPUT = [
    (TWO, {"method": "mean_map"}, "unknown method 'mean_map'.*superbag, least_squares, pairs"),
    (TWO, {"class_prior": "balanced"}, r"class_prior='balanced': give a number .* 'pooled'"),
    *[
        (TWO, {"class_prior": prior}, rf"class_prior={prior}: give a number strictly between")
        for prior in (0, 1, -0.2, 1.5, math.nan)
    ],
    *[
        (([5] * 4, THREE), {"class_prior": prior}, "class_prior=.*3 positive shares that sum to 1")
        for prior in (0.3, "equal", [0.5, 0.5], [0.5, 0.6, 0.1], [0.5, 0.5, 0.0], [0.7, 0.7, -0.4])
    ],
    *[
        (([5] * 4, THREE), {"method": name}, f"combine='{name}', and y has 3 classes: use combine=")
        for name in ("superbag", "pairs")
    ],
    (([5, 5], THREE[:2]), {}, r"classes 0, 1, 2 cannot.*only 2 bags.*need at least 3"),
    *[
        case
        for name in COMBINATION_METHODS
        for case in (
            (([10], [0.4]), {"method": name}, "only one bag: nothing can be learned"),
            (ALL_EQUAL, {"method": name}, r"all 3 bags have the same proportion 0\.4: nothing"),
            # .1 + .2 is not .3 in doubles, which must not give coefficients of 1e15.
            (([10] * 3, [0.3, 0.1 + 0.2, 0.3]), {"method": name}, "nothing can be learned"),
        )
    ],
]


@pytest.mark.parametrize(("bags", "options", "message"), BAD_INPUT)
def test_bad_input_is_named(bags, options, message):
    with pytest.raises(ValueError, match=message):
        combine_bags(*bags, **options)
