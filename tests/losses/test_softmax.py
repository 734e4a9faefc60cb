"""Losses of any number of classes: sums over rows, derivatives, noise, bounds."""

import math
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import log_softmax

from decorrupt.losses import LOSSES, SoftmaxLoss, class_loss
from oracles.dense_risk import central_differences

SOFTMAX = SoftmaxLoss()
CASES = [(name, 2) for name in LOSSES] + [("logistic", 3), ("logistic", 5)]
every_loss = pytest.mark.parametrize(("name", "n_classes"), CASES)


def draw(n_classes, n_rows=7, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_rows if n_classes == 2 else (n_rows, n_classes))
    return rng.normal(size=(n_rows, n_classes)), 1.5 * scores


def test_the_loss_of_two_classes_is_a_margin_loss_and_that_of_several_cross_entropy():
    assert class_loss("huber", 2) is LOSSES["huber"]
    assert class_loss("logistic", 2) is LOSSES["logistic"]
    assert class_loss("logistic", 3) == SoftmaxLoss()
    assert hash(class_loss("logistic", 3)) == hash(SoftmaxLoss())
    assert repr(SoftmaxLoss()) == "SoftmaxLoss()"
    assert SoftmaxLoss() != LOSSES["logistic"]


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "logistic"])
def test_other_losses_are_for_two_classes(name):
    with pytest.raises(
        ValueError, match=f"loss='{name}', and y has 3 classes: use loss='logistic'"
    ):
        class_loss(name, 3)


def test_values_are_minus_the_log_probabilities():
    _, scores = draw(3)
    assert_allclose(SOFTMAX.class_values(scores), -log_softmax(scores, axis=1), rtol=1e-12)
    assert_allclose(SOFTMAX.class_values(np.zeros((1, 4))), SOFTMAX.at_zero(4))
    assert SOFTMAX.at_zero(4) == math.log(4)


@every_loss
def test_sums_over_rows_and_over_classes(name, n_classes):
    loss, (coef, scores) = class_loss(name, n_classes), draw(n_classes)
    values = loss.class_values(scores)
    assert values.shape == coef.shape
    assert_allclose(loss.class_sums(coef, scores), np.sum(coef * values, axis=0), rtol=1e-10)
    assert_allclose(loss.row_sums(coef, scores), np.sum(coef * values, axis=1), rtol=1e-10)


@every_loss
def test_slopes_are_the_derivatives(name, n_classes):
    loss, (coef, scores) = class_loss(name, n_classes), draw(n_classes)
    numeric = central_differences(
        lambda f: loss.row_sums(coef, f.reshape(scores.shape)).sum(), scores.ravel()
    )
    slopes = loss.row_slopes(coef, scores)
    assert slopes.shape == scores.shape
    assert_allclose(slopes.ravel(), numeric, atol=1e-8)


@pytest.mark.parametrize("name", LOSSES)
def test_curvatures_of_two_classes_are_the_derivatives(name):
    loss, (coef, scores) = LOSSES[name], draw(2)
    numeric = central_differences(lambda f: loss.row_slopes(coef, f), scores)
    assert_allclose(loss.row_curvatures(coef, scores), np.diag(numeric), atol=1e-7)


def test_curvatures_of_several_classes_are_refused():
    coef, scores = draw(3)
    with pytest.raises(ValueError, match=r"3 classes.*use solver='lbfgs'"):
        SOFTMAX.row_curvatures(coef, scores)


@every_loss
def test_noise_of_a_row(name, n_classes):
    coef, _ = draw(n_classes)
    noise = class_loss(name, n_classes).row_noise(coef)
    for row, found in zip(coef, noise, strict=True):
        by_hand = sum(map(abs, row)) ** 2 if n_classes == 2 else 4 * np.mean(row**2)
        assert found == pytest.approx(by_hand)
    opposite = np.column_stack([coef[:, 0], -coef[:, 0]])
    assert_allclose(SOFTMAX.row_noise(opposite), LOSSES["logistic"].row_noise(opposite))


def test_bounded_below_only_without_a_negative_coefficient():
    coef = np.array([[0.5, 0.0, 0.1], [0.5, -1e-9, 0.1], [0.0, 0.0, 0.0]])
    assert SOFTMAX.is_bounded_below(coef).tolist() == [True, False, True]
    far = 1e12 * np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
    lowest = [SOFTMAX.row_sums(np.tile(row, (2, 1)), far).min() for row in coef]
    assert [value > -100 for value in lowest] == [True, False, True]


def _slope_of_row(coef, scores):
    return SOFTMAX.row_slopes(coef, scores[None])[0]


@pytest.mark.parametrize("n_classes", [3, 4])
def test_concavity_bounds_the_negative_curvature(n_classes):
    """Along Θ with the penalty 2λ‖Θ‖², a quarter does what it does for one score with λ‖θ‖²."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        coef = rng.normal(size=(1, n_classes))
        concavity = SOFTMAX.concavity(coef)[0]
        assert concavity == pytest.approx(0.25 * max(0.0, -coef.sum()))
        scores = 3 * rng.normal(size=n_classes)
        hessian = central_differences(partial(_slope_of_row, coef), scores)
        # 2λ‖Θ‖² has the Hessian 4λ·I: the curvature is above −2·concavity.
        assert np.linalg.eigvalsh((hessian + hessian.T) / 2).min() >= -2 * concavity - 1e-7


def test_rounding_residue_is_not_concavity():
    coef = np.array([[0.3, -0.1, -0.2], [0.3, -0.1, -0.2 - 1e-9]])
    assert coef[0].sum() != 0
    found = SOFTMAX.concavity(coef)
    assert found[0] == 0.0
    assert found[1] == pytest.approx(2.5e-10, rel=1e-6)


def test_the_lipschitz_constant_is_the_supremum():
    scores = 40 * np.eye(3)
    slopes = SOFTMAX.row_slopes(np.roll(np.eye(3), 1, axis=0), scores)
    assert_allclose(np.linalg.norm(slopes, axis=1), SOFTMAX.lipschitz)
