"""Ranges of the class counts of large bags: a normal approximation, summed over count vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import log_probabilities
from decorrupt.risks.class_group import ClassGroup
from decorrupt.risks.normal_counts import CountMoments, NormalCounts, count_precision
from decorrupt.risks.proportional_fitting import fit_counts
from decorrupt.risks.segments import Segments

# A bag with more possible count vectors is refused: their sum is taken in every evaluation.
MOST_VECTORS = 4096


@dataclass(frozen=True, eq=False)
class NormalRangeBags(ClassGroup):
    """Large bags with ranges: log Σ_k P(k) over all possible k, P(k) as in :class:`NormalBags`.

    Its slope in p_j is the mean of the slopes of the log P(k), weighted by P(k).

    Parameters
    ----------
    bags : ndarray of int, shape (n_bags,)
        Which bags these are.
    rows : ndarray of int, shape (n_rows,)
        Their rows, bag by bag.
    segments : Segments
        The rows of each bag.
    vectors : ndarray of int, shape (n_vectors, n_classes)
        All possible k, bag by bag.
    choices : Segments
        The vectors of each bag.
    """

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    segments: Segments
    vectors: NDArray[np.intp]
    choices: Segments

    def of_log_prob(self, log_prob: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log Σ_k P(k) of every bag, and its slope in the log-probabilities."""
        prob = np.exp(log_prob)
        normal, _ = self._sum_over_vectors(prob)
        return normal.log_prob, prob * normal.slope(prob, self.segments)

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y_j=c | observation), fitted to the expected counts."""
        prob = np.exp(log_probabilities(scores[self.rows]))
        return fit_counts(prob, self.segments, self.expected_counts(prob))

    def expected_counts(self, prob: FloatArray) -> FloatArray:
        """Return Σ_k k·P(k)/Σ_k P(k), the expected class counts given the ranges."""
        _, weight = self._sum_over_vectors(prob)
        return self.choices.sum(weight[:, None] * self.vectors)

    def _sum_over_vectors(self, prob: FloatArray) -> tuple[NormalCounts, FloatArray]:
        """Return the sums and means over the vectors of each bag, and P(k)/Σ_k P(k) of each k."""
        moments, choices = CountMoments.of(prob, self.segments), self.choices
        inverse, log_scale = count_precision(moments, np.zeros(len(self.bags)))
        away = self.vectors - choices.spread(moments.mean)
        tilt = np.zeros(away.shape)
        for c in range(away.shape[1]):  # no array of n_vectors × n_classes × n_classes
            tilt += choices.spread(inverse[:, c]) * away[:, c, None]
        each = choices.spread(log_scale) - 0.5 * np.sum(away * tilt, axis=1)
        by_bag = choices.log_sum(each)
        weight = np.exp(each - choices.spread(by_bag))
        weighted = weight[:, None] * tilt
        square = [choices.sum(weighted * tilt[:, c, None]) for c in range(away.shape[1])]
        bend = inverse - np.stack(square, axis=1)
        return NormalCounts(by_bag, choices.sum(weighted), bend), weight


def possible_vectors(
    lower: NDArray[np.intp], upper: NDArray[np.intp], size: int
) -> NDArray[np.intp] | None:
    """Return all k with lower ≤ k ≤ upper and Σ_c k_c = size; None if they are too many.

    The vectors are extended class by class. Those whose rest cannot be reached with the other
    classes are dropped, so that every part that is kept leads to at least one vector.
    """
    parts = np.zeros((1, 0), dtype=np.intp)
    for c in range(len(lower)):
        counts = np.arange(lower[c], upper[c] + 1)
        before = np.repeat(parts, len(counts), axis=0)
        parts = np.column_stack([before, np.tile(counts, len(parts))])
        rest = size - parts.sum(axis=1)
        parts = parts[(rest >= lower[c + 1 :].sum()) & (rest <= upper[c + 1 :].sum())]
        if len(parts) > MOST_VECTORS:
            return None
    return parts
