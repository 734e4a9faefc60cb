"""Proportion matching: cross-entropy between each bag's shares and its mean probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.losses import log_probabilities, refuse_curvature, slope_in_scores
from decorrupt.observed import Observed
from decorrupt.risks.risk import Operator
from decorrupt.risks.segments import BagRows, Segments


@dataclass(frozen=True, eq=False)
class ProportionRisk:
    """−(1/M)·Σ_b (n_b/n̄)·Σ_c Γ_bc·log m_bc, m_bc = mean_{j∈b} P(Y_j=c), of the scores.

    Parameters
    ----------
    observed : Observed
        The bags and their class shares Γ.
    """

    observed: Observed

    @property
    def is_convex(self) -> bool:
        """Whether every bag has one row."""
        return bool((self._rows.segments.lengths == 1).all())

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        _, _, log_means, by_bag = self._sorted(scores)
        slope = np.empty(scores.shape)
        slope[self._rows.order] = by_bag
        return -float(np.vdot(self._weights, log_means)), slope

    def curvature(self, scores: FloatArray) -> Operator:
        """Return D + Σ_b Σ_c (n_b/n)·Γ_bc·r_bc·r_bcᵀ of two classes, r_bc = ∇log m_bc.

        D is diagonal, with the slope times 1 − 2σ(f).
        """
        refuse_curvature(scores)
        prob, shares, _, slope = self._sorted(scores)
        tilts = -shares[:, 0] * prob[:, 1], shares[:, 1] * prob[:, 0]
        diagonal = slope * (prob[:, 0] - prob[:, 1])
        bags = Segments(self._rows.segments.lengths)  # the tilts contain the weights

        def apply(v: FloatArray) -> FloatArray:
            sorted_v = v[self._rows.order]
            bent = (diagonal * sorted_v.T).T
            for weight, tilt in zip(self._weights.T, tilts, strict=True):
                by_bag = (weight * bags.sum((tilt * sorted_v.T).T).T).T
                bent += (tilt * bags.spread(by_bag).T).T
            result = np.empty_like(bent)
            result[self._rows.order] = bent
            return result

        return apply

    def _sorted(self, scores: FloatArray) -> tuple[FloatArray, ...]:
        """Return P(Y_j=c), its share in the bag's sum, log m_bc and the slope; sorted by bag."""
        bags = self._rows.segments
        log_prob = log_probabilities(scores[self._rows.order])
        log_sum = bags.log_sum(log_prob)
        prob, shares = np.exp(log_prob), np.exp(log_prob - bags.spread(log_sum))
        if bags.weights is not None:
            shares *= bags.weights[:, None]
        slope = slope_in_scores(-bags.spread(self._weights) * shares, prob)
        return prob, shares, log_sum - np.log(bags.sizes)[:, None], slope

    @cached_property
    def _weights(self) -> FloatArray:
        observed = self.observed
        return np.asarray(observed.sizes[:, None] / observed.n_rows * observed.proportions)

    @cached_property
    def _rows(self) -> BagRows:
        return BagRows(self.observed)
