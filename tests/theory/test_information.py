"""Information, effective sample sizes and the cost of weights."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decorrupt.corruption import combine_bags, source_weights
from decorrupt.theory import combined_sample_size, information, weights_comparison
from oracles.combinations import bound_factor, smallest_bound_factor

SIZES, SHARES = [30, 10, 60], [0.9, 0.5, 0.2]


class TestInformation:
    def test_by_hand(self):
        told = information(SIZES, SHARES)
        assert told.class_prior == pytest.approx([0.56, 0.44])
        np.testing.assert_allclose(
            told.by_bag, [30 * 0.46**2, 10 * 0.06**2, 60 * 0.24**2], rtol=1e-12
        )
        assert told.total == float(told) == pytest.approx(9.84)
        assert told.effective_sample_size == pytest.approx(39.36)
        assert told.efficiency == pytest.approx(0.3936)

    @pytest.mark.parametrize("shares", [SHARES, [0.1, 0.6, 0.3], [1.0, 0.9, 0.8]])
    def test_no_unbiased_combination_does_better(self, shares):
        best = 1 / smallest_bound_factor(SIZES, shares)
        assert information(SIZES, shares).effective_sample_size == pytest.approx(best, rel=1e-6)

    @given(
        st.lists(st.tuples(st.integers(1, 40), st.integers(0, 10)), min_size=2, max_size=8),
        st.integers(0, 7),
    )
    def test_more_rows_never_tell_less(self, bags, grown):
        sizes, shares = np.array(bags).T
        assume(np.ptp(shares) > 0)
        more = sizes.copy()
        more[grown % len(more)] += 5
        before = float(information(sizes, shares / 10))
        assert float(information(more, shares / 10)) >= before * (1 - 1e-12)

    @pytest.mark.parametrize("gap", [1e-3, 1e-7, 1e-10])
    def test_bags_that_differ_by_almost_nothing(self, gap):
        """det(ΓᵀNΓ) = n²·gap², and class 1 has n·gap²/(γ₀²+γ₁²) ≈ 2n·gap² rows beside class 0."""
        told = information([20, 20], [0.5, 0.5 + gap])
        assert told.eigenvalues.prod() == pytest.approx(400 * gap**2, rel=1e-4)
        assert told.rows_by_class == pytest.approx([40 * gap**2] * 2, rel=0.01)

    def test_refuses_what_cannot_be_learned_from(self):
        with pytest.raises(ValueError, match="same proportion"):
            information([10, 10], [0.4, 0.4])


THREE_SIZES = [20, 20, 5, 10]
THREE = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5]])


class TestAnyNumberOfClasses:
    """The spectrum of ΓᵀNΓ."""

    def test_by_hand(self):
        """ΓᵀNΓ has the blocks (20) and (22.5, 2.5; 2.5, 7.5)."""
        told = information(THREE_SIZES, THREE)
        root = np.sqrt(7.5**2 + 2.5**2)
        np.testing.assert_allclose(told.eigenvalues, [15 - root, 20, 15 + root])
        assert told.condition_number == pytest.approx((15 + root) / (15 - root))
        np.testing.assert_allclose(told.rows_by_class, [20, 162.5 / 7.5, 162.5 / 22.5])
        assert np.abs(told.direction).argmax() == 2

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_pure_bags_are_worth_their_rows(self, n_classes):
        bags = [0, 1, 2, 1] if n_classes == 3 else [0, 1, 0, 1]
        told = information([7, 3, 5, 2], np.eye(n_classes)[bags])
        np.testing.assert_allclose(told.rows_by_class, [7, 5, 5] if n_classes == 3 else [12, 5])

    @pytest.mark.parametrize(
        ("sizes", "shares"),
        [(THREE_SIZES, THREE), (SIZES, np.column_stack([1 - np.array(SHARES), SHARES]))],
    )
    def test_rows_by_class_is_the_variance_of_the_combination(self, sizes, shares):
        """The estimate of class c's mean has the variance Σ_b a_bc²/n_b/π_c² of its combination."""
        told = information(sizes, shares)
        coef = combine_bags(sizes, shares, method="least_squares") * shares.shape[1]
        expected = 1 / np.sum(coef**2 / np.array(sizes)[:, None], axis=0)
        np.testing.assert_allclose(told.rows_by_class, expected)

    def test_the_direction_names_the_classes_that_hardly_differ(self):
        shares = [[0.8, 0.1, 0.1], [0.1, 0.46, 0.44], [0.2, 0.39, 0.41], [0.5, 0.25, 0.25]]
        direction = np.abs(information([50] * 4, shares).direction)
        assert (direction[1:] > 0.6).all()
        assert direction[0] < 0.1

    def test_v_by_hand(self):
        """½·Σ_b n_b·‖Γ_b − Γ̄‖², which for two columns is the sum over one of them."""
        told = information(THREE_SIZES, THREE)
        mean = np.array([20, 25, 10]) / 55
        by_bag = [
            0.5 * n * np.sum((row - mean) ** 2) for n, row in zip(THREE_SIZES, THREE, strict=True)
        ]
        np.testing.assert_allclose(told.by_bag, by_bag)
        assert float(told) == pytest.approx(sum(by_bag))
        np.testing.assert_allclose(told.class_prior, mean)
        both = np.column_stack([1 - np.array(SHARES), SHARES])
        assert float(information(SIZES, both)) == pytest.approx(float(information(SIZES, SHARES)))

    def test_the_effective_sample_size_is_that_of_the_combination(self):
        """1/Σ_b 4·mean_c(a_bc²)/n_b of the least-squares combination."""
        coef = combine_bags(THREE_SIZES, THREE)
        expected = 1 / np.sum(4 * np.mean(coef**2, axis=1) / THREE_SIZES)
        told = information(THREE_SIZES, THREE)
        assert told.effective_sample_size == pytest.approx(expected)
        assert told.efficiency == pytest.approx(expected / 55)

    def test_classes_that_cannot_be_told_apart_are_named(self):
        shares = np.column_stack([THREE[:, 0], 0.5 * THREE[:, 1:], 0.5 * THREE[:, 1:]])
        shares = np.vstack([shares, [0.2, 0.2, 0.2, 0.2, 0.2]])
        message = "the classes 'b', 'c', 'd', 'e' cannot be distinguished"
        with pytest.raises(ValueError, match=message):
            information([*THREE_SIZES, 5], shares, classes=list("abcde"))


