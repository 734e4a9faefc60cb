"""Combinations of bags for several classes: values, unbiasedness, errors."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import decorrupt
from decorrupt.corruption import ClassCombination, check_class_strata, combine_classes
from oracles.class_counts import make_class_strata

thorough = settings(max_examples=100, deadline=None, derandomize=True, database=None)


@st.composite
def class_bags(draw):
    """Sizes, shares and a target prior; the shares identify the classes in double precision."""
    n_classes = draw(st.integers(2, 5))
    n_bags = draw(st.integers(n_classes, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    shares = rng.dirichlet(np.full(n_classes, draw(st.sampled_from([0.2, 1.0, 5.0]))), n_bags)
    sizes = rng.integers(1, 500, n_bags).astype(float)
    scales = np.linalg.svd(np.sqrt(sizes)[:, None] * shares, compute_uv=False)
    assume(scales[-1] > 1e-4 * scales[0])
    return sizes, shares, rng.dirichlet(np.ones(n_classes)) * 0.9 + 0.1 / n_classes


class TestCombination:
    @thorough
    @given(class_bags())
    def test_it_is_unbiased_for_any_target_prior(self, bags):
        sizes, shares, prior = bags
        coef = combine_classes(sizes, shares, target_prior=prior).coef
        assert_allclose(coef.T @ shares, np.diag(prior), atol=1e-10 * np.abs(coef).sum())

    @thorough
    @given(class_bags(), st.integers(0, 1000))
    def test_no_unbiased_combination_has_less_variance(self, bags, seed):
        sizes, shares, prior = bags
        coef = combine_classes(sizes, shares, target_prior=prior).coef
        left_inverse = np.linalg.pinv(shares)
        noise = np.random.default_rng(seed).normal(size=coef.shape)
        other = coef + (noise - (left_inverse.T @ (shares.T @ noise))) * np.abs(coef).max()
        assert_allclose(other.T @ shares, np.diag(prior), atol=1e-8 * np.abs(other).max())
        variance = np.sum(coef**2 / sizes[:, None])
        assert variance <= np.sum(other**2 / sizes[:, None]) * (1 + 1e-9)

    @thorough
    @given(class_bags(), st.randoms(use_true_random=False))
    def test_the_order_of_the_classes_does_not_matter(self, bags, random):
        sizes, shares, prior = bags
        order = random.sample(range(len(prior)), len(prior))
        plain = combine_classes(sizes, shares, target_prior=prior).coef
        moved = combine_classes(sizes, shares[:, order], target_prior=prior[order]).coef
        assert_allclose(moved, plain[:, order], atol=1e-7 * np.abs(plain).max())

    @thorough
    @given(class_bags())
    def test_the_pooled_prior_gives_every_bag_its_share_of_rows(self, bags):
        sizes, shares, _ = bags
        coef = combine_classes(sizes, shares, target_prior="pooled").coef
        assert_allclose(coef.sum(axis=1), sizes / sizes.sum(), atol=1e-9 * np.abs(coef).max())

    @pytest.mark.parametrize("prior", [0.5, 0.2, "pooled"])
    def test_two_classes_are_the_binary_least_squares(self, prior):
        sizes, shares = [10, 30, 5, 8], np.array([0.1, 0.3, 0.9, 0.55])
        pos, neg = decorrupt.corruption.combine_strata(
            sizes, shares, method="least_squares", target_prior=prior
        )
        both = np.column_stack([1 - shares, shares])
        vector = [1 - prior, prior] if prior == 0.2 else prior
        coef = combine_classes(sizes, both, target_prior=vector).coef
        assert_allclose(coef, np.column_stack([neg, pos]), rtol=1e-12)

    def test_pure_bags_are_labels(self):
        coef = combine_classes([4, 6, 5, 5], np.eye(3)[[0, 1, 2, 2]]).coef
        expected = [[1 / 3, 0, 0], [0, 1 / 3, 0], [0, 0, 1 / 6], [0, 0, 1 / 6]]
        assert_allclose(coef, expected, atol=1e-15)

    def test_rows_share_the_coefficients_of_their_bag(self):
        strata = make_class_strata([[2, 1, 0], [0, 2, 2], [1, 0, 5], [3, 3, 1]])
        combination = combine_classes(strata.sizes, strata.proportions)
        rows = combination.row_coef(strata)
        assert rows.shape == (20, 3)
        for bag in range(4):
            of_bag = rows[strata.row_stratum == bag]
            assert (of_bag == of_bag[0]).all()
            assert_allclose(of_bag.sum(axis=0), combination.coef[bag])

    def test_combine_strata_takes_a_matrix(self):
        shares = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
        for options in ({}, {"method": "least_squares"}):
            combination = decorrupt.corruption.combine_strata([5, 6, 7], shares, **options)
            assert isinstance(combination, ClassCombination)
            assert_allclose(combination.coef, combine_classes([5, 6, 7], shares).coef)


class TestRefusals:
    SHARES = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.3, 0.4]])

    @pytest.mark.parametrize(
        "shares",
        [[0.5, 0.3, 0.3], [0.5, 0.3, 0.1], [0.6, 0.6, -0.2], [np.nan, 0.5, 0.5]],
    )
    def test_shares_that_do_not_sum_to_one_name_the_bag(self, shares):
        bad = self.SHARES.copy()
        bad[2] = shares
        with pytest.raises(ValueError, match=r"proportions of bag 2 are \[.*sum to 1 \(within 1e"):
            combine_classes([5] * 4, bad)

    def test_rounding_of_single_precision_is_forgiven(self):
        check_class_strata([5] * 4, self.SHARES.astype(np.float32))

    def test_an_absent_class_is_named(self):
        shares = np.insert(self.SHARES, 1, 0.0, axis=1)
        with pytest.raises(ValueError, match="class 1 has share 0 in every bag"):
            combine_classes([5] * 4, shares)
        with pytest.raises(ValueError, match="class 'green' has share 0 in every bag"):
            check_class_strata([5] * 4, shares, ["red", "green", "blue", "black"])

    def test_classes_of_a_fixed_ratio_are_named_and_no_others(self):
        """Class c of each bag is split 1:3 into two classes that the bags cannot distinguish."""
        shares = np.column_stack([self.SHARES, 0.75 * self.SHARES[:, 1]])
        shares[:, 1] *= 0.25
        message = r"the classes 'b', 'd' cannot be distinguished.*Merge"
        with pytest.raises(ValueError, match=message):
            check_class_strata([5] * 4, shares, ["a", "b", "c", "d"])

    def test_too_few_bags(self):
        with pytest.raises(
            ValueError, match=r"classes 0, 1, 2 cannot.*only 2 bags.*need at least 3"
        ):
            combine_classes([5, 5], self.SHARES[:2])

    def test_bags_that_all_agree(self):
        with pytest.raises(ValueError, match="the classes 0, 1, 2 cannot be distinguished"):
            combine_classes([5, 7, 9], self.SHARES[[0, 0, 0]])

    def test_an_empty_bag_is_named(self):
        with pytest.raises(ValueError, match="sizes of bag 1 is 0"):
            combine_classes([5, 0, 5, 5], self.SHARES)

    @pytest.mark.parametrize("shape", [(4,), (4, 1), (3, 3)])
    def test_shapes(self, shape):
        with pytest.raises(ValueError, match=r"one row per bag and one column per class.*\(4,\)"):
            combine_classes([5] * 4, np.ones(shape))

    @pytest.mark.parametrize(
        "prior", [0.3, "equal", [0.5, 0.5], [0.5, 0.6, 0.1], [0.5, 0.5, 0.0], [0.7, 0.7, -0.4]]
    )
    def test_target_priors(self, prior):
        with pytest.raises(
            ValueError, match=r"target_prior=.*give 3 positive shares that sum to 1"
        ):
            combine_classes([5] * 4, self.SHARES, target_prior=prior)

    @pytest.mark.parametrize("options", [{"method": "pairs"}, {"convex": "project"}])
    def test_options_for_two_classes(self, options):
        with pytest.raises(ValueError, match="are for two classes: a matrix of shares takes"):
            decorrupt.corruption.combine_strata([5] * 4, self.SHARES, **options)
