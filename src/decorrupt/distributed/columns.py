"""Means and variances of the columns of X, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from decorrupt._typing import FloatArray
from decorrupt.distributed.blocks import Block
from decorrupt.features import column_means, column_variances


@dataclass(frozen=True)
class ColumnSummary:
    """Numbers of rows, and mean and Σ(x − mean)² of each column; summaries of blocks add up.

    Attributes
    ----------
    number : int
        The partition.
    n_rows, n_bytes : int
        Rows, and bytes of X.
    size : float
        Rows, each as often as its weight says, as in `mean` and `squares`.
    dtype : dtype
        Of X.
    is_sparse : bool
        Whether X is sparse.
    mean, squares : ndarray of shape (n_columns,)
        In double precision.
    """

    number: int
    n_rows: int
    n_bytes: int
    size: float
    dtype: Any
    is_sparse: bool
    mean: FloatArray
    squares: FloatArray

    @property
    def n_columns(self) -> int:
        """Columns of X."""
        return len(self.mean)

    @property
    def variance(self) -> float:
        """The mean of the columns' variances."""
        return float(self.squares.mean() / self.size)

    def mean_squared_norm(self, *, centred: bool) -> float:
        """Return the mean of ‖x − mean‖² over the rows, or of ‖x‖²; 1 if it is 0."""
        total = self.squares.sum() / self.size
        return float(total if centred else total + self.mean @ self.mean) or 1.0

    def feature_bytes(self, rank: int) -> int:
        """Return the bytes of so many features of all rows."""
        return int(self.n_rows * rank * self.dtype.itemsize)


def summarise_columns(block: Block) -> ColumnSummary:
    """Return the summary of X; raise ValueError if a value is missing or infinite."""
    rows = block.rows
    n_rows = rows.shape[0]
    values = rows.data if issparse(rows) else rows
    if not np.isfinite(values).all():
        _refuse_not_finite(block)
    n_bytes = rows.data.nbytes + rows.indices.nbytes if issparse(rows) else rows.nbytes
    size = float(block.weights.sum())
    mean = squares = np.zeros(rows.shape[1])
    if n_rows:
        mean = column_means(rows, block.weights)
        squares = size * column_variances(rows, block.weights)
    return ColumnSummary(
        block.number, n_rows, n_bytes, size, rows.dtype, issparse(rows), mean, squares
    )


def _refuse_not_finite(block: Block) -> None:
    rows = block.rows.tocoo() if issparse(block.rows) else block.rows
    if issparse(rows):
        bad = int(np.flatnonzero(~np.isfinite(rows.data))[0])
        row, column, value = rows.row[bad], rows.col[bad], rows.data[bad]
    else:
        row, column = np.argwhere(~np.isfinite(rows))[0]
        value = rows[row, column]
    raise ValueError(
        f"X contains {value} in partition {block.number}, row {row}, column {column}: fill in or "
        "drop missing and infinite values first"
    )


def add_columns(summaries: Sequence[ColumnSummary]) -> ColumnSummary:
    """Return the summary of all rows.

    Raises
    ------
    ValueError
        If there are no rows, or partitions differ in width or dtype.
    """
    filled = [summary for summary in summaries if summary.n_rows]
    if not filled:
        raise ValueError("X has no rows, or none with a positive sample_weight")
    first = total = filled[0]
    for other in filled[1:]:
        for what in ("n_columns", "dtype", "is_sparse"):
            if getattr(first, what) != getattr(other, what):
                raise ValueError(
                    f"X has {what}={getattr(first, what)} in partition {first.number} and "
                    f"{what}={getattr(other, what)} in partition {other.number}: all partitions "
                    "must have the same columns and dtype"
                )
        total = _add(total, other)
    return total


def _add(one: ColumnSummary, other: ColumnSummary) -> ColumnSummary:
    """Return the summary of both (Chan, Golub and LeVeque 1983)."""
    size = one.size + other.size
    apart = other.mean - one.mean
    return replace(
        one,
        n_rows=one.n_rows + other.n_rows,
        n_bytes=one.n_bytes + other.n_bytes,
        size=size,
        mean=one.mean + apart * (other.size / size),
        squares=one.squares + other.squares + apart**2 * (one.size * other.size / size),
    )
