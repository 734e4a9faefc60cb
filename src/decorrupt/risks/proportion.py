"""Proportion matching: cross-entropy between each bag's proportion and its mean probability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.risks.multiclass import ClassProportionRisk
from decorrupt.risks.score_risk import Operator, ScoreRisk
from decorrupt.risks.segments import Segments


@dataclass(frozen=True)
class ProportionRisk:
    """(1/M)·Σ_k (n_k/n̄)·CE(p_k, m_k), m_k = mean_{j∈k} σ(f_j), as a function of the scores.

    CE(p, m) = −p·log m − (1−p)·log(1−m): the mean is inside the logarithm. As M·n̄ = n, the
    weight of bag k is n_k/n. Convex only if every bag has one row (the logistic loss).

    Parameters
    ----------
    strata : Strata
        The bags and their proportions.
    """

    strata: Strata

    @property
    def is_convex(self) -> bool:
        """Whether every bag has one row."""
        return bool((self._bags.sizes == 1).all())

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        log_mean_pos, log_mean_neg, tilt_pos, tilt_neg = self._means(scores)
        value = -float(self._weight_pos @ log_mean_pos + self._weight_neg @ log_mean_neg)
        spread = self._bags.spread
        slope = np.empty(len(scores))
        slope[self._by_bag] = (
            -spread(self._weight_pos) * tilt_pos - spread(self._weight_neg) * tilt_neg
        )
        return value, slope

    def curvature(self, scores: FloatArray) -> Operator:
        """Return D + Σ_k (n_k/n)·[p_k·r_k·r_kᵀ + (1−p_k)·u_k·u_kᵀ], r = ∇log m, u = ∇log(1−m).

        D is diagonal: the slope of each row times 1 − 2σ(f_j). Rows of a bag are coupled only
        through the bag's mean.
        """
        _, _, tilt_pos, tilt_neg = self._means(scores)
        order, bags = self._by_bag, self._bags
        _, slope = self.value_and_slope(scores)
        diagonal = slope * (1 - 2 * expit(scores.astype(float)))

        def apply(v: FloatArray) -> FloatArray:
            bent = (diagonal * v.T).T
            sorted_v = v[order]
            for weight, tilt in ((self._weight_pos, tilt_pos), (self._weight_neg, tilt_neg)):
                by_bag = (weight * bags.sum((tilt * sorted_v.T).T).T).T
                bent[order] += (tilt * bags.spread(by_bag).T).T
            return np.asarray(bent)

        return apply

    def _means(self, scores: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return log m and log(1−m) of every bag, and their slopes in the rows, sorted by bag."""
        sorted_scores = scores[self._by_bag].astype(float)
        log_pos, log_neg = log_expit(sorted_scores), log_expit(-sorted_scores)
        log_mean_pos, log_mean_neg = self._log_mean(log_pos), self._log_mean(log_neg)
        log_sizes, spread = np.log(self._bags.sizes), self._bags.spread
        both = log_pos + log_neg
        return (
            log_mean_pos,
            log_mean_neg,
            np.exp(both - spread(log_mean_pos + log_sizes)),
            -np.exp(both - spread(log_mean_neg + log_sizes)),
        )

    def _log_mean(self, logs: FloatArray) -> FloatArray:
        """Return log(mean_k exp(logs)) without overflow or underflow."""
        largest = self._bags.max(logs)
        total = self._bags.sum(np.exp(logs - self._bags.spread(largest)))
        return np.asarray(largest + np.log(total / self._bags.sizes))

    @cached_property
    def _by_bag(self) -> NDArray[np.intp]:
        return np.argsort(self.strata.row_stratum, kind="stable")

    @cached_property
    def _bags(self) -> Segments:
        return Segments(self.strata.sizes)

    @cached_property
    def _weight_pos(self) -> FloatArray:
        return np.asarray(self._bags.sizes / len(self._by_bag) * self.strata.proportions)

    @cached_property
    def _weight_neg(self) -> FloatArray:
        return np.asarray(self._bags.sizes / len(self._by_bag) * (1 - self.strata.proportions))


def proportion_risk(strata: Strata) -> ScoreRisk:
    """Return the risk of proportion matching for bags with shares of two or of several classes."""
    return ProportionRisk(strata) if strata.n_classes is None else ClassProportionRisk(strata)
