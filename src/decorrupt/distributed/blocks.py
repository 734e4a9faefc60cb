"""Blocks: the rows, targets and ids of each partition of Dask arrays or dataframes."""

from __future__ import annotations

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
        The names of y's columns, if there are several.
    ids : str or None
        The column, or the argument, with the bags or sources; None if there are none.
    has_upper : bool
        Whether the targets are ranges.
    """

    tasks: list[Any]
    columns: list[str] | None
    classes: list[Any] | None
    ids: str | None
    has_upper: bool


def read_blocks(
    X: Any, y: Any, ids: Any, name: str, upper: Any = None, sample_weight: Any = None
) -> Blocks:
    """Return the blocks of X, y and ids.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_rows, n_columns)
        The rows. An array's blocks may be sparse.
    y : Dask array with the chunks of X, or the names of columns of X
        The targets. A list of names gives one target per class.
    ids : as y, or None
        The bag or the source of each row.
    name : str
        The name of the argument `ids`, for messages.
    upper : as y, or None
        The upper ends of ranges.
    sample_weight : as y, or None
        How many rows each row represents.

    Raises
    ------
    ValueError
        If X is not a Dask collection, a column is missing, or chunks do not match.
    """
    if upper is not None and ids is None:
        raise ValueError("upper is the upper end of a bag's proportion: pass bags= as well")
    import_dask()
    arguments = {"y": y, name: ids, "upper": upper, "sample_weight": sample_weight}
    if hasattr(X, "chunks"):
        tasks, columns, classes = _array_tasks(X, arguments), None, None
    elif hasattr(X, "columns") and hasattr(X, "to_delayed"):
        tasks, columns = _frame_tasks(X, arguments)
        classes = y if isinstance(y, list) and len(y) > 1 else None
    else:
        raise ValueError(
            f"X is a {type(X).__name__}, not a Dask array or dataframe: use the estimator without "
            "Dask, or dask.array.from_array and dask.dataframe.from_pandas"
        )
    column = ids if isinstance(ids, str) else None if ids is None else name
    return Blocks(tasks, columns, classes, column, upper is not None)


def _array_tasks(X: Any, arguments: dict[str, Any]) -> list[Any]:
    parts = [_chunks(X, X, "X")]
    parts += [_chunks(X, values, argument) for argument, values in arguments.items()]
    make = import_dask().delayed(_block)
    return [make(number, *some) for number, some in enumerate(zip(*parts, strict=True))]


def _chunks(X: Any, values: Any, argument: str) -> list[Any]:
    """Return the chunks of `values`, which must be those of the rows of X."""
    n_chunks = len(X.chunks[0])
    if values is None:
        return [None] * n_chunks
    if not hasattr(values, "chunks"):
        given = repr(values) if isinstance(values, str | list) else f"a {type(values).__name__}"
        raise ValueError(
            f"{argument} is {given}: X is an array, so give a Dask array with its chunks of rows"
        )
    rows, *columns = values.chunks
    if len(rows) != n_chunks or any(len(widths) > 1 for widths in columns):
        raise ValueError(
            f"{argument} has the chunks {values.chunks} and X has {X.chunks}: {argument}.rechunk "
            "makes chunks of the same rows with all columns"
        )
    return list(np.ravel(values.to_delayed()))


def _frame_tasks(X: Any, arguments: dict[str, Any]) -> tuple[list[Any], list[str] | None]:
    """Return the tasks, and the columns of X that no argument names if their names are strings."""
    names = [_names(X, value, argument) for argument, value in arguments.items()]
    used = dict.fromkeys(column for some in names for column in some)
    columns = [column for column in X.columns if column not in used]
    make = import_dask().delayed(partial(_frame_block, columns=columns, names=names))
    # Files are read without the other columns.
    parts = X[[*columns, *used]].to_delayed()
    is_named = all(isinstance(column, str) for column in columns)
    return [make(*part) for part in enumerate(parts)], columns if is_named else None


def _names(X: Any, value: Any, argument: str) -> list[str]:
    """Return the columns of X that an argument names."""
    if value is None:
        return []
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list):
        raise ValueError(
            f"{argument} is a {type(value).__name__}: for a dataframe X give the name of a column"
        )
    columns = list(X.columns)
    for name in names:
        if name not in columns:
            known = ", ".join(map(repr, columns[:8]))
            raise ValueError(f"{argument}: X has no column {name!r} (it has: {known})")
    return names


def _frame_block(number: int, frame: Any, *, columns: list[Any], names: list[list[str]]) -> Block:
    """Return the block; `names` are the columns of each argument."""
    for column in columns:
        if frame[column].dtype.kind not in "fiub":
            raise ValueError(
                f"column {column!r} of X has dtype {frame[column].dtype}: encode it as numbers, or "
                "leave it out"
            )
    arguments = (frame[own[0] if len(own) == 1 else own] if own else None for own in names)
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
