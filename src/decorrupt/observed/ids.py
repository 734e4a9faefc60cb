"""Ids of bags and sources: any hashable values as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def factorize(values: Any, name: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct ids in `values`, sorted if possible, and the index of each row's id.

    Ids can be any hashable values: numbers, strings, categoricals, tuples.

    Raises
    ------
    ValueError
        If an id is missing (None or NaN); the message names `name` and the row.
    """
    array = _as_id_array(values, name)
    missing = _missing(array)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(f"{name} has no id in row {row}: every row needs one")
    if array.dtype.kind == "i" and _is_compact(array):
        return _factorize_compact(array)
    try:
        ids, codes = np.unique(array, return_inverse=True)
        return ids, codes.astype(np.intp)
    except TypeError:  # ids of mixed types cannot be sorted: keep the order of appearance
        order = {value: code for code, value in enumerate(dict.fromkeys(array.tolist()))}
        ids = np.empty(len(order), dtype=object)
        ids[:] = list(order)
        return ids, np.array([order[value] for value in array.tolist()], dtype=np.intp)


def is_missing_id(values: Any, name: str) -> NDArray[np.bool_]:
    """Return for every row whether its id is missing: None or NaN."""
    return _missing(_as_id_array(values, name))


def _is_compact(array: NDArray[Any]) -> bool:
    """Return whether a table of all whole numbers from smallest to largest is small."""
    return len(array) > 0 and int(array.max()) - int(array.min()) < 4 * len(array)


def _factorize_compact(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted ids and the codes without sorting, which is several times faster."""
    smallest = int(array.min())
    offsets = array.astype(np.int64) - smallest  # of 8 bits, differences would overflow
    is_present = np.bincount(offsets) > 0
    codes = np.cumsum(is_present) - 1
    return (np.flatnonzero(is_present) + smallest).astype(array.dtype), codes[offsets]


def _missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array))
    if array.dtype.kind != "O":
        return np.asarray(array != array)
    return np.array([_is_missing(value) for value in array], dtype=bool)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # NaN differs from itself
    except (TypeError, ValueError):  # pandas.NA is neither equal nor different
        return True


def _as_id_array(values: Any, name: str) -> NDArray[Any]:
    if isinstance(values, list | tuple) and any(isinstance(v, tuple) for v in values):
        array = np.empty(len(values), dtype=object)
        array[:] = values  # keep tuples whole instead of making columns of them
        return array
    if isinstance(values, list | tuple) and len({type(v) for v in values}) > 1:
        return np.array(values, dtype=object)  # numpy would turn 1 and "1" into one id
    is_column = np.ndim(values) == 2 and np.shape(values)[1] == 1
    array = np.ravel(values) if is_column else np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must hold one id per row, got shape {array.shape}")
    return array
