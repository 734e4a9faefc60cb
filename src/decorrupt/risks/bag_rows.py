"""The rows of each bag, and bags with one class only: what all groups of bags share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import label_likelihood_and_slope
from decorrupt.observed import Observed
from decorrupt.risks.segments import Segments


class BagRows:
    """Selects the rows of some bags, bag by bag."""

    def __init__(self, observed: Observed) -> None:
        self.ids: NDArray[Any] = observed.ids
        self.sizes = observed.sizes
        self._by_bag = np.argsort(observed.row_bag, kind="stable")
        self._all_rows = Segments(self.sizes)

    def select(
        self, chosen: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Segments]:
        """Return the numbers of the chosen bags, their rows, and the rows of each bag."""
        bags = np.flatnonzero(chosen)
        return bags, self._by_bag[self._all_rows.spread(chosen)], Segments(self.sizes[bags])


@dataclass(frozen=True, eq=False)
class PureBags:
    """Bags with one class only, such as bags of one row: Σ log P(Y_j=c), the logistic loss."""

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    segments: Segments
    labels: NDArray[np.intp]

    def log_prob_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ_j log P(Y_j=c) of every bag, and its slope in the scores."""
        value, slope = label_likelihood_and_slope(scores[self.rows], self.labels)
        return self.segments.sum(value), slope
