"""Proportion matching for several classes: mean probabilities against known shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.risks.multiclass.softmax import SoftmaxRisk, log_softmax, slope_in_scores
from decorrupt.risks.segments import Segments


@dataclass(frozen=True)
class ClassProportionRisk(SoftmaxRisk):
    """−(1/M)·Σ_b (n_b/n̄)·Σ_c Γ_bc·log m_bc, m_bc = mean_{j∈b} softmax(f_j)_c.

    As M·n̄ = n, bag b has the weight n_b/n.

    Parameters
    ----------
    strata : Strata
        The bags and the shares of their classes.
    """

    strata: Strata

    @property
    def is_convex(self) -> bool:
        """Whether every bag has one row: cross-entropy."""
        return bool((self._bags.sizes == 1).all())

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        log_prob, bags = log_softmax(scores[self._by_bag]), self._bags
        log_sum = bags.log_sum(log_prob)
        weights = bags.sizes[:, None] / len(scores) * self.strata.proportions
        value = -float(np.vdot(weights, log_sum - np.log(bags.sizes)[:, None]))
        shares = np.exp(log_prob - bags.spread(log_sum))  # of each row in its bag's sum
        slope = np.empty(scores.shape)
        slope[self._by_bag] = slope_in_scores(-bags.spread(weights) * shares, np.exp(log_prob))
        return value, slope

    @cached_property
    def _by_bag(self) -> NDArray[np.intp]:
        return np.argsort(self.strata.row_stratum, kind="stable")

    @cached_property
    def _bags(self) -> Segments:
        return Segments(self.strata.sizes)
