"""Drawn and exact variances of corrected risks agree, and all combinations are unbiased."""

import numpy as np
import pytest

from reproduction.simulations.variance import simulate_variance

SIZES, SHARES = [20, 30, 10, 40, 25], [0.9, 0.7, 0.6, 0.3, 0.2]


@pytest.fixture(scope="module")
def result():
    return simulate_variance(SIZES, SHARES, n_draws=4000, random_state=0)


@pytest.mark.parametrize("combine", ["pairs", "superbag", "least_squares"])
class TestEachCombination:
    def test_mean_is_the_true_risk(self, result, combine):
        error = np.sqrt(result.exact_variances[combine] / 4000)
        assert result.estimates[combine].mean() == pytest.approx(result.true_risk, abs=4 * error)

    def test_drawn_variance_is_the_exact_one(self, result, combine):
        # The variance of 4,000 near-normal draws has a relative error of √(2/4000) = 2.2 %.
        drawn = result.estimates[combine].var()
        assert drawn == pytest.approx(result.exact_variances[combine], rel=0.1)


def test_superbag_has_the_least_factor(result):
    assert result.bound_factors["superbag"] == min(result.bound_factors.values())


def test_least_squares_differs_from_superbag(result):
    assert result.exact_variances["least_squares"] != pytest.approx(
        result.exact_variances["superbag"], rel=1e-3
    )
