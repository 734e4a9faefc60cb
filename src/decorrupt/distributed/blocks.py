"""Blocks: the rows, targets and ids of each partition of Dask arrays or dataframes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from decorrupt.distributed.engine import import_dask


@dataclass(frozen=True)
class Block:
    """The data of one partition.

    Attributes
    ----------
    number : int
        The partition's number, for messages.
    rows : ndarray or CSR matrix of shape (n_rows, n_columns)
        X, in single or double precision.
    targets : ndarray of shape (n_rows,) or (n_rows, n_classes)
        y.
    ids : ndarray of shape (n_rows,) or None
        Bags or sources.
    """

    number: int
    rows: Any
    targets: NDArray[Any]
    ids: NDArray[Any] | None


@dataclass(frozen=True)
class Blocks:
    """All blocks of a data set, not computed yet.

    Attributes
    ----------
    tasks : list of Delayed
        One :class:`Block` each.
    columns : list of str or None
        The names of X's columns, if they have names.
    classes : list or None
        The names of y's columns, if y is a table.
    has_ids : bool
        Whether there are bags or sources.
    """

    tasks: list[Any]
    columns: list[str] | None
    classes: list[Any] | None
    has_ids: bool


def read_blocks(X: Any, y: Any, ids: Any, name: str) -> Blocks:
    """Return the blocks of X, y and ids.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_rows, n_columns)
        The rows. An array's blocks may be sparse.
    y : Dask array, series or dataframe, or the names of columns of X
        The targets. A list of names gives one target per class.
    ids : the same, or None
        The bag or the source of each row.
    name : str
        The name of the argument `ids`, for messages.

    Raises
    ------
    ValueError
        If X is not a Dask collection, a column is missing, or the partitions do not match.
    """
    dask = import_dask()
    if not (hasattr(X, "to_delayed") and hasattr(X, "partitions")) and not hasattr(X, "blocks"):
        raise ValueError(
            f"X is a {type(X).__name__}, not a Dask array or dataframe: use the estimator without "
            "Dask, or dask.array.from_array and dask.dataframe.from_pandas"
        )
    if hasattr(X, "columns"):
        return _frame_blocks(dask, X, y, ids, name)
    for argument, value in (("y", y), (name, ids)):
        if isinstance(value, str | list):
            raise ValueError(f"{argument}={value!r} is a column's name, but X is an array")
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    parts = [_parts(X), _aligned(X, y, "y"), _aligned(X, ids, name)]
    tasks = [
        dask.delayed(_block)(number, *some) for number, some in enumerate(zip(*parts, strict=True))
    ]
    return Blocks(tasks, None, _columns_of(y), ids is not None)


def _frame_blocks(dask: Any, X: Any, y: Any, ids: Any, name: str) -> Blocks:
    given = list(X.columns)
    targets, groups = _names(y, "y", given), _names(ids, name, given)
    columns = [column for column in given if column not in [*targets, *groups]]
    frame = X[[*columns, *targets, *groups]]
    parts = [
        _parts(frame, alone=bool(targets) and (bool(groups) or ids is None)),
        _aligned(frame, None if targets else y, "y"),
        _aligned(frame, None if groups else ids, name),
    ]
    make = dask.delayed(_frame_block)
    of_class = isinstance(y, list) and len(y) > 1
    tasks = [
        make(number, *some, columns, targets if of_class else targets[:1], groups[:1])
        for number, some in enumerate(zip(*parts, strict=True))
    ]
    named = columns if all(isinstance(column, str) for column in columns) else None
    return Blocks(tasks, named, targets if of_class else _columns_of(y), ids is not None)


def _names(value: Any, argument: str, columns: Sequence[Any]) -> list[Any]:
    """Return the columns that an argument names; none if it is data."""
    if not isinstance(value, str | list):
        return []
    names = [value] if isinstance(value, str) else value
    for name in names:
        if name not in columns:
            known = ", ".join(map(repr, columns[:8]))
            raise ValueError(f"{argument}: X has no column {name!r} (it has: {known})")
    return names


def _columns_of(y: Any) -> list[Any] | None:
    return list(y.columns) if hasattr(y, "columns") and len(y.columns) > 1 else None


def _parts(collection: Any, *, alone: bool = False) -> list[Any]:
    """Return the partitions; where several collections must match, Dask may not merge any."""
    return list(np.ravel(collection.to_delayed(optimize_graph=alone)))


def _aligned(X: Any, values: Any, argument: str) -> list[Any]:
    """Return the partitions of `values` that belong to those of X."""
    n_parts = len(X.chunks[0]) if hasattr(X, "chunks") else X.npartitions
    if values is None:
        return [None] * n_parts
    if not hasattr(values, "to_delayed"):
        raise ValueError(
            f"{argument} is a {type(values).__name__}: give a Dask array or series with the "
            "partitions of X, or for a dataframe X the name of a column"
        )
    if hasattr(values, "chunks") and hasattr(X, "chunks") and values.shape[0] == X.shape[0]:
        values = values.rechunk((X.chunks[0], *((-1,) * (values.ndim - 1))))
    parts = _parts(values)
    if len(parts) != n_parts:
        raise ValueError(
            f"{argument} has {len(parts)} partitions and X has {n_parts}: they must contain the "
            "same rows in the same order"
        )
    return parts


def _frame_block(
    number: int,
    frame: Any,
    targets: Any,
    ids: Any,
    columns: list[Any],
    target_columns: list[Any],
    id_columns: list[Any],
) -> Block:
    if target_columns:
        targets = frame[target_columns if len(target_columns) > 1 else target_columns[0]]
    if id_columns:
        ids = frame[id_columns[0]]
    for column in columns:
        if frame[column].dtype.kind not in "fiub":
            raise ValueError(
                f"column {column!r} of X has dtype {frame[column].dtype}: encode it as numbers, or "
                "leave it out"
            )
    return _block(number, frame[columns].to_numpy(), targets, ids)


def _block(number: int, rows: Any, targets: Any, ids: Any) -> Block:
    """Return the block; raise ValueError if lengths differ or X is not a matrix of numbers."""
    targets, ids = np.asarray(targets), None if ids is None else np.asarray(ids)
    rows = rows.tocsr() if issparse(rows) else np.asarray(rows)
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":
        raise ValueError(
            f"X in partition {number} has shape {rows.shape} and dtype {rows.dtype}: it must be a "
            "matrix of numbers"
        )
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(float)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    for name, values in (("y", targets), ("bags or sources", ids)):
        if values is not None and len(values) != rows.shape[0]:
            raise ValueError(
                f"partition {number}: X has {rows.shape[0]} rows, {name} {len(values)}; they must "
                "have the same rows in every partition"
            )
    return Block(number, rows, targets, ids)
