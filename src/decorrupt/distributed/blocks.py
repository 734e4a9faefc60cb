"""Blocks: the rows, targets and ids of each partition of Dask arrays or dataframes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from decorrupt._typing import FloatArray
from decorrupt.distributed.engine import import_dask
from decorrupt.observed import check_weights


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
        y; with ranges the lower ends.
    ids : ndarray of shape (n_rows,) or None
        Bags or sources.
    upper : ndarray of the shape of `targets` or None
        The upper ends of ranges.
    weights : ndarray of shape (n_rows,)
        How many rows each row represents; those that represent none are left out.
    """

    number: int
    rows: Any
    targets: NDArray[Any]
    ids: NDArray[Any] | None
    upper: NDArray[Any] | None
    weights: FloatArray


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
    has_upper : bool
        Whether the targets are ranges.
    """

    tasks: list[Any]
    columns: list[str] | None
    classes: list[Any] | None
    has_ids: bool
    has_upper: bool


def read_blocks(
    X: Any, y: Any, ids: Any, name: str, upper: Any = None, sample_weight: Any = None
) -> Blocks:
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
    upper : as y, or None
        The upper ends of ranges.
    sample_weight : as ids
        How many rows each row represents.

    Raises
    ------
    ValueError
        If X is not a Dask collection, a column is missing, or the partitions do not match.
    """
    if upper is not None and ids is None:
        raise ValueError("upper is the upper end of a bag's proportion: pass bags= as well")
    dask = import_dask()
    if not (hasattr(X, "to_delayed") and hasattr(X, "partitions")) and not hasattr(X, "blocks"):
        raise ValueError(
            f"X is a {type(X).__name__}, not a Dask array or dataframe: use the estimator without "
            "Dask, or dask.array.from_array and dask.dataframe.from_pandas"
        )
    arguments = {"y": y, name: ids, "upper": upper, "sample_weight": sample_weight}
    if hasattr(X, "columns"):
        make, columns, classes, parts = _frame_parts(X, arguments)
    else:
        make, columns, classes, parts = _array_parts(X, arguments)
    tasks = [dask.delayed(make)(number, *some) for number, some in enumerate(parts)]
    return Blocks(tasks, columns, classes, ids is not None, upper is not None)


def _array_parts(X: Any, arguments: dict[str, Any]) -> tuple[Any, ...]:
    for argument, value in arguments.items():
        if isinstance(value, str | list):
            raise ValueError(f"{argument}={value!r} is a column's name, but X is an array")
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    parts = [_parts(X), *(_aligned(X, value, argument) for argument, value in arguments.items())]
    return _block, None, _columns_of(arguments["y"]), zip(*parts, strict=True)


def _frame_parts(X: Any, arguments: dict[str, Any]) -> tuple[Any, ...]:
    given = list(X.columns)
    names = {argument: _names(value, argument, given) for argument, value in arguments.items()}
    used = list(dict.fromkeys(name for some in names.values() for name in some))
    columns = [column for column in given if column not in used]
    frame, y = X[[*columns, *used]], arguments["y"]
    others = {name: None if names[name] else value for name, value in arguments.items()}
    alone = all(value is None for value in others.values())
    parts = [_parts(frame, alone=alone), *(_aligned(frame, v, name) for name, v in others.items())]
    named = columns if all(isinstance(column, str) for column in columns) else None
    classes = y if isinstance(y, list) and len(y) > 1 else _columns_of(y)
    make = partial(_frame_block, columns=columns, names=list(names.values()))
    return make, named, classes, zip(*parts, strict=True)


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
    number: int, frame: Any, *given: Any, columns: list[Any], names: list[list[Any]]
) -> Block:
    """Return the block; `names` are the columns of the arguments that are not in `given`."""
    arguments = (
        frame[own if len(own) > 1 else own[0]] if own else other
        for own, other in zip(names, given, strict=True)
    )
    for column in columns:
        if frame[column].dtype.kind not in "fiub":
            raise ValueError(
                f"column {column!r} of X has dtype {frame[column].dtype}: encode it as numbers, or "
                "leave it out"
            )
    return _block(number, frame[columns].to_numpy(), *arguments)


def _block(number: int, rows: Any, targets: Any, ids: Any, upper: Any, weights: Any) -> Block:
    """Return the block; raise ValueError if lengths differ or X is not a matrix of numbers."""
    targets = _one_column(np.asarray(targets))
    ids = None if ids is None else np.asarray(ids)
    upper = None if upper is None else _one_column(np.asarray(upper))
    rows = rows.tocsr() if issparse(rows) else np.asarray(rows)
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":
        raise ValueError(
            f"X in partition {number} has shape {rows.shape} and dtype {rows.dtype}: it must be a "
            "matrix of numbers"
        )
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(float)
    for name, values in (("y", targets), ("bags or sources", ids)):
        if values is not None and len(values) != rows.shape[0]:
            raise ValueError(
                f"partition {number}: X has {rows.shape[0]} rows, {name} {len(values)}; they must "
                "have the same rows in every partition"
            )
    if upper is not None and upper.shape != targets.shape:
        raise ValueError(
            f"partition {number}: y has shape {targets.shape} and upper {upper.shape}; they must "
            "have the same shape"
        )
    if weights is None:
        return Block(number, rows, targets, ids, upper, np.ones(rows.shape[0]))
    try:
        weights = check_weights(weights, rows.shape[0])
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None
    kept = np.flatnonzero(weights)
    ids, upper = (None if values is None else values[kept] for values in (ids, upper))
    return Block(number, rows[kept], targets[kept], ids, upper, weights[kept])


def _one_column(values: NDArray[Any]) -> NDArray[Any]:
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
