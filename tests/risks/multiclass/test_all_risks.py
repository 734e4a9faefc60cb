"""What holds for every risk of several classes: gradients, permutations, two classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from decorrupt.corruption import Strata, check_transitions, combine_classes, combine_strata
from decorrupt.losses import get_loss
from decorrupt.risks import CorrectedRisk
from decorrupt.risks.count import count_risk
from decorrupt.risks.forward import noisy_label_risk
from decorrupt.risks.multiclass import (
    ClassCorrectedRisk,
    ClassProportionRisk,
    class_count_risk,
    class_noisy_label_risk,
    class_set_risk,
)
from decorrupt.risks.proportion import ProportionRisk
from decorrupt.risks.set_risk import set_risk
from decorrupt.solvers import Objective, solve
from oracles.class_counts import as_two_columns, make_class_strata

COUNTS = np.array([[1, 0, 0], [0, 2, 0], [2, 1, 1], [3, 1, 2], [0, 4, 5], [14, 9, 10], [3, 30, 11]])
N_ROWS = COUNTS.sum()


def corrected(strata):
    combination = combine_classes(strata.sizes, strata.proportions)
    return ClassCorrectedRisk(combination.row_coef(strata))


def noisy_labels(strata):
    """Return a forward risk whose matrix is made from the bags, so that classes can be permuted."""
    transition = 0.5 * np.eye(strata.proportions.shape[1]) + 0.5 * strata.proportions[5]
    noisy = strata.row_proportions.argmax(axis=1)
    return class_noisy_label_risk(noisy, transition[None], np.zeros(len(noisy), dtype=int))


RISKS = {
    "corrected": corrected,
    "count": class_count_risk,
    "proportion": ClassProportionRisk,
    "set": class_set_risk,
    "noisy labels": noisy_labels,
}
every_risk = pytest.mark.parametrize("make_risk", RISKS.values(), ids=list(RISKS))


@every_risk
def test_the_slope_is_the_gradient(make_risk):
    risk = make_risk(make_class_strata(COUNTS))
    scores = np.random.default_rng(1).normal(scale=1.5, size=(N_ROWS, 3))
    _, slope = risk.value_and_slope(scores)
    numeric = approx_fprime(
        scores.ravel(), lambda f: risk.value_and_slope(f.reshape(scores.shape))[0], 1e-6
    )
    assert_allclose(slope.ravel(), numeric, atol=1e-6)
    assert_allclose(slope.sum(axis=1), 0, atol=1e-12)


@every_risk
def test_a_shift_of_all_classes_changes_nothing(make_risk):
    risk = make_risk(make_class_strata(COUNTS))
    scores = np.random.default_rng(2).normal(size=(N_ROWS, 3))
    value, slope = risk.value_and_slope(scores)
    shifted, shifted_slope = risk.value_and_slope(scores + np.linspace(-50, 50, N_ROWS)[:, None])
    assert_allclose(shifted, value, rtol=1e-10)
    assert_allclose(shifted_slope, slope, atol=1e-10)


@every_risk
@given(order=st.permutations(range(3)), seed=st.integers(0, 1000), scale=st.floats(0.1, 20))
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
def test_the_order_of_the_classes_does_not_matter(make_risk, order, seed, scale):
    scores = np.random.default_rng(seed).normal(scale=scale, size=(N_ROWS, 3))
    strata = make_class_strata(COUNTS)
    moved = Strata(strata.ids, strata.row_stratum, strata.proportions[:, order])
    value, slope = make_risk(strata).value_and_slope(scores)
    other, other_slope = make_risk(moved).value_and_slope(scores[:, order])
    assert_allclose(other, value, rtol=1e-9, atol=1e-12)
    assert_allclose(other_slope, slope[:, order], atol=1e-9)


@every_risk
@pytest.mark.parametrize("scale", [30.0, 1e3])
def test_extreme_scores_stay_finite(make_risk, scale):
    scores = scale * np.random.default_rng(3).choice([-1.0, 0.0, 1.0], size=(N_ROWS, 3))
    value, slope = make_risk(make_class_strata(COUNTS)).value_and_slope(scores)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


@every_risk
def test_single_precision_scores_are_summed_in_double(make_risk):
    risk = make_risk(make_class_strata(COUNTS))
    scores = np.random.default_rng(4).normal(size=(N_ROWS, 3)).astype(np.float32)
    value, slope = risk.value_and_slope(scores)
    assert slope.dtype == np.float64
    assert value == risk.value_and_slope(scores.astype(float))[0]


@every_risk
def test_there_is_no_curvature(make_risk):
    with pytest.raises(ValueError, match=r"risk of 3 classes.*use solver='lbfgs'"):
        make_risk(make_class_strata(COUNTS)).curvature(np.zeros((N_ROWS, 3)))


class TestTwoClasses:
    """Each risk against the binary code, on bags small enough to be exact in both."""

    STRATA = Strata(
        np.arange(6),
        np.random.default_rng(5).permutation(np.repeat(np.arange(6), [1, 2, 5, 12, 20, 30])),
        np.array([1, 1, 2, 12, 5, 21]) / np.array([1, 2, 5, 12, 20, 30]),
    )
    IS_POS = np.random.default_rng(6).integers(0, 2, 70).astype(bool)
    SOURCE = np.repeat([0, 1], 35)

    def binary_corrected(self):
        combination = combine_strata(
            self.STRATA.sizes, self.STRATA.proportions, method="least_squares"
        )
        return CorrectedRisk(combination.row_terms(self.STRATA), get_loss("logistic"))

    def noisy(self):
        return noisy_label_risk(
            self.IS_POS, np.array([0.1, 0.3])[self.SOURCE], np.array([0.2, 0.05])[self.SOURCE], 0.4
        )

    def class_noisy(self):
        rates = {0: [[0.8, 0.2], [0.1, 0.9]], 1: [[0.95, 0.05], [0.3, 0.7]]}
        transitions = check_transitions(rates, 2)
        shift = np.tile([-0.2, 0.2], (70, 1))
        return class_noisy_label_risk(self.IS_POS.astype(int), transitions, self.SOURCE, shift)

    def pair(self, name):
        both = as_two_columns(self.STRATA)
        return {
            "corrected": lambda: (self.binary_corrected(), corrected(both)),
            "count": lambda: (count_risk(self.STRATA), class_count_risk(both)),
            "proportion": lambda: (ProportionRisk(self.STRATA), ClassProportionRisk(both)),
            "set": lambda: (set_risk(self.STRATA), class_set_risk(both)),
            "noisy labels": lambda: (self.noisy(), self.class_noisy()),
        }[name]()

    @pytest.mark.parametrize("name", RISKS)
    def test_value_and_slope(self, name):
        binary, several = self.pair(name)
        scores = np.random.default_rng(7).normal(scale=2, size=70)
        value, slope = binary.value_and_slope(scores)
        both, both_slope = several.value_and_slope(np.column_stack([-scores / 2, scores / 2]))
        assert_allclose(both, value, rtol=1e-10)
        assert_allclose(both_slope, np.column_stack([-slope, slope]), atol=1e-12)
        assert several.is_convex == binary.is_convex

    @pytest.mark.parametrize("fit_intercept", [False, True])
    @pytest.mark.parametrize("name", RISKS)
    def test_the_objective_and_its_solution_at_the_same_reg_strength(self, name, fit_intercept):
        binary, several = self.pair(name)
        rng = np.random.default_rng(8)
        features = rng.normal(size=(70, 4)) / 2
        one = Objective(features, binary, 0.05, fit_intercept)
        two = Objective(features, several, 0.05, fit_intercept, n_classes=2)
        coef = rng.normal(size=one.n_coef)
        value, gradient = one.value_and_gradient(coef)
        both_value, both_gradient = two.value_and_gradient(np.outer(coef, [-0.5, 0.5]).ravel())
        assert_allclose(both_value, value, rtol=1e-12)
        assert_allclose(both_gradient, np.outer(gradient, [-1, 1]).ravel(), atol=1e-12)
        # Rounding of the objective stops L-BFGS at the root of its precision.
        found, both = solve(one, solver="lbfgs", tol=1e-11), solve(two, tol=1e-11)
        assert_allclose(both.objective, found.objective, rtol=1e-12)
        columns = both.coef.reshape(-1, 2)
        assert_allclose(columns[:, 1] - columns[:, 0], found.coef, atol=1e-6)
        assert_allclose(columns[:4].sum(axis=1), 0, atol=1e-8)
