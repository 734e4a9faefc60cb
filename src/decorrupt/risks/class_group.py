"""Base class of the groups of bags with several classes."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import log_probabilities, slope_in_scores


class ClassGroup(ABC):
    """Some bags, and the probability of what is known about their class counts.

    Subclasses compute it from log P(Y_j=c) of the group's rows.
    """

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]

    @abstractmethod
    def of_log_prob(self, log_prob: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(observation) of every bag, and its slope in the log-probabilities."""

    def log_prob_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(observation) of every bag, and its slope in the scores of the rows."""
        log_prob = log_probabilities(scores[self.rows])
        by_bag, slope = self.of_log_prob(log_prob)
        return by_bag, slope_in_scores(slope, np.exp(log_prob))

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y_j=c | observation): the slope in the log-probabilities if it is exact."""
        return self.of_log_prob(log_probabilities(scores[self.rows]))[1]
