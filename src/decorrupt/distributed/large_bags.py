"""Bags larger than a partition: their count likelihood from sums over partitions.

A normal approximation of the counts needs only Σp_j and Σp_j·p_jᵀ of the bag, which add over
partitions. An evaluation therefore has two stages: the first adds the sums, the second computes
the gradient with what the whole bag contributes to the slope of each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import log_probabilities, probabilities, slope_in_scores
from decorrupt.observed import Observed, effect_variance
from decorrupt.risks import CountMoments, NormalCounts, Segments, normal_counts


@dataclass(frozen=True)
class LargeBags:
    """The bags that are larger than a partition.

    Attributes
    ----------
    codes : ndarray of int, shape (n_bags,)
        Their numbers, in ascending order.
    counts : ndarray of shape (n_bags, n_classes)
        Rows of each class.
    noise_variance : ndarray of shape (n_bags,)
        The variance of independent noise in the counts.
    n_total : float
        Rows of the data set.
    """

    codes: NDArray[np.intp]
    counts: FloatArray
    noise_variance: FloatArray
    n_total: float

    @classmethod
    def of(cls, table: Observed, codes: NDArray[np.intp]) -> LargeBags:
        """Return some bags of a table; of a range, the middle counts."""
        counts = table.counts.take(codes)
        n_classes = table.n_classes
        # Noise v of independent counts, corrected to sum to 0, has the variance v·(K−1)/K.
        scale = n_classes / (n_classes - 1) / effect_variance(n_classes)
        middle = (counts.lower + counts.upper) / 2
        return cls(codes, middle, scale * counts.noise_variance, table.n_rows)

    def add(self, parts: Sequence[dict[int, CountMoments]]) -> NormalCounts:
        """Return log P(k) of every bag from the moments of its parts."""
        n_classes = self.counts.shape[1]
        mean = np.zeros(self.counts.shape)
        outer = np.zeros((len(self.codes), n_classes, n_classes))
        for part in parts:
            for bag, moments in part.items():
                mean[bag] += moments.mean[0]
                outer[bag] += moments.outer[0]
        return normal_counts(self.counts, CountMoments(mean, outer), self.noise_variance)


@dataclass(frozen=True)
class LargeBagRisk:
    """The term of some rows of a large bag: its value is counted once per bag, not here.

    Attributes
    ----------
    bag : int
        The index of the bag in :class:`LargeBags`.
    n_total : float
        Rows of the data set: the risk is −(1/n)·Σ log P.
    weights : ndarray of shape (n_rows,)
        How many rows each row represents.
    normal : NormalCounts or None
        The sums over all rows of all large bags.
    """

    bag: int
    n_total: float
    weights: FloatArray
    normal: NormalCounts | None = None

    def moments(self, scores: FloatArray) -> CountMoments:
        """Return Σp and Σppᵀ of these rows."""
        prob = np.exp(log_probabilities(scores))
        return CountMoments.of(prob, Segments(np.array([len(prob)]), self.weights))

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return 0 and the gradient in the scores."""
        if self.normal is None:
            raise ValueError("the partition has rows of large bags: give their sums as large_bags")
        one, prob = [self.bag], np.exp(log_probabilities(scores))
        own = NormalCounts(self.normal.log_prob[one], self.normal.tilt[one], self.normal.bend[one])
        slope = prob * own.slope(prob, Segments(np.array([len(prob)])))
        return 0.0, (slope_in_scores(slope, prob).T * self.weights).T / -self.n_total

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y_j=c), which has the sum of P(Y_j=c | count) if there is an intercept.

        At the solution the slopes of all rows sum to 0.
        """
        return probabilities(scores)
