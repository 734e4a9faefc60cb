"""Every property the theory asks of a margin loss, over the one list of losses."""

import itertools
import math
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from decorrupt.losses import LOSSES
from oracles.margin_losses import FORMULAS, exact_curvature, exact_slope, exact_value

MARGINS = np.array([-9.3, -2.7, -1.2, -0.8, -0.3, 0.0, 0.1, 0.6, 0.95, 1.4, 3.1, 12.5])
FINE_GRID = np.linspace(-30, 30, 120_001)  # holds 0 and ±1, where the suprema are
FAR = 1e4

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))


def losses_called(*names):
    return pytest.mark.parametrize("loss", [LOSSES[name] for name in names], ids=names)


def test_every_loss_has_an_oracle():
    assert set(LOSSES) == set(FORMULAS)


# name, margin, φ, φ', φ''
BY_HAND = [
    ("logistic", 0.0, math.log(2), -0.5, 0.25),
    ("logistic", math.log(3), math.log(4 / 3), -1 / 4, 3 / 16),
    ("logistic", -math.log(3), math.log(4), -3 / 4, 3 / 16),
    ("squared", 0.0, 1, -2, 2),
    ("squared", -2.0, 9, -6, 2),
    ("squared", 3.0, 4, 4, 2),
    ("huber", -3.0, 12, -4, 0),
    ("huber", -0.5, 2.25, -3, 2),
    ("huber", 0.0, 1, -2, 2),
    ("huber", 0.5, 0.25, -1, 2),
    ("huber", 2.0, 0, 0, 0),
    ("sigmoid", 0.0, 0.5, -0.25, 0),
    ("sigmoid", math.log(3), 1 / 4, -3 / 16, 3 / 32),
    ("sigmoid", -math.log(3), 3 / 4, -3 / 16, -3 / 32),
]


@pytest.mark.parametrize(("name", "margin", "value", "slope", "curvature"), BY_HAND)
def test_values_computed_by_hand(name, margin, value, slope, curvature):
    loss = LOSSES[name]
    assert loss.value(margin) == pytest.approx(value, abs=1e-15)
    assert loss.slope(margin) == pytest.approx(slope, abs=1e-15)
    assert loss.curvature(margin) == pytest.approx(curvature, abs=1e-15)


def test_huber_at_its_kinks():
    huber = LOSSES["huber"]
    assert huber.value([-1.0, 1.0]).tolist() == [4, 0]
    assert huber.slope([-1.0, 1.0]).tolist() == [-4, 0]
    # φ'' jumps there; whatever is chosen must be the same at both, or it is not even.
    assert huber.curvature(-1.0) == huber.curvature(1.0)


@every_loss
def test_value_and_derivatives_match_high_precision_oracle(loss):
    for margin in MARGINS:
        value, slope, curvature = (
            part(loss.name, margin) for part in (exact_value, exact_slope, exact_curvature)
        )
        np.testing.assert_allclose(loss.value(margin), value, rtol=1e-14)
        np.testing.assert_allclose(loss.slope(margin), slope, rtol=1e-14)
        np.testing.assert_allclose(loss.curvature(margin), curvature, rtol=1e-12, atol=1e-25)


@every_loss
def test_derivatives_match_finite_differences_of_the_code(loss):
    step = 1e-5
    rise = (loss.value(MARGINS + step) - loss.value(MARGINS - step)) / (2 * step)
    np.testing.assert_allclose(loss.slope(MARGINS), rise, rtol=1e-7, atol=1e-9)
    bend = (loss.slope(MARGINS + step) - loss.slope(MARGINS - step)) / (2 * step)
    np.testing.assert_allclose(loss.curvature(MARGINS), bend, rtol=1e-7, atol=1e-9)


