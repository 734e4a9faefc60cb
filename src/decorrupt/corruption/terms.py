"""Risk terms: every risk is a weighted sum of losses with two coefficients per row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.losses import MarginLoss


@dataclass(frozen=True)
class RiskTerms:
    """risk(f) = Σ_j coef_pos[j]·ℓ(f(x_j), +1) + coef_neg[j]·ℓ(f(x_j), −1).

    The combinations and corrections compute the coefficients; the solvers minimise the sum.
    Coefficients may be negative: a correction subtracts the effect of wrong labels.
    """

    coef_pos: FloatArray
    coef_neg: FloatArray

    def class_sums(self, loss: MarginLoss, scores: FloatArray) -> tuple[float, float]:
        """Return the two class-wise sums, whose expectations are never negative."""
        value_pos, value_neg = loss.both_values(scores)
        return float(np.dot(self.coef_pos, value_pos)), float(np.dot(self.coef_neg, value_neg))

    def row_values(self, loss: MarginLoss, scores: FloatArray) -> FloatArray:
        """Return the term of each row."""
        value_pos, value_neg = loss.both_values(scores)
        return np.asarray(self.coef_pos * value_pos + self.coef_neg * value_neg)

    def risk(self, loss: MarginLoss, scores: FloatArray) -> float:
        """Return the sum of both; on a sample it can be negative."""
        return sum(self.class_sums(loss, scores))

    @property
    def effective_sample_size(self) -> float:
        """1/Σ(|coef_pos|+|coef_neg|)²: the number of clean labelled rows with the same bound.

        The sum is the factor under the root of the generalisation bound; it is 1/n for n clean
        rows of weight 1/n.
        """
        return float(1 / self.row_noise.sum())

    @property
    def row_noise(self) -> FloatArray:
        """(|coef_pos|+|coef_neg|)² of each row, its part of the variance of the risk."""
        return np.asarray((np.abs(self.coef_pos) + np.abs(self.coef_neg)).astype(float) ** 2)

    def is_bounded_below(self, loss: MarginLoss) -> bool:
        """Return whether the risk is bounded below over all scores (free for each row)."""
        return bool(loss.is_bounded_below(self.coef_pos, self.coef_neg).all())

    def concavity(self, loss: MarginLoss) -> FloatArray:
        """Return the largest negative curvature of each row; all zeros means convex in f.

        For losses of even curvature this is exact: convex iff coef_pos + coef_neg ≥ 0 in every
        row. Prop. 7 of the paper requires this of the total only, which is not enough unless
        all rows have the same score.
        """
        floor = loss.row_curvature_floor(self.coef_pos, self.coef_neg)
        # Coefficients that cancel in exact arithmetic leave a rounding error, not concavity.
        residue = (np.abs(self.coef_pos) + np.abs(self.coef_neg)) * loss.curvature_bound
        eps = np.finfo(self.coef_pos.dtype).eps
        return np.where(floor > 64 * eps * residue, floor, 0.0)
