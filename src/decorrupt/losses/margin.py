"""Margin losses with their derivatives and constants.

Conventions
-----------
- A loss is a function φ of the margin m = y·t, y ∈ {−1, +1}; ℓ(t, y) = φ(y·t).
- ``value``, ``slope``, ``curvature`` are φ, φ', φ'' elementwise; float32 in, float32 out.
- All are finite and accurate for |m| up to 1e4.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from decorrupt._typing import FloatArray

# Rounding errors of coefficients that cancel, in units of the precision.
RESIDUE = 64


def _as_float(margin: ArrayLike) -> FloatArray:
    margin = np.asarray(margin)
    return margin if margin.dtype.kind == "f" else margin.astype(np.float64)


class MarginLoss(ABC):
    """φ(m), a loss that depends on the score t and the label y only through m = y·t.

    Attributes
    ----------
    name : str
        The name for :func:`decorrupt.losses.get_loss`.
    lipschitz : float
        sup |φ'|, infinite for the squared loss.
    at_zero : float
        φ(0), the risk of the score 0.
    curvature_bound : float
        sup |φ''|.
    is_convex : bool
        Whether φ'' ≥ 0 everywhere.
    is_calibrated : bool
        Whether φ'(0) < 0 (for a convex φ: classification calibrated, Bartlett et al. 2006).
    is_symmetric : bool
        Whether ℓ(t, 1) + ℓ(t, −1) is constant; such a loss needs no correction if both classes have
        the same noise rate.
    has_even_curvature : bool
        Whether ℓ''(t, 1) = ℓ''(t, −1), i.e. φ'' is even: the condition of Props. 6 and 7.
    slope_limits : tuple of float
        (lim φ' at −∞, lim φ' at +∞), which determine whether a signed sum is bounded below.
    """

    name: ClassVar[str]
    lipschitz: ClassVar[float]
    at_zero: ClassVar[float]
    curvature_bound: ClassVar[float]
    is_convex: ClassVar[bool]
    is_calibrated: ClassVar[bool] = True
    is_symmetric: ClassVar[bool] = False
    has_even_curvature: ClassVar[bool]
    slope_limits: ClassVar[tuple[float, float]]

    @abstractmethod
    def value(self, margin: ArrayLike) -> FloatArray:
        """Return φ(m)."""

    @abstractmethod
    def slope(self, margin: ArrayLike) -> FloatArray:
        """Return φ'(m)."""

    @abstractmethod
    def curvature(self, margin: ArrayLike) -> FloatArray:
        """Return φ''(m)."""

    def both_values(self, score: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return φ(t) and φ(−t), the losses of both labels."""
        score = _as_float(score)
        return self.value(score), self.value(-score)

    def both_slopes(self, score: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return φ'(t) and φ'(−t)."""
        score = _as_float(score)
        return self.slope(score), self.slope(-score)

    def score_at(self, probability: float) -> float:
        """Return argmin_t p·φ(t) + (1−p)·φ(−t): the optimal score where P(Y=1|x) = p.

        Raises
        ------
        ValueError
            If the loss is symmetric: it has no finite minimiser and estimates the sign only.
        """
        raise ValueError(
            f"the {self.name} loss estimates the sign of P(Y=1|x) − ½ only, "
            f"so its score at probability {probability:g} is not defined"
        )

    def class_values(self, score: ArrayLike) -> FloatArray:
        """Return ℓ_c(t) for both classes, shape (n_rows, 2): φ(−t) and φ(t)."""
        return np.column_stack(self.both_values(score)[::-1])

    def class_sums(self, coef: FloatArray, score: ArrayLike) -> FloatArray:
        """Return Σ_j coef[j, c]·ℓ_c(t_j) for both classes."""
        value_pos, value_neg = self.both_values(score)
        return np.array([np.dot(coef[:, 0], value_neg), np.dot(coef[:, 1], value_pos)])

    def row_sums(self, coef: FloatArray, score: ArrayLike) -> FloatArray:
        """Return Σ_c coef[j, c]·ℓ_c(t_j) for every row."""
        value_pos, value_neg = self.both_values(score)
        return np.asarray(coef[:, 0] * value_neg + coef[:, 1] * value_pos)

    def row_slopes(self, coef: FloatArray, score: ArrayLike) -> FloatArray:
        """Return the slope of :meth:`row_sums` in the score."""
        slope_pos, slope_neg = self.both_slopes(score)
        return np.asarray(coef[:, 1] * slope_pos - coef[:, 0] * slope_neg)

    def row_curvatures(self, coef: FloatArray, score: ArrayLike) -> FloatArray:
        """Return the second derivative of :meth:`row_sums` in the score."""
        score = _as_float(score)
        return np.asarray(coef[:, 1] * self.curvature(score) + coef[:, 0] * self.curvature(-score))

    def row_noise(self, coef: FloatArray) -> FloatArray:
        """Return (|coef_neg|+|coef_pos|)² of each row, its part of the variance of the risk.

        It bounds the variance of the row's term, in units of that of a labelled row.
        """
        return np.asarray(np.abs(coef).sum(axis=1).astype(float) ** 2)

    def is_bounded_below(self, coef: ArrayLike) -> NDArray[np.bool_]:
        """Return for every row whether inf_t c₊·φ(t) + c₋·φ(−t) > −∞; coef has columns c₋, c₊."""
        neg, pos = np.asarray(coef).T
        slope_left, slope_right = self.slope_limits
        rises_right = pos * slope_right - neg * slope_left >= 0
        rises_left = pos * slope_left - neg * slope_right <= 0
        return np.asarray(rises_right & rises_left)

    def concavity(self, coef: ArrayLike) -> FloatArray:
        """Return sup_t max(0, −[c₊·φ''(t) + c₋·φ''(−t)]) of every row: 0 means convex.

        Coefficients that cancel in exact arithmetic leave a rounding error, not concavity.
        """
        coef = _as_float(coef)
        neg, pos = coef.T
        # Symmetric losses have an odd φ'': c₊φ''(t) + c₋φ''(−t) = (c₊−c₋)φ''(t).
        most = np.maximum(-(pos + neg), 0.0) if self.has_even_curvature else np.abs(pos - neg)
        residue = RESIDUE * np.finfo(coef.dtype).eps * (np.abs(pos) + np.abs(neg))
        return np.asarray(self.curvature_bound * np.where(most > residue, most, 0.0))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class LogisticLoss(MarginLoss):
    """φ(m) = log(1 + exp(−m)); its optimal score is the log-odds for the target prior."""

    name = "logistic"
    lipschitz = 1.0
    at_zero = math.log(2.0)
    curvature_bound = 0.25
    is_convex = True
    has_even_curvature = True
    slope_limits = (-1.0, 0.0)

    def value(self, margin: ArrayLike) -> FloatArray:
        """Return φ(m) = max(−m, 0) + log1p(exp(−|m|)), which does not overflow."""
        margin = _as_float(margin)
        return np.asarray(np.maximum(-margin, 0) + np.log1p(np.exp(-np.abs(margin))))

    def slope(self, margin: ArrayLike) -> FloatArray:
        """Return φ'(m) = −σ(−m)."""
        return np.asarray(-expit(-_as_float(margin)))

    def both_values(self, score: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return φ(t) and φ(−t); the logarithm, which takes most of the time, is the same."""
        score = _as_float(score)
        shared = np.log1p(np.exp(-np.abs(score)))
        return np.maximum(-score, 0) + shared, np.maximum(score, 0) + shared

    def both_slopes(self, score: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return −σ(−t) and −σ(t), which is −1 minus the first."""
        slope = self.slope(score)
        return slope, -1 - slope

    def curvature(self, margin: ArrayLike) -> FloatArray:
        """Return φ''(m) = σ(m)·σ(−m)."""
        margin = _as_float(margin)
        return np.asarray(expit(margin) * expit(-margin))

    def score_at(self, probability: float) -> float:
        """Return log(p / (1−p)), infinite at 0 and 1."""
        return float(logit(probability))


class _QuadraticAtZeroLoss(MarginLoss):
    """Base of the squared and Huber losses: (1−m)² around zero, hence the link t = 2p − 1."""

    at_zero = 1.0
    curvature_bound = 2.0
    is_convex = True
    has_even_curvature = True

    def score_at(self, probability: float) -> float:
        """Return 2p − 1."""
        return 2.0 * probability - 1.0


class SquaredLoss(_QuadraticAtZeroLoss):
    """φ(m) = (1 − m)²; not Lipschitz, so the paper's bounds do not cover it."""

    name = "squared"
    lipschitz = math.inf
    slope_limits = (-math.inf, math.inf)

    def value(self, margin: ArrayLike) -> FloatArray:
        """Return φ(m) = (1 − m)²."""
        return np.asarray((1 - _as_float(margin)) ** 2)

    def slope(self, margin: ArrayLike) -> FloatArray:
        """Return φ'(m) = −2(1 − m)."""
        return np.asarray(-2 * (1 - _as_float(margin)))

    def curvature(self, margin: ArrayLike) -> FloatArray:
        """Return φ''(m) = 2."""
        return np.full_like(_as_float(margin), 2.0)

    def is_bounded_below(self, coef: ArrayLike) -> NDArray[np.bool_]:
        """Return whether the parabola (c₊+c₋)t² − 2(c₊−c₋)t opens upwards or is constant."""
        neg, pos = np.asarray(coef).T
        return np.asarray((pos + neg > 0) | ((pos == 0) & (neg == 0)))


class HuberLoss(_QuadraticAtZeroLoss):
    """φ(m) = −4m below −1, (1 − m)² on [−1, 1], 0 above 1 (the modified Huber loss)."""

    name = "huber"
    lipschitz = 4.0
    slope_limits = (-4.0, 0.0)

    def value(self, margin: ArrayLike) -> FloatArray:
        """Return φ(m)."""
        margin = _as_float(margin)
        inner = np.clip(margin, -1, 1)
        return np.asarray((1 - inner) ** 2 + 4 * np.maximum(-1 - margin, 0))

    def slope(self, margin: ArrayLike) -> FloatArray:
        """Return φ'(m) = −2(1 − m), constant outside [−1, 1]."""
        return np.asarray(-2 * (1 - np.clip(_as_float(margin), -1, 1)))

    def curvature(self, margin: ArrayLike) -> FloatArray:
        """Return φ''(m) = 2 inside (−1, 1), 0 outside; 0 at ±1, so that φ'' is even."""
        margin = _as_float(margin)
        return (2 * (np.abs(margin) < 1)).astype(margin.dtype)


class SigmoidLoss(MarginLoss):
    """φ(m) = 1 / (1 + exp(m)); bounded and symmetric, not convex."""

    name = "sigmoid"
    lipschitz = 0.25
    at_zero = 0.5
    curvature_bound = 1 / (6 * math.sqrt(3.0))
    is_convex = False
    is_symmetric = True
    has_even_curvature = False
    slope_limits = (0.0, 0.0)

    def value(self, margin: ArrayLike) -> FloatArray:
        """Return φ(m) = σ(−m)."""
        return np.asarray(expit(-_as_float(margin)))

    def slope(self, margin: ArrayLike) -> FloatArray:
        """Return φ'(m) = −σ(m)σ(−m)."""
        margin = _as_float(margin)
        return np.asarray(-expit(margin) * expit(-margin))

    def curvature(self, margin: ArrayLike) -> FloatArray:
        """Return φ''(m) = σ(m)σ(−m)·tanh(m/2), an odd function."""
        margin = _as_float(margin)
        return np.asarray(expit(margin) * expit(-margin) * np.tanh(margin / 2))