class TestFarMargins:
    """Beyond |m| of about 700 exp overflows; the losses must not."""

    LIMITS: ClassVar = {  # name: (φ(−1e4), φ'(−1e4), φ(1e4), φ'(1e4))
        "logistic": (FAR, -1.0, 0.0, 0.0),
        "squared": ((1 + FAR) ** 2, -2 * (1 + FAR), (1 - FAR) ** 2, 2 * (FAR - 1)),
        "huber": (4 * FAR, -4.0, 0.0, 0.0),
        "sigmoid": (1.0, 0.0, 0.0, 0.0),
    }

    @every_loss
    def test_exact_limits(self, loss):
        far = np.array([-FAR, FAR])
        at = (*loss.value(far), *loss.slope(far))
        left_value, left_slope, right_value, right_slope = self.LIMITS[loss.name]
        assert at == (left_value, right_value, left_slope, right_slope)
        assert loss.curvature(far).tolist() == ([2, 2] if loss.name == "squared" else [0, 0])

    @every_loss
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_finite_everywhere(self, loss, dtype):
        sides = np.geomspace(1e-8, FAR, 500, dtype=dtype)
        margins = np.concatenate([-sides, [0], sides]).astype(dtype)
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            for part in (loss.value, loss.slope, loss.curvature):
                assert np.isfinite(part(margins)).all()

    @losses_called("logistic", "sigmoid")
    @pytest.mark.parametrize("margin", [-600.0, -80.0, -37.0, 37.0, 80.0, 600.0])
    def test_tails_keep_their_relative_accuracy(self, loss, margin):
        """1 + exp(−80) is 1 in doubles: the tail must come from log1p, not from the sum."""
        np.testing.assert_allclose(loss.value(margin), exact_value(loss.name, margin), rtol=1e-13)


@every_loss
class TestConstants:
    def test_at_zero(self, loss):
        assert loss.at_zero == loss.value(0.0)

    def test_lipschitz_is_the_supremum_of_the_slope(self, loss):
        steepest = np.abs(loss.slope(FINE_GRID)).max()
        if math.isinf(loss.lipschitz):
            assert np.abs(loss.slope(FAR)) > 100 * steepest
        else:
            assert steepest <= loss.lipschitz
            assert steepest == pytest.approx(loss.lipschitz, rel=1e-9)

    def test_curvature_bound_is_the_supremum_of_the_curvature(self, loss):
        sharpest = np.abs(loss.curvature(FINE_GRID)).max()
        assert sharpest <= loss.curvature_bound * (1 + 1e-15)
        assert sharpest == pytest.approx(loss.curvature_bound, rel=1e-6)

    def test_convexity(self, loss):
        one, other = np.meshgrid(np.linspace(-8, 8, 161), np.linspace(-8, 8, 161))
        chord = (loss.value(one) + loss.value(other)) / 2
        below_chord = loss.value((one + other) / 2) <= chord + 1e-12
        assert below_chord.all() == loss.is_convex
        assert (loss.curvature(FINE_GRID) >= 0).all() == loss.is_convex

    def test_calibration(self, loss):
        assert loss.is_calibrated == (loss.slope(0.0) < 0)

    def test_symmetry(self, loss):
        total = loss.value(FINE_GRID) + loss.value(-FINE_GRID)
        assert (np.ptp(total) < 1e-12) == loss.is_symmetric

    def test_even_curvature(self, loss):
        bend, mirrored = loss.curvature(FINE_GRID), loss.curvature(-FINE_GRID)
        assert np.allclose(bend, mirrored, rtol=1e-12, atol=1e-15) == loss.has_even_curvature

    def test_slope_limits(self, loss):
        for side, limit in zip((-1, 1), loss.slope_limits, strict=True):
            near, far = loss.slope(side * 1e3), loss.slope(side * 1e6)
            if math.isinf(limit):
                assert np.sign(far) == np.sign(limit)
                assert abs(far) > 900 * abs(near)
            else:
                assert far == pytest.approx(limit, abs=1e-12)


class TestScoreAt:
    @losses_called("logistic", "squared", "huber")
    @pytest.mark.parametrize("probability", [0.003, 0.1, 0.37, 0.5, 0.8, 0.995])
    def test_minimises_the_conditional_risk(self, loss, probability):
        def risk(score):
            return probability * loss.value(score) + (1 - probability) * loss.value(-score)

        best = minimize_scalar(risk, bounds=(-20, 20), method="bounded", options={"xatol": 1e-9})
        score = loss.score_at(probability)
        assert score == pytest.approx(best.x, abs=1e-5)
        slope = probability * loss.slope(score) - (1 - probability) * loss.slope(-score)
        assert slope == pytest.approx(0, abs=1e-14)

    @losses_called("logistic", "squared", "huber")
    def test_is_zero_at_one_half_and_odd(self, loss):
        assert loss.score_at(0.5) == 0
        assert loss.score_at(0.9) == pytest.approx(-loss.score_at(0.1), rel=1e-12)

    def test_logistic_score_is_the_log_odds(self):
        assert LOSSES["logistic"].score_at(0.75) == pytest.approx(math.log(3))

    @losses_called("sigmoid")
    def test_undefined_where_only_the_sign_is_estimated(self, loss):
        with pytest.raises(ValueError, match=rf"the {loss.name} loss estimates the sign .* 0\.3 "):
            loss.score_at(0.3)


