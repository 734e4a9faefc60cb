"""The corrected risk Σ_j coef_pos·ℓ(f_j,1) + coef_neg·ℓ(f_j,−1) as a function of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import ClassCombination, Combination, RiskTerms, Strata
from decorrupt.losses import MarginLoss, get_loss
from decorrupt.risks.multiclass import ClassCorrectedRisk
from decorrupt.risks.score_risk import Operator

RISK_CORRECTIONS = (None, "abs", "relu")
# The kinks of |r| and max(r, 0) are smoothed over this width, in units of risk. The minimum is
# often exactly on a kink, where gradient-based solvers would not converge.
KINK_WIDTH = 1e-3


@dataclass(frozen=True)
class CorrectedRisk:
    """g(R₊(f)) + g(R₋(f)), where R₊ and R₋ are the class-wise sums of a corrected risk.

    Parameters
    ----------
    terms : RiskTerms
        Two coefficients per row.
    loss : MarginLoss
        φ.
    correction : {None, "abs", "relu"}
        g: the identity, |r| or max(r, 0); the last two are smoothed at zero. Each true class risk
        is at least zero, so a negative sum is a sign of overfitting (Lu et al. 2020). It is
        applied to the sums over all strata, because the terms of one stratum can be negative.
    """

    terms: RiskTerms
    loss: MarginLoss
    correction: str | None = None

    def __post_init__(self) -> None:
        if self.correction not in RISK_CORRECTIONS:
            raise ValueError(
                f"unknown risk_correction {self.correction!r}: choose None, 'abs' or 'relu'"
            )

    @property
    def effective_sample_size(self) -> float:
        """The number of clean labelled rows with the same error bound."""
        return self.terms.effective_sample_size

    @cached_property
    def is_convex(self) -> bool:
        """Whether the term of every row is convex; always False with "abs" or "relu"."""
        return self.correction is None and not self.terms.concavity(self.loss).any()

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        (value_pos, weight_pos, _), (value_neg, weight_neg, _) = self._outer(scores)
        slope_pos, slope_neg = self._class_slopes(scores)
        return value_pos + value_neg, weight_pos * slope_pos + weight_neg * slope_neg

    def row_values(self, scores: FloatArray) -> FloatArray:
        """Return the term of each row, before a correction of their sums."""
        return self.terms.row_values(self.loss, scores)

    def curvature(self, scores: FloatArray) -> Operator:
        """Return D + s₊·r₊r₊ᵀ + s₋·r₋r₋ᵀ: D from the rows, rank two from the smoothed kinks."""
        (_, weight_pos, bend_pos), (_, weight_neg, bend_neg) = self._outer(scores)
        diagonal = weight_pos * self.terms.coef_pos * self.loss.curvature(
            scores
        ) + weight_neg * self.terms.coef_neg * self.loss.curvature(-scores)
        if self.correction is None:
            return lambda v: (diagonal * v.T).T
        slope_pos, slope_neg = self._class_slopes(scores)

        def apply(v: FloatArray) -> FloatArray:
            shared = np.multiply.outer(slope_pos, bend_pos * (slope_pos @ v))
            shared += np.multiply.outer(slope_neg, bend_neg * (slope_neg @ v))
            return np.asarray((diagonal * v.T).T + shared)

        return apply

    def _class_slopes(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        slope_pos, slope_neg = self.loss.both_slopes(scores)
        return self.terms.coef_pos * slope_pos, -self.terms.coef_neg * slope_neg

    def _outer(self, scores: FloatArray) -> tuple[tuple[float, float, float], ...]:
        """Return (g, g', g'') at the two class-wise sums."""
        sums = self.terms.class_sums(self.loss, scores)
        return tuple(corrected_sum(total, self.correction) for total in sums)


def corrected_sum(total: float, correction: str | None) -> tuple[float, float, float]:
    """Return g, g' and g'' at the sum of one class, see :class:`CorrectedRisk`."""
    if correction is None:
        return total, 1.0, 0.0
    rounded = float(np.hypot(total, KINK_WIDTH))  # |r|, smoothed
    tilt, bend = total / rounded, (KINK_WIDTH / rounded) ** 2 / rounded
    if correction == "abs":
        return rounded, tilt, bend
    return (total + rounded) / 2, (1 + tilt) / 2, bend / 2


def logistic_risk(
    combination: Combination | ClassCombination, strata: Strata
) -> CorrectedRisk | ClassCorrectedRisk:
    """Return the combined risk with the logistic loss, or cross-entropy for several classes."""
    if isinstance(combination, ClassCombination):
        return ClassCorrectedRisk(combination.row_coef(strata))
    return CorrectedRisk(combination.row_terms(strata), get_loss("logistic"))
