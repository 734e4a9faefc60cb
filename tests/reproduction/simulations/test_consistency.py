"""The λ schedule of Theorem 5, the hole in its proof, and the risk falling to the Bayes risk."""

import math

import numpy as np
import pytest

from decorrupt.corruption import combine_bags
from decorrupt.losses import get_loss
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import Objective, solve
from reproduction.simulations.consistency import consistent_reg_strength, simulate_consistency


class TestSchedule:
    @pytest.mark.parametrize("exponent", [0.1, 1 / 3, 0.5, 0.9])
    def test_both_conditions_of_the_theorem(self, exponent):
        sizes = 10.0 ** np.arange(20, 300, 40)
        reg = np.array([consistent_reg_strength(n, scale=3.0, exponent=exponent) for n in sizes])
        growth = reg * sizes / np.log(sizes)
        assert (np.diff(reg) < 0).all()
        assert reg[-1] < 1e-20
        assert (np.diff(growth) > 0).all()
        assert growth[-1] > 1e20

    def test_by_hand(self):
        assert consistent_reg_strength(10_000) == pytest.approx(0.01)
        assert consistent_reg_strength(1000, scale=2.0, exponent=1 / 3) == pytest.approx(0.2)


class TestTheNormOfTheSolution:
    """Bags with γ = (.9, .6), the first at x = 1, the second at x = 0, f(x) = θx, λ = .001.

    The first bag's coefficients are (⅔, −1), so the risk falls like −θ and θ̂ is about 1/(2λ).
    """

    reg_strength = 1e-3

    @pytest.fixture
    def solution(self):
        risk = CorrectedRisk(combine_bags([1, 1], [0.9, 0.6]), get_loss("logistic"))
        problem = Objective(np.array([[1.0], [0.0]]), risk, self.reg_strength)
        return solve(problem).coef[0]

    def test_the_proof_says_it_is_at_most_phi_of_zero_over_lambda(self, solution):
        assert self.reg_strength * solution**2 == pytest.approx(
            1 / (4 * self.reg_strength), rel=1e-3
        )
        assert self.reg_strength * solution**2 > 300 * math.log(2)

    def test_it_is_at_most_the_sum_of_coefficients_over_lambda(self, solution):
        assert abs(solution) <= (2 / 3 + 1) / self.reg_strength


@pytest.fixture(scope="module")
def result():
    return simulate_consistency((128, 1024, 8192), n_repeats=4, random_state=0)


class TestRiskFalls:
    def test_to_the_bayes_risk(self, result):
        assert (np.diff(result.excess_risk) < 0).all()
        assert result.excess_risk[-1] < 0.015
        assert result.excess_risk[-1] < result.excess_risk[0] / 4

    def test_and_the_error_to_the_bayes_error(self, result):
        assert abs(result.excess_error[-1]) < 1e-3
        assert result.excess_error[0] > 5e-3

    def test_no_risk_is_below_the_least(self, result):
        assert (result.risks > result.bayes_risk).all()
        assert (result.errors > result.bayes_error - 1e-3).all()
