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
        self._all_rows = observed_segments(observed, self._by_bag)

    def select(
        self, chosen: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Segments]:
        """Return the numbers of the chosen bags, their rows, and the rows of each bag."""
        rows = self._by_bag[self._all_rows.spread(chosen)]
        return np.flatnonzero(chosen), rows, self._all_rows.take(chosen)

    def select_repeated(
        self, chosen: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Segments]:
        """Return the same with every row as often as its weight says, for exact sums."""
        bags, rows, segments = self.select(chosen)
        if segments.weights is None:
            return bags, rows, segments
        return bags, np.repeat(rows, segments.weights), Segments(segments.sizes)


def observed_segments(observed: Observed, by_bag: NDArray[np.intp]) -> Segments:
    """Return the rows of each bag, sorted by `by_bag`, with their weights."""
    weights = None if observed.weights is None else observed.weights[by_bag]
    return Segments(np.bincount(observed.row_bag, minlength=observed.n_bags), weights)


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
