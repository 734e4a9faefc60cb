"""Observed: everything that is known about the labels of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.observed.counts import ClassCounts, counts_of_shares, known_counts
from decorrupt.observed.shares import as_targets, inside
from decorrupt.observed.weights import check_whole, repeated_rows

if TYPE_CHECKING:
    from decorrupt.observed.sources import NoisySources


@dataclass(frozen=True, eq=False)
class Observed:
    """Rows in bags with known class shares, noisy labels of sources, labels, or nothing.

    A row whose own label is known, noisy or unknown is a bag of one row. Two classes are K = 2:
    there is always one column per class.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The names of the classes.
    ids : ndarray of shape (n_bags,)
        The caller's id of each bag.
    row_bag : ndarray of int, shape (n_rows,)
        The number of each row's bag.
    proportions : ndarray of shape (n_bags, n_classes)
        P(Y=c) in each bag: the share, the middle of its range, or the nearest possible one to a
        noisy share.
    reported : ClassCounts, optional
        What is known about the class counts if that is not the proportions: ranges, noisy counts.
    given : ndarray of shape (n_rows, n_classes), optional
        P(noisy label | Y=c) of each row; ones for rows without a noisy label.
    sources : NoisySources, optional
        The sources of the noisy labels, if every row has one.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents, as integers if all are whole; 1 if not given. The
        labels of these rows are independent, and they have the same features and bag.
    """

    classes: NDArray[Any]
    ids: NDArray[Any]
    row_bag: NDArray[np.intp]
    proportions: FloatArray
    reported: ClassCounts | None = None
    given: FloatArray | None = None
    sources: NoisySources | None = None
    weights: NDArray[Any] | None = None

    @classmethod
    def of_bags(
        cls, ids: NDArray[Any], proportions: FloatArray, sizes: NDArray[np.intp], classes: Any
    ) -> Observed:
        """Return one entry per bag, with the number of its rows as weight."""
        return cls(np.asarray(classes), ids, np.arange(len(ids)), proportions, weights=sizes)

    @property
    def n_classes(self) -> int:
        """K."""
        return int(self.proportions.shape[1])

    @property
    def n_bags(self) -> int:
        """Number of bags."""
        return len(self.ids)

    @cached_property
    def sizes(self) -> NDArray[Any]:
        """Rows of each bag, each as often as its weight says."""
        return self.sum_by_bag(np.ones(len(self.row_bag), dtype=np.intp))

    @cached_property
    def n_rows(self) -> Any:
        """Rows of all bags, each as often as its weight says."""
        return self.sizes.sum().item()

    def sum_by_bag(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return Σ_j m_j·v_j over the rows of each bag, m_j the weight of row j."""
        weighted = values if self.weights is None else self.weights * values
        sums = np.bincount(self.row_bag, weighted, minlength=len(self.ids))
        return sums.astype(np.intp) if weighted.dtype.kind == "i" else sums

    def mean_by_bag(self, values: FloatArray) -> FloatArray:
        """Return the mean over the rows of each bag, column by column for a matrix."""
        sums = [self.sum_by_bag(column) for column in values.reshape(len(values), -1).T]
        return np.asarray((np.array(sums) / self.sizes).T.reshape(-1, *values.shape[1:]))

    def mean(self, values: NDArray[Any]) -> FloatArray:
        """Return the mean over all rows, each as often as its weight says."""
        if self.weights is None:
            return np.asarray(values.mean(axis=0))
        return np.asarray(np.average(values, axis=0, weights=self.weights))

    @property
    def row_proportions(self) -> FloatArray:
        """The proportions of each row's bag, shape (n_rows, n_classes)."""
        return np.asarray(self.proportions[self.row_bag])

    @cached_property
    def class_prior(self) -> FloatArray:
        """The class shares among all rows; those of sources are estimated if they are not given."""
        if self.sources is not None:
            return self.sources.class_prior
        return np.average(self.proportions, axis=0, weights=self.sizes)

    @cached_property
    def inner_prior(self) -> FloatArray:
        """The class prior strictly between 0 and 1, so that its log-odds are finite."""
        return inside(self.class_prior, self.n_rows)

    @cached_property
    def counts(self) -> ClassCounts:
        """What is known about the class counts of each bag.

        Raises
        ------
        ValueError
            If a row of a bag with several classes represents a number of rows that is not whole.
        """
        if self.reported is not None:
            return self.reported
        if self.sizes.dtype.kind == "f":
            return self._counts_of_pure_bags()
        return counts_of_shares(self.proportions, self.sizes)

    def _counts_of_pure_bags(self) -> ClassCounts:
        check_whole(self.weights, self.proportions.max(axis=1)[self.row_bag] < 1)
        return known_counts(self.sizes[:, None] * self.proportions)

    @property
    def is_inexact(self) -> bool:
        """Whether there are ranges or noisy counts instead of proportions."""
        return self.reported is not None and self.given is None

    def take(self, rows: NDArray[np.intp]) -> Observed:
        """Return what is known about some rows; bags without rows are dropped.

        A part of a bag has the bag's proportions, and counts in proportion to its rows.
        """
        present, row_bag = np.unique(self.row_bag[rows], return_inverse=True)
        weights = None if self.weights is None else self.weights[rows]
        reported = self.reported
        if reported is not None:
            taken = np.bincount(row_bag, weights) / self.sizes[present]
            reported = reported.take(present, taken)
        return replace(
            self,
            ids=self.ids[present],
            row_bag=row_bag.astype(np.intp, copy=False),
            proportions=self.proportions[present],
            reported=reported,
            given=None if self.given is None else self.given[rows],
            sources=None if self.sources is None else self.sources.take(rows),
            weights=weights,
        )

    def single_rows(self, most: float, random_state: Any) -> tuple[NDArray[np.intp], Observed]:
        """Return row numbers, each as often as its weight says, and what is known about them.

        If they are more than `most`, a random sample; its counts are in proportion to its rows.
        """
        if self.weights is None:
            return np.arange(len(self.row_bag)), self
        rows = repeated_rows(self.weights, int(most), random_state)
        if len(rows) == self.n_rows and self.given is None:
            return rows, replace(self, row_bag=self.row_bag[rows], weights=None)
        return rows, replace(self, weights=None, reported=None).take(rows)

    def fit_arguments(self) -> tuple[Any, dict[str, Any]]:
        """Return y and the other arguments with which `fit` reads the same."""
        if self.sources is not None:
            return self.sources.fit_arguments()
        if self.reported is None:
            return as_targets(self.row_proportions), {"bags": self.row_bag} | self._weight_argument
        lower, upper = (
            as_targets(ends / self.sizes[:, None])[self.row_bag]
            for ends in (self.reported.lower, self.reported.upper)
        )
        ranges = {"upper": upper} if self.reported.has_ranges else {}
        return lower, {"bags": self.row_bag} | ranges | self._weight_argument

    @property
    def _weight_argument(self) -> dict[str, Any]:
        return {} if self.weights is None else {"sample_weight": self.weights}
