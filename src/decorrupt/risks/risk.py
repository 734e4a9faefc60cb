"""Risks as functions of the scores: their interface, and the corrected risk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import row_coefficients
from decorrupt.losses import MarginLoss, SoftmaxLoss, class_loss
from decorrupt.observed import Observed

Operator = Callable[[FloatArray], FloatArray]
RISK_CORRECTIONS = (None, "abs", "relu")
# The kinks of |r| and max(r, 0) are smoothed over this width, in units of risk. The minimum is
# often exactly on a kink, where gradient-based solvers would not converge.
KINK_WIDTH = 1e-3


class ScoreRisk(Protocol):
    """A smooth function of the scores: one per row, or one per row and class."""

    @property
    def is_convex(self) -> bool:
        """Whether it is known to be convex in the scores."""

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""

    def curvature(self, scores: FloatArray) -> Operator:
        """Return the Hessian in the scores, as an operator on vectors or on columns."""


@dataclass(frozen=True, eq=False)
class CorrectedRisk:
    """Σ_c g(R_c(f)), where R_c = Σ_j coef[j, c]·ℓ_c(f_j) is the sum of class c.

    Every setting of the paper is such a risk: noise rates, combinations of bags, pairs and weights
    only make the coefficients. g is the identity, or with a correction |r| ("abs") or max(r, 0)
    ("relu"), both smoothed: the expectation of R_c is never negative, its estimate can be.

    Parameters
    ----------
    coef : ndarray of shape (n_rows, n_classes)
        The coefficients; they can be negative.
    loss : MarginLoss or SoftmaxLoss
        ℓ, from :func:`decorrupt.losses.class_loss`.
    correction : {None, "abs", "relu"}
        g (Lu et al. 2020).
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents; the coefficients are the sums of theirs.
    """

    coef: FloatArray
    loss: MarginLoss | SoftmaxLoss
    correction: str | None = None
    weights: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if self.correction not in RISK_CORRECTIONS:
            raise ValueError(
                f"unknown risk_correction {self.correction!r}: choose None, 'abs' or 'relu'"
            )

    @property
    def effective_sample_size(self) -> float:
        """The number of clean labelled rows whose mean loss is as noisy."""
        noise = self.loss.row_noise(self.coef)
        return float(1 / np.sum(noise if self.weights is None else noise / self.weights))

    @cached_property
    def is_convex(self) -> bool:
        """Whether the term of every row is convex; always False with "abs" or "relu"."""
        return self.correction is None and not self.loss.concavity(self.coef).any()

    @property
    def is_bounded_below(self) -> bool:
        """Whether the sum without correction is bounded below over all scores of the rows."""
        return bool(self.loss.is_bounded_below(self.coef).all())

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        values, weights, _ = self._outer(scores)
        coef = self.coef if self.correction is None else self.coef * weights
        return float(values.sum()), self.loss.row_slopes(coef, scores)

    def row_values(self, scores: FloatArray) -> FloatArray:
        """Return the term of each row, before a correction of their sums."""
        return self.loss.row_sums(self.coef, scores)

    def curvature(self, scores: FloatArray) -> Operator:
        """Return D + Σ_c s_c·r_c·r_cᵀ: D from the rows, rank one per class from smoothed kinks."""
        _, weights, bends = self._outer(scores)
        diagonal = self.loss.row_curvatures(self.coef * weights, scores)
        if self.correction is None:
            return lambda v: (diagonal * v.T).T
        slopes = [self.loss.row_slopes(self.coef * own, scores) for own in np.eye(len(weights))]

        def apply(v: FloatArray) -> FloatArray:
            bent = (diagonal * v.T).T
            for slope, bend in zip(slopes, bends, strict=True):
                bent += np.multiply.outer(slope, bend * (slope @ v))
            return np.asarray(bent)

        return apply

    def _outer(self, scores: FloatArray) -> tuple[FloatArray, ...]:
        sums = self.loss.class_sums(self.coef, scores).astype(float, copy=False)
        return corrected_sum(sums, self.correction)


def corrected_sum(sums: FloatArray, correction: str | None) -> tuple[FloatArray, ...]:
    """Return g, g' and g'' at the sums of the classes, see :class:`CorrectedRisk`."""
    if correction is None:
        return sums, np.ones_like(sums), np.zeros_like(sums)
    rounded = np.hypot(sums, KINK_WIDTH)  # |r|, smoothed
    tilt, bend = sums / rounded, (KINK_WIDTH / rounded) ** 2 / rounded
    if correction == "abs":
        return rounded, tilt, bend
    return (sums + rounded) / 2, (1 + tilt) / 2, bend / 2


def logistic_risk(combination: FloatArray, observed: Observed) -> CorrectedRisk:
    """Return the risk of a combination of bags with the logistic loss, or cross-entropy."""
    loss = class_loss("logistic", observed.n_classes)
    return CorrectedRisk(row_coefficients(combination, observed), loss, weights=observed.weights)