QUARTERS = np.arange(-8, 9) / 4
COEFFICIENTS = np.array(list(itertools.product(QUARTERS, QUARTERS)))


@every_loss
class TestSignedRows:
    """c₊φ(t) + c₋φ(−t) for every pair of coefficients on a grid that holds zeros and ties."""

    def test_bounded_below(self, loss):
        neg, pos = COEFFICIENTS.T[:, :, None]
        near = np.linspace(-1e3, 1e3, 4001)
        far = np.array([-1e6, 1e6])
        lowest_near = (pos * loss.value(near) + neg * loss.value(-near)).min(axis=1)
        lowest_far = (pos * loss.value(far) + neg * loss.value(-far)).min(axis=1)
        # Slopes on this grid are multiples of ¼, so a fall shows between 1e3 and 1e6.
        keeps_falling = lowest_far < lowest_near - 1.0
        np.testing.assert_array_equal(loss.is_bounded_below(COEFFICIENTS), ~keeps_falling)

    def test_concavity(self, loss):
        neg, pos = COEFFICIENTS.T[:, :, None]
        scores = np.linspace(-12, 12, 24_001)[::8]
        bend = pos * loss.curvature(scores) + neg * loss.curvature(-scores)
        worst = np.maximum(-bend.min(axis=1), 0)
        np.testing.assert_allclose(loss.concavity(COEFFICIENTS), worst, rtol=1e-4, atol=1e-14)


@losses_called("logistic", "squared", "huber")
def test_concavity_of_a_correction_is_the_negative_row_sum(loss):
    coef = np.array([[-0.6, 0.4], [-1.0, 2.0]])
    expected = [loss.curvature_bound * 0.2, 0]
    np.testing.assert_allclose(loss.concavity(coef), expected, rtol=1e-12)


@every_loss
class TestArrays:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_dtype_and_shape_are_kept(self, loss, dtype):
        margins = np.linspace(-3, 3, 12, dtype=dtype).reshape(3, 4)
        for part in (loss.value, loss.slope, loss.curvature):
            assert part(margins).dtype == dtype
            assert part(margins).shape == (3, 4)
        assert loss.concavity(margins[:, :2]).dtype == dtype

    def test_float32_is_as_accurate_as_it_can_be(self, loss):
        margins = np.linspace(-20, 20, 401, dtype=np.float32)
        exact = margins.astype(float)
        for part in (loss.value, loss.slope):
            np.testing.assert_allclose(part(margins), part(exact), rtol=2e-6, atol=1e-7)

    def test_integers_and_scalars_are_read_as_floats(self, loss):
        whole = np.array([-2, 0, 3])
        for part in (loss.value, loss.slope, loss.curvature):
            np.testing.assert_array_equal(part(whole), part(whole.astype(float)))
            assert part(whole).dtype == np.float64
            assert part(3) == part(3.0)

    def test_input_is_not_written_to(self, loss):
        margins = MARGINS.copy()
        for part in (loss.value, loss.slope, loss.curvature):
            part(margins)
        np.testing.assert_array_equal(margins, MARGINS)


def test_a_loss_equals_its_kind_only():
    for one, other in itertools.product(LOSSES.values(), repeat=2):
        again = type(one)()
        assert again == one
        assert hash(again) == hash(one)
        assert (one == other) == (one.name == other.name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_loss
def test_the_losses_of_both_labels_are_those_of_both_signs(loss, dtype):
    score = np.array([0.0, 1e-9, 0.3, 1.0, 2.5, 40.0, 900.0, 1e4])
    score = np.concatenate([-score[::-1], score]).astype(dtype)
    rtol = 4 * np.finfo(dtype).eps
    for both, one in ((loss.both_values, loss.value), (loss.both_slopes, loss.slope)):
        found_pos, found_neg = both(score)
        assert found_pos.dtype == found_neg.dtype == dtype
        np.testing.assert_allclose(found_pos, one(score), rtol=rtol)
        np.testing.assert_allclose(found_neg, one(-score), rtol=rtol, atol=rtol)