class TestCombinedSampleSize:
    @pytest.mark.parametrize("combine", ["superbag", "pairs", "least_squares"])
    def test_is_one_over_the_factor_of_the_bound(self, combine):
        factor = bound_factor(combine_bags(SIZES, SHARES, method=combine), np.array(SIZES))
        assert combined_sample_size(SIZES, SHARES, combine=combine) == pytest.approx(1 / factor)


class TestWeightsComparison:
    def test_the_papers_example(self):
        rates = [0.01] * 9 + [0.49]
        found = weights_comparison([100] * 10, rates, rates)
        squares = np.array([1 / (100 * 0.98**2)] * 9 + [1 / (100 * 0.02**2)])
        assert found.arithmetic_mean == pytest.approx(squares.mean())
        assert found.harmonic_mean == pytest.approx(1 / np.mean(1 / squares))
        assert found.mean_ratio == pytest.approx(216.9, abs=0.05)
        assert found.mean_ratio > 100  # all that the paper says
        assert "exact" not in found.factors, "it needs the class priors of the sources"

    def test_factors_are_the_sums_of_the_theorem(self):
        sizes, plus, minus, priors = (
            [100, 40, 9],
            [0.1, 0.0, 0.3],
            [0.2, 0.05, 0.4],
            [0.5, 0.2, 0.7],
        )
        found = weights_comparison(sizes, plus, minus, source_priors=priors)
        rates = list(zip(plus, minus, strict=True))
        assert list(found.factors) == ["optimal", "exact", "size", "uniform"]
        for scheme, factor in found.factors.items():
            weights = source_weights(sizes, rates, source_priors=priors, scheme=scheme)
            total = 0.0
            for w, n, flip_pos, flip_neg, prior in zip(
                weights, sizes, plus, minus, priors, strict=True
            ):
                noise = (1 + abs(flip_pos - flip_neg)) / (1 - flip_pos - flip_neg)
                total += w**2 * noise**2 / n / min(prior, 1 - prior) ** 2
            assert factor == pytest.approx(total, rel=1e-12)
            np.testing.assert_array_equal(found.weights[scheme], weights)
        assert found.factors["optimal"] == min(found.factors.values())
