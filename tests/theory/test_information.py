"""Information, effective sample sizes and the cost of weights."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decorrupt.corruption import combine_strata, source_weights
from decorrupt.theory import information, strata_sample_size, weights_comparison
from oracles.combinations import bound_factor, smallest_bound_factor

SIZES, SHARES = [30, 10, 60], [0.9, 0.5, 0.2]


class TestInformation:
    def test_by_hand(self):
        told = information(SIZES, SHARES)
        assert told.pooled_proportion == pytest.approx(0.44)
        np.testing.assert_allclose(
            told.by_stratum, [30 * 0.46**2, 10 * 0.06**2, 60 * 0.24**2], rtol=1e-12
        )
        assert told.total == float(told) == pytest.approx(9.84)
        assert told.effective_sample_size == pytest.approx(39.36)
        assert told.efficiency == pytest.approx(0.3936)

    def test_pure_bags_of_equal_size_are_worth_their_rows(self):
        assert information([40, 40], [1.0, 0.0]).efficiency == 1.0

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

    def test_refuses_what_cannot_be_learned_from(self):
        with pytest.raises(ValueError, match="same proportion"):
            information([10, 10], [0.4, 0.4])


class TestStrataSampleSize:
    @pytest.mark.parametrize("combine", ["superbag", "pairs", "least_squares"])
    def test_is_one_over_the_factor_of_the_bound(self, combine):
        pair = combine_strata(SIZES, SHARES, method=combine)
        factor = bound_factor(*pair, np.array(SIZES))
        assert strata_sample_size(SIZES, SHARES, combine=combine) == pytest.approx(1 / factor)

    def test_superbag_is_the_information(self):
        told = information(SIZES, SHARES)
        assert strata_sample_size(SIZES, SHARES) == pytest.approx(told.effective_sample_size)


class TestWeightsComparison:
    def test_the_papers_example(self):
        rates = [0.01] * 9 + [0.49]
        found = weights_comparison([100] * 10, rates, rates)
        squares = np.array([1 / (100 * 0.98**2)] * 9 + [1 / (100 * 0.02**2)])
        assert found.arithmetic_mean == pytest.approx(squares.mean())
        assert found.harmonic_mean == pytest.approx(1 / np.mean(1 / squares))
        assert found.mean_ratio == pytest.approx(216.9, abs=0.05)
        assert found.mean_ratio > 100  # all that the paper says

    def test_factors_are_the_sums_of_the_theorem(self):
        sizes, plus, minus, priors = (
            [100, 40, 9],
            [0.1, 0.0, 0.3],
            [0.2, 0.05, 0.4],
            [0.5, 0.2, 0.7],
        )
        found = weights_comparison(sizes, plus, minus, class_priors=priors)
        assert list(found.factors) == ["optimal", "exact", "size", "uniform"]
        for scheme, factor in found.factors.items():
            weights = source_weights(sizes, plus, minus, class_priors=priors, scheme=scheme)
            total = 0.0
            for w, n, flip_pos, flip_neg, prior in zip(
                weights, sizes, plus, minus, priors, strict=True
            ):
                noise = (1 + abs(flip_pos - flip_neg)) / (1 - flip_pos - flip_neg)
                total += w**2 * noise**2 / n / min(prior, 1 - prior) ** 2
            assert factor == pytest.approx(total, rel=1e-12)
            np.testing.assert_array_equal(found.weights[scheme], weights)
        assert found.factors["optimal"] == min(found.factors.values())

    def test_uniform_and_optimal_are_the_two_means(self):
        found = weights_comparison([10, 50], [0.1, 0.3], [0.2, 0.0])
        assert found.factors["uniform"] == pytest.approx(found.arithmetic_mean / 2)
        assert found.factors["optimal"] == pytest.approx(found.harmonic_mean / 2)
        assert "exact" not in found.factors
