"""Ids of any type as numbers, and class shares with one column per class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray

# Shares that went through float32 or a text file differ in the last digits only.
SHARE_TOL = 1e-6
# Singular values below this share of the largest come from such rounding.
RANK_TOL = 1e-6
# A class belongs to a null space if its squared coordinates there sum to more than this.
SUPPORT_TOL = 1e-6
# As a class prior: the same share of every class.
BALANCED = 0.5


def factorize(values: Any, name: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct ids in `values`, sorted if possible, and the index of each row's id.

    Ids can be any hashable values: numbers, strings, categoricals, tuples.

    Raises
    ------
    ValueError
        If an id is missing (None or NaN); the message names `name` and the row.
    """
    array = _as_id_array(values, name)
    for row in np.flatnonzero(_missing(array))[:1]:
        raise ValueError(f"{name} has no id in row {row}: every row needs one")
    # A table of all whole numbers from smallest to largest is several times faster than sorting.
    if array.dtype.kind == "i" and len(array) and np.ptp(array.astype(float)) < 4 * len(array):
        smallest = int(array.min())
        offsets = array.astype(np.int64) - smallest  # of 8 bits, differences would overflow
        is_present = np.bincount(offsets) > 0
        ids = (np.flatnonzero(is_present) + smallest).astype(array.dtype)
        return ids, (np.cumsum(is_present) - 1)[offsets]
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


def is_share_row(rows: FloatArray) -> NDArray[np.bool_]:
    """Return for every row whether its entries are in [0, 1] and sum to 1."""
    # By column: reducing many short rows takes numpy ten times as long.
    columns = np.moveaxis(rows, -1, 0)
    in_range = np.logical_and.reduce([(share >= 0) & (share <= 1) for share in columns])  # no NaN
    with np.errstate(invalid="ignore"):  # an infinite share and its complement
        total = sum(columns)
    return np.asarray(in_range & (np.abs(total - 1) <= SHARE_TOL))


def inseparable_classes(matrix: FloatArray) -> list[int]:
    """Return the columns that take part in a linear dependence: the support of the null space."""
    _, scales, directions = np.linalg.svd(np.linalg.qr(matrix, mode="r"))
    rank = int(np.sum(scales > RANK_TOL * scales[0]))
    support = np.sum(directions[rank:] ** 2, axis=0) > SUPPORT_TOL
    return [int(column) for column in np.flatnonzero(support)]


def class_columns(shares: ArrayLike) -> FloatArray:
    """Return one column per class: a vector, or a column, is the share of positives of two."""
    shares = np.asarray(shares, dtype=float)
    if shares.ndim == 2 and shares.shape[1] > 1:
        return shares
    return np.column_stack([1 - shares, shares])


def as_targets(shares: FloatArray) -> FloatArray:
    """Return the inverse of :func:`class_columns`: what `fit` takes as y."""
    return shares[:, 1] if shares.shape[1] == 2 else shares


def inside(shares: FloatArray, n_rows: float) -> FloatArray:
    """Return class shares strictly between 0 and 1: a sample cannot exclude a class."""
    margin = 0.5 / n_rows
    clipped = np.clip(shares, margin, 1 - margin)
    return np.asarray(clipped / clipped.sum())


def resolve_class_prior(
    class_prior: ArrayLike | str, pooled: FloatArray, name: str = "class_prior"
) -> FloatArray:
    """Return one share per class.

    Parameters
    ----------
    class_prior : "pooled", float or array-like of shape (n_classes,)
        "pooled" is `pooled`. A number is the share of positives of two classes; 0.5 is the same
        share of every class for any number of classes.
    pooled : ndarray of shape (n_classes,)
        The class shares among all rows.
    name : str
        The caller's argument, for messages.

    Raises
    ------
    ValueError
        If these are not positive shares that sum to 1.
    """
    n_classes = len(pooled)
    if isinstance(class_prior, str) and class_prior == "pooled":
        return pooled
    shares = np.asarray(np.nan if isinstance(class_prior, str) else class_prior, dtype=float)
    if shares.ndim == 0:
        is_balanced = shares == BALANCED
        shares = np.full(n_classes, 1 / n_classes) if is_balanced else class_columns([shares])[0]
    if not are_priors(shares, n_classes):
        single = (
            "a number strictly between 0 and 1, " if n_classes == 2 else "0.5 for equal shares, "
        )
        raise ValueError(
            f"{name}={class_prior!r}: give {single}{n_classes} positive shares that sum to 1, or "
            "'pooled'"
        )
    return shares


def are_priors(shares: FloatArray, n_classes: int) -> bool:
    """Return whether these are positive shares of all classes."""
    return shares.shape == (n_classes,) and bool(is_share_row(shares) and (shares > 0).all())
