"""What is given per row: ids of any type as numbers, weights, and class shares by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_random_state

from decorrupt._typing import FloatArray

# Shares that went through float32 or a text file differ in the last digits only.
SHARE_TOL = 1e-6
# Singular values below this share of the largest come from such rounding.
RANK_TOL = 1e-6
# A class belongs to a null space if its squared coordinates there sum to more than this.
SUPPORT_TOL = 1e-6
# As a class prior: the same share of every class.
BALANCED = 0.5
# The largest number that is counted exactly.
MAX_ROWS = 2**53


def factorize(values: Any, name: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct ids in `values`, sorted if possible, and the index of each row's id.

    Ids can be any hashable values: numbers, strings, categoricals, tuples. A missing id raises a
    ValueError that names `name` and the row.
    """
    array, is_missing = read_ids(values, name)
    for row in np.flatnonzero(is_missing)[:1]:
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


def read_ids(values: Any, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the ids of the rows, and which are missing: None or NaN."""
    is_list = isinstance(values, list | tuple)
    if is_list and any(isinstance(value, tuple) for value in values):
        array = np.empty(len(values), dtype=object)
        array[:] = values  # keep tuples whole instead of making columns of them
    elif is_list and len({type(value) for value in values}) > 1:
        array = np.array(values, dtype=object)  # numpy would turn 1 and "1" into one id
    else:
        is_column = np.ndim(values) == 2 and np.shape(values)[1] == 1
        array = np.ravel(values) if is_column else np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must hold one id per row, got shape {array.shape}")
    if array.dtype.kind in "mM":
        return array, np.isnat(array)
    if array.dtype.kind != "O":
        return array, np.asarray(array != array)
    return array, np.array([_is_missing(value) for value in array], dtype=bool)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # NaN differs from itself
    except (TypeError, ValueError):  # pandas.NA is neither equal nor different
        return True


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[Any] | None:
    """Return how many rows each row represents, whole numbers as such; None if all are 1."""
    if sample_weight is None:
        return None
    weights = check_weights(sample_weight, n_rows)
    if not weights.any():
        raise ValueError("every sample_weight is zero: there is no row to learn from")
    return None if (weights == 1).all() else whole_if_whole(weights)


def check_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return the weights; raise ValueError if one is not a finite number of rows, at least 0."""
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}: give one number for each of the {n_rows} "
            "rows, how many rows it represents"
        )
    for row in np.flatnonzero(~((weights >= 0) & (weights <= MAX_ROWS)))[:1]:
        rule = "a finite number of rows, at least 0"
        if MAX_ROWS < weights[row] < np.inf:
            rule = "at most 2**53 rows, the largest number that is counted exactly"
        raise ValueError(f"sample_weight[{row}] = {weights[row]:g}: a row represents {rule}")
    return weights


def whole_if_whole(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers as integers if all are whole, otherwise as they are."""
    whole = np.rint(numbers)
    return whole.astype(np.intp) if (whole == numbers).all() else numbers


def check_whole(weights: NDArray[Any] | None, chosen: NDArray[np.bool_] | bool = True) -> None:
    """Raise ValueError if a chosen row's weight is not whole: counts are of whole rows."""
    if weights is None or weights.dtype.kind != "f":
        return
    for row in np.flatnonzero((weights != np.rint(weights)) & chosen)[:1]:
        raise ValueError(
            f"sample_weight[{row}] = {weights[row]:g} is not a whole number: class counts of bags "
            "are counts of whole rows"
        )


def take_rows(values: Any, rows: NDArray[np.intp], n_rows: int) -> Any:
    """Return the entries of some of `n_rows` rows; a list stays one, so that tuples stay ids."""
    if values is None or len(rows) == n_rows or len(values) != n_rows:
        return values  # the reader refuses other lengths
    return _safe_indexing(list(values) if isinstance(values, tuple) else values, rows)


def refuse_weights(weights: Any, what: str) -> None:
    """Raise ValueError if there are weights, for what can only use single rows."""
    if weights is not None:
        raise ValueError(f"{what} cannot use sample_weight: repeat the rows instead")


def repeated_rows(weights: NDArray[Any], most: int, random_state: Any = None) -> NDArray[np.intp]:
    """Return each row number as often as its weight says; of more than `most` rows a sample.

    Weights that are not whole are the chances of as many draws as rows.
    """
    rows = np.arange(len(weights))
    if weights.dtype.kind == "i" and weights.sum() <= most:
        return np.repeat(rows, weights)
    rng = check_random_state(random_state)
    if weights.dtype.kind == "f":
        total = weights.sum()
        return np.sort(rng.choice(rows, min(most, int(np.ceil(total))), p=weights / total))
    generator = np.random.default_rng(rng.randint(2**31))  # RandomState lacks this distribution
    return np.repeat(rows, generator.multivariate_hypergeometric(weights, most, method="marginals"))


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
    """Return one share per class, all positive; "pooled" is `pooled`, the shares among all rows.

    A number is the share of positives of two classes; 0.5 is the same share of every class for any
    number of classes. `name` is the caller's argument, for messages.
    """
    n_classes = len(pooled)
    if isinstance(class_prior, str):
        if class_prior == "pooled":
            return pooled
    elif n_classes > 2 and np.ndim(class_prior) == 0 and class_prior == BALANCED:
        return np.full(n_classes, 1 / n_classes)
    equal = "0.5 for equal shares, " * (n_classes > 2)
    return positive_shares(class_prior, n_classes, name, f", {equal}or 'pooled'")


def positive_shares(value: Any, n_classes: int, name: str, others: str = "") -> FloatArray:
    """Return one share per class, all positive; of two classes also from that of positives.

    A message calls them `name`, and lists the `others` that are possible.
    """
    shares = np.asarray(np.nan if isinstance(value, str) else value, dtype=float)
    shares = class_columns([shares])[0] if shares.ndim == 0 else shares
    if shares.shape != (n_classes,) or not is_share_row(shares) or not (shares > 0).all():
        rule = f"{n_classes} positive shares that sum to 1{others}"
        if n_classes == 2:
            rule = f"a number strictly between 0 and 1, {'' if others else 'or '}{rule}"
        raise ValueError(f"{name}={value!r}: give {rule}")
    return shares
