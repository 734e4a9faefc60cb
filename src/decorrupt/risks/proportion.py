"""Proportion matching: cross-entropy between each bag's shares and its mean probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import log_probabilities, refuse_curvature, slope_in_scores
from decorrupt.observed import Observed
from decorrupt.risks.bag_rows import observed_segments
from decorrupt.risks.score_risk import Operator
from decorrupt.risks.segments import Segments


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
        return bool((self._bags.lengths == 1).all())

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        log_prob, log_sum = self._log_sums(scores)
        log_means = log_sum - np.log(self._bags.sizes)[:, None]
        slope = np.empty(scores.shape)
        slope[self._by_bag] = self._slope(log_prob, log_sum)
        return -float(np.vdot(self._weights, log_means)), slope

    def curvature(self, scores: FloatArray) -> Operator:
        """Return D + Σ_b Σ_c (n_b/n)·Γ_bc·r_bc·r_bcᵀ of two classes, r_bc = ∇log m_bc.

        D is diagonal, with the slope times 1 − 2σ(f).
        """
        refuse_curvature(scores)
        log_prob, log_sum = self._log_sums(scores)
        prob, bags, order = np.exp(log_prob), self._bags, self._by_bag
        shares = self._shares(log_prob, log_sum)
        tilts = -shares[:, 0] * prob[:, 1], shares[:, 1] * prob[:, 0]
        diagonal = self._slope(log_prob, log_sum) * (prob[:, 0] - prob[:, 1])
        unweighted = Segments(bags.lengths)  # the tilts contain the weights

        def apply(v: FloatArray) -> FloatArray:
            sorted_v = v[order]
            bent = (diagonal * sorted_v.T).T
            for weight, tilt in zip(self._weights.T, tilts, strict=True):
                by_bag = (weight * unweighted.sum((tilt * sorted_v.T).T).T).T
                bent += (tilt * bags.spread(by_bag).T).T
            found = np.empty_like(bent)
            found[order] = bent
            return np.asarray(found)

        return apply

    def _log_sums(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(Y_j=c), sorted by bag, and the logarithms of their sums over each bag."""
        log_prob = log_probabilities(scores[self._by_bag])
        return log_prob, self._bags.log_sum(log_prob)

    def _slope(self, log_prob: FloatArray, log_sum: FloatArray) -> FloatArray:
        """Return the slope of the rows sorted by bag."""
        shares = self._shares(log_prob, log_sum)
        return slope_in_scores(-self._bags.spread(self._weights) * shares, np.exp(log_prob))

    def _shares(self, log_prob: FloatArray, log_sum: FloatArray) -> FloatArray:
        """Return the share of each row in its bag's sum, by class."""
        shares = np.exp(log_prob - self._bags.spread(log_sum))
        weights = self._bags.weights
        return shares if weights is None else shares * weights[:, None]

    @cached_property
    def _weights(self) -> FloatArray:
        sizes = self._bags.sizes[:, None]
        return np.asarray(sizes / self.observed.n_rows * self.observed.proportions)

    @cached_property
    def _by_bag(self) -> NDArray[np.intp]:
        return np.argsort(self.observed.row_bag, kind="stable")

    @cached_property
    def _bags(self) -> Segments:
        return observed_segments(self.observed, self._by_bag)
