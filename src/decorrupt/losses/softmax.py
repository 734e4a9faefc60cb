"""Softmax cross-entropy, the logistic loss of several classes."""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses.margin import RESIDUE
from decorrupt.losses.scores import log_probabilities, refuse_curvature, slope_in_scores


class SoftmaxLoss:
    """ℓ_c(f) = log Σ_c' exp(f_c') − f_c, for scores with one column per class.

    It has the interface of :class:`decorrupt.losses.MarginLoss` for weighted sums over rows, and
    for two classes the same values at f₁ − f₀.
    """

    name = "logistic"
    lipschitz = math.sqrt(2)  # in the Euclidean norm of the scores
    curvature_bound = 0.25  # with the penalty 2λ‖Θ‖² what ¼ is for one score with λ‖θ‖²
    is_convex = True

    def class_values(self, scores: FloatArray) -> FloatArray:
        """Return ℓ_c(f) for every class, shape (n_rows, n_classes)."""
        return -log_probabilities(scores)

    def class_sums(self, coef: FloatArray, scores: FloatArray) -> FloatArray:
        """Return Σ_j coef[j, c]·ℓ_c(f_j) for every class."""
        return np.asarray(-np.einsum("jc,jc->c", coef, log_probabilities(scores)))

    def row_sums(self, coef: FloatArray, scores: FloatArray) -> FloatArray:
        """Return Σ_c coef[j, c]·ℓ_c(f_j) for every row."""
        return np.asarray(-np.einsum("jc,jc->j", coef, log_probabilities(scores)))

    def row_slopes(self, coef: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the slope of :meth:`row_sums` in the scores."""
        return slope_in_scores(-coef, np.exp(log_probabilities(scores)))

    def row_curvatures(self, coef: FloatArray, scores: FloatArray) -> NoReturn:  # noqa: ARG002
        """Raise a ValueError: the curvature is not implemented, and L-BFGS does not need it."""
        refuse_curvature(scores)
        raise AssertionError

    def row_noise(self, coef: FloatArray) -> FloatArray:
        """Return 4·mean_c coef[j, c]² of each row.

        For two classes with opposite coefficients that is (|coef_neg|+|coef_pos|)².
        """
        return np.asarray(4 * np.square(coef, dtype=float).mean(axis=1))

    def is_bounded_below(self, coef: ArrayLike) -> NDArray[np.bool_]:
        """Return for every row whether no coefficient is negative."""
        return np.asarray((np.asarray(coef) >= 0).all(axis=1))

    def concavity(self, coef: ArrayLike) -> FloatArray:
        """Return ¼·max(0, −Σ_c coef[j, c]) of every row, up to rounding: 0 means convex."""
        coef = np.asarray(coef)
        total, residue = coef.sum(axis=1), RESIDUE * np.finfo(float).eps * np.abs(coef).sum(axis=1)
        return self.curvature_bound * np.where(total < -residue, -total, 0.0)

    def at_zero(self, n_classes: int) -> float:
        """Return log K, the loss of every class at equal scores."""
        return math.log(n_classes)

    def __repr__(self) -> str:
        return "SoftmaxLoss()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))
