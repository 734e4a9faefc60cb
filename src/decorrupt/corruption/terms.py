"""The narrow waist: a risk is two coefficients a row, whatever made them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.losses import MarginLoss


@dataclass(frozen=True)
class RiskTerms:
    """risk(f) = Σ_j coef_pos[j]·ℓ(f(x_j), +1) + coef_neg[j]·ℓ(f(x_j), −1).

    Everything before this class only makes the coefficients, everything after it only
    minimises the sum. The coefficients may be negative: that is what a correction does.
    """

    coef_pos: FloatArray
    coef_neg: FloatArray

    def class_sums(self, loss: MarginLoss, scores: FloatArray) -> tuple[float, float]:
        """Return the two class-wise sums, whose expectations are never negative."""
        sum_pos = np.dot(self.coef_pos, loss.value(scores))
        sum_neg = np.dot(self.coef_neg, loss.value(-scores))
        return float(sum_pos), float(sum_neg)

    def risk(self, loss: MarginLoss, scores: FloatArray) -> float:
        """Return the whole signed sum; on a sample it can fall below zero."""
        return sum(self.class_sums(loss, scores))

    @property
    def effective_sample_size(self) -> float:
        """1/Σ(|coef_pos|+|coef_neg|)²: clean labelled rows that would give the same bound.

        The sum is the factor under the root of the generalisation bound; n clean rows of weight
        1/n make it 1/n.
        """
        squares = np.square(np.abs(self.coef_pos) + np.abs(self.coef_neg), dtype=float)
        return float(1 / squares.sum())

    def is_bounded_below(self, loss: MarginLoss) -> bool:
        """Tell whether no choice of scores drives the risk to −∞ (scores free, row by row)."""
        return bool(loss.is_bounded_below(self.coef_pos, self.coef_neg).all())

    def concavity(self, loss: MarginLoss) -> FloatArray:
        """Return by how much each row can bend downwards; all zeros means convex in f.

        For losses of even curvature that is exact: convex iff coef_pos + coef_neg ≥ 0 in
        every row. Prop. 7 of the paper asks it of the total only, which is not enough
        (one score shared by all rows).
        """
        floor = loss.row_curvature_floor(self.coef_pos, self.coef_neg)
        # Coefficients that cancel exactly on paper leave a rounding residue; it is not concavity.
        residue = (np.abs(self.coef_pos) + np.abs(self.coef_neg)) * loss.curvature_bound
        eps = np.finfo(self.coef_pos.dtype).eps
        return np.where(floor > 64 * eps * residue, floor, 0.0)
