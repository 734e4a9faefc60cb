"""The rows of each bag: sums, maxima and products over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.observed import Observed

ValueAndSlope = tuple[FloatArray, FloatArray]  # of bags, and of their rows
Entry = TypeVar("Entry", bound=np.generic)


@dataclass(frozen=True)
class Segments:
    """Rows sorted by bag: the first lengths[0] rows are bag 0, and so on; no bag is empty.

    Parameters
    ----------
    lengths : ndarray of int, shape (n_bags,)
        The number of rows of each bag.
    weights : ndarray of shape (n_rows,), optional
        How many rows each one represents: it counts so often in sums and products.
    """

    lengths: NDArray[np.intp]
    weights: NDArray[Any] | None = None

    @cached_property
    def sizes(self) -> NDArray[Any]:
        """The rows of each bag, each as often as its weight says."""
        if self.weights is None:
            return self.lengths
        return np.asarray(np.add.reduceat(self.weights, self.starts))

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """The index of the first row of each bag."""
        return np.asarray(np.cumsum(self.lengths) - self.lengths)

    def take(self, chosen: NDArray[np.bool_]) -> Segments:
        """Return those of some bags."""
        weights = None if self.weights is None else self.weights[self.spread(chosen)]
        return Segments(self.lengths[chosen], weights)

    def sum(self, rows: FloatArray) -> FloatArray:
        """Return one sum per bag, of numbers or of the rows of a matrix."""
        if self.weights is not None:
            rows = (rows.T * self.weights).T
        return np.asarray(np.add.reduceat(rows, self.starts, axis=0))

    def max(self, rows: FloatArray) -> FloatArray:
        """Return one maximum per bag."""
        return np.asarray(np.maximum.reduceat(rows, self.starts))

    def min(self, rows: FloatArray) -> FloatArray:
        """Return one minimum per bag."""
        return np.asarray(np.minimum.reduceat(rows, self.starts))

    def log_sum(self, rows: FloatArray) -> FloatArray:
        """Return log Σ exp(rows) per bag without overflow or underflow; entries can be −∞."""
        largest = np.maximum(self.max(rows), np.finfo(float).min)  # −∞ − (−∞) is not a number
        with np.errstate(divide="ignore"):  # the logarithm of a sum of zeros
            return np.asarray(largest + np.log(self.sum(np.exp(rows - self.spread(largest)))))

    def product(self, rows: NDArray[Entry]) -> NDArray[Entry]:
        """Return one product per bag."""
        if self.weights is not None:
            rows = rows**self.weights
        return np.asarray(np.multiply.reduceat(rows, self.starts))

    def spread(self, by_bag: NDArray[Entry]) -> NDArray[Entry]:
        """Return each bag's value (or row), repeated for every row of the bag."""
        return np.repeat(by_bag, self.lengths, axis=0)


class BagRows:
    """The numbers of all rows, bag by bag (`order`), and the rows of each bag (`segments`)."""

    def __init__(self, observed: Observed) -> None:
        self.order = np.argsort(observed.row_bag, kind="stable")
        weights = None if observed.weights is None else observed.weights[self.order]
        lengths = np.bincount(observed.row_bag, minlength=observed.n_bags)
        self.segments = Segments(lengths, weights)

    def select(
        self, chosen: NDArray[np.bool_], *, repeated: bool = False
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Segments]:
        """Return the numbers of the chosen bags, their rows, and the rows of each bag.

        For exact sums, every row can be repeated as often as its weight says.
        """
        rows, segments = self.order[self.segments.spread(chosen)], self.segments.take(chosen)
        if repeated and segments.weights is not None:
            rows, segments = np.repeat(rows, segments.weights), Segments(segments.sizes)
        return np.flatnonzero(chosen), rows, segments
