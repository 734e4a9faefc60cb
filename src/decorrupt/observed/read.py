"""Reading of labels, and of bags with one share or one per class from one entry per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.observed.shares import (
    SHARE_TOL,
    class_columns,
    factorize,
    inseparable_classes,
    is_share_row,
)

ROUNDING = 1e-12  # proportions closer than this differ in the last digits only


def read_labels(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes in sorted order, at least two, and the number of each row's class."""
    shape = np.asarray(y).shape
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array of labels, got shape {shape}. If it contains the shares of "
            "the classes, pass bags= as well"
        )
    labels = column_or_1d(y, warn=True)
    if type_of_target(labels) == "continuous":
        raise ValueError(
            "Unknown label type: continuous. Without bags, y must contain class labels; if it "
            "contains proportions of positives, pass bags= as well"
        )
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()}: a classifier needs rows of two classes"
        )
    return classes, codes.astype(np.intp, copy=False)


def check_upper(y: Any, upper: Any) -> None:
    """Raise ValueError if y and upper have different shapes or columns."""
    if np.shape(upper) != np.shape(y):
        raise ValueError(
            f"y has shape {np.shape(y)} and upper {np.shape(upper)}: give one upper end for every "
            "lower end"
        )
    names, upper_names = (list(getattr(ends, "columns", [])) for ends in (y, upper))
    if names and upper_names and names != upper_names:
        raise ValueError(f"upper has the columns {upper_names}, and y has {names}")


def shares_by_bag(
    ids: NDArray[Any], row_bag: NDArray[np.intp], y: ArrayLike, kind: str, name: str = "y"
) -> FloatArray:
    """Return the shares of each bag, one or one per class, from those of its rows.

    Their `kind` is "exact", in [0, 1] with the sum 1 (within 1e-6); "range", in [0, 1]; or "noisy",
    any numbers. `name` is the argument of the caller, for messages.
    """
    if np.asarray(y).dtype.kind not in "fiubO":
        raise ValueError(
            f"with bags, {name} must contain proportions (numbers in [0, 1]), got "
            f"{np.asarray(y).dtype}; decorrupt.bag_targets turns one proportion per bag into one "
            "per row"
        )
    targets = np.asarray(y, dtype=float)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if len(targets) != len(row_bag) or targets.ndim > 2:
        raise ValueError(
            f"{name} and bags must both have one entry per row: {name} has shape {targets.shape} "
            f"and bags {row_bag.shape}"
        )
    by_class = class_columns(targets)
    is_valid: Any = ((by_class >= 0) & (by_class <= 1)).all(axis=1)
    if kind == "exact":
        is_valid = is_share_row(by_class)
    elif kind == "noisy":
        is_valid = np.isfinite(by_class).all(axis=1)
        if by_class.shape[1] == 2:  # one noisy share and its complement
            with np.errstate(invalid="ignore"):  # an infinite share and its complement
                is_valid &= np.abs(by_class.sum(axis=1) - 1) <= SHARE_TOL
    for row in np.flatnonzero(~is_valid)[:1]:
        _refuse_row(name, row, targets[row], _name(ids[row_bag[row]]), kind)
    lowest = np.full((len(ids), *targets.shape[1:]), np.inf)
    highest = np.full(lowest.shape, -np.inf)
    np.minimum.at(lowest, row_bag, targets)
    np.maximum.at(highest, row_bag, targets)
    for bag, *column in np.argwhere(highest - lowest > SHARE_TOL)[:1]:
        cell = (bag, *column)
        where = f"column {column[0]}: " if column else ""
        raise ValueError(
            f"{name} differs within bag {_name(ids[bag])} ({where}from {lowest[cell]:g} to "
            f"{highest[cell]:g}): all rows of a bag must have the same proportion"
        )
    if kind == "exact" and lowest.ndim == 2:
        lowest /= lowest.sum(axis=1, keepdims=True)
    return lowest


def _refuse_row(name: str, row: int, shares: Any, bag: str, kind: str) -> None:
    if np.ndim(shares) == 0:
        raise ValueError(
            f"{name}[{row}] = {shares:g} (bag {bag}) is not a proportion: with bags given, {name} "
            "is the share of positives in each row's bag, a number in [0, 1]"
        )
    rule = f" and sum to 1 (within {SHARE_TOL:g}), but sum to {shares.sum():g}"
    raise ValueError(
        f"{name}[{row}] = {shares.tolist()} (bag {bag}) are not the shares of {len(shares)} "
        f"classes: they must lie in [0, 1]{rule * (kind != 'range')}"
    )


def _name(bag: Any) -> str:
    return repr(bag.item() if hasattr(bag, "item") else bag)


def check_bags(
    sizes: ArrayLike, proportions: ArrayLike, classes: Sequence[Any] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return both as float arrays; raise a ValueError if the classes cannot be learned from them.

    `proportions` are the shares of positives, or of all classes, by bag; `classes` is what a
    message calls the classes, by default their numbers.
    """
    sizes, given = np.asarray(sizes, dtype=float), np.asarray(proportions, dtype=float)
    if sizes.ndim != 1 or given.ndim not in (1, 2) or sizes.shape != given.shape[:1]:
        raise ValueError(
            "sizes and proportions must be lists of the same length, or proportions have one row "
            f"per bag and one column per class: got shapes {sizes.shape} and {given.shape}"
        )
    for bag in np.flatnonzero(~((sizes > 0) & np.isfinite(sizes)))[:1]:
        raise ValueError(f"sizes of bag {bag} is {sizes[bag]:g}: an empty bag has no mean; drop it")
    shares = class_columns(given)
    for bag in np.flatnonzero(~is_share_row(shares))[:1]:
        rule = "use [0, 1]" if given.ndim == 1 else "use [0, 1], and a sum of 1 per bag"
        raise ValueError(f"proportions of bag {bag} is {given[bag].tolist()}: {rule}")
    if len(sizes) < 2:
        raise ValueError(
            "there is only one bag: nothing can be learned from a single proportion, because "
            "every classifier has the same risk estimate; at least two bags are needed"
        )
    if max(np.ptp(share) for share in shares.T) <= ROUNDING:
        first = f"{shares[0, 1]:g}" if shares.shape[1] == 2 else given[0].tolist()
        raise ValueError(
            f"all {len(sizes)} bags have the same proportion {first}: nothing can be learned, "
            "because only differences between bags give information about the classes"
        )
    names = list(range(shares.shape[1])) if classes is None else list(classes)
    for name in (name for name, share in zip(names, shares.T, strict=True) if not share.any()):
        raise ValueError(
            f"class {name!r} has share 0 in every bag: nothing can be learned about it; leave out "
            "its column"
        )
    if len(names) == 2:  # they differ if two bags do, however little
        return sizes, shares
    together = inseparable_classes(np.sqrt(sizes)[:, None] * shares)
    if together:
        few = f" (there are only {len(sizes)} bags)" if len(sizes) < len(names) else ""
        raise ValueError(
            f"the classes {', '.join(repr(names[c]) for c in together)} cannot be distinguished: "
            f"their shares in the bags are linearly dependent{few}. Merge these classes or add "
            f"bags with other shares; {len(names)} classes need at least {len(names)} bags"
        )
    return sizes, shares


def bag_targets(bags: Any, proportions: Any) -> Any:
    """Return one proportion per row, from one proportion per bag.

    y[j] is the proportion of row j's bag.

    With one share per bag and class, y has one column per class, and y is a data frame if the
    shares are one: its column names become `classes_`.

    Parameters
    ----------
    bags : array-like of shape (n_rows,)
        The bag of each row; any hashable ids.
    proportions : mapping, pandas Series or DataFrame, or array
        One proportion per bag, or one per class: a mapping to sequences, a DataFrame with a column
        per class, an array of shape (n_bags, n_classes). The index of a Series or DataFrame holds
        the bag ids. An array is read in the sorted order of the distinct ids, so that for bags
        numbered 0, 1, … entry k belongs to bag k.

    Returns
    -------
    ndarray of shape (n_rows,) or (n_rows, n_classes), or DataFrame with a column per class

    Raises
    ------
    ValueError
        If a bag has no proportion or more than one, the array's length is not the number of bags,
        or a table of several columns is not indexed by bag.

    Examples
    --------
    >>> from decorrupt import bag_targets
    >>> bag_targets(["north", "south", "north"], {"north": 0.25, "south": 0.5}).tolist()
    [0.25, 0.5, 0.25]
    >>> bag_targets([0, 1, 0], [[0.5, 0.3, 0.2], [0.0, 0.6, 0.4]]).tolist()
    [[0.5, 0.3, 0.2], [0.0, 0.6, 0.4], [0.5, 0.3, 0.2]]
    """
    ids, codes = factorize(bags, "bags")
    names, columns = ids.tolist(), list(getattr(proportions, "columns", []))
    if len(columns) == 1:
        return bag_targets(bags, proportions[columns[0]])
    is_pandas, index = hasattr(proportions, "iloc"), None
    if is_pandas:  # the index as an array, so that dates compare with dates
        index = np.asarray(proportions.index).tolist()
    elif isinstance(proportions, Mapping):
        index = list(proportions)
    if columns and not set(index or ()) & set(names):
        raise ValueError(
            f"proportions have the columns {', '.join(map(repr, columns))}: give the one column "
            "with the bags' proportions, or one column per class, indexed by bag, as in "
            "table.set_index('bag')"
        )
    if index is not None:
        order = _order_of(names, index)
        if is_pandas:
            rows = proportions.iloc[order[codes]]
            return rows if rows.ndim == 2 else rows.to_numpy(dtype=float)
        proportions = [proportions[bag] for bag in names]
        for bag, shares in zip(names, proportions, strict=True):
            if np.shape(shares) != np.shape(proportions[0]):
                raise ValueError(
                    f"proportions of bag {bag!r} have shape {np.shape(shares)}, those of bag "
                    f"{names[0]!r} {np.shape(proportions[0])}: give one share per class for every "
                    "bag"
                )
    by_bag = np.asarray(proportions, dtype=float)
    if by_bag.ndim not in (1, 2) or len(by_bag) != len(ids):
        raise ValueError(
            f"proportions have shape {by_bag.shape} but there are {len(ids)} bags: "
            "give one proportion (or one row of shares) per bag, or a mapping from bag to it"
        )
    return by_bag[codes]


def _order_of(names: list[Any], index: list[Any]) -> NDArray[np.intp]:
    """Return the position of each bag in the index of a table with one entry per bag."""
    position = {bag: row for row, bag in enumerate(index)}
    missing = [bag for bag in names if bag not in position]
    if missing:
        raise ValueError(
            f"proportions are missing for {len(missing)} of {len(names)} bags; the first is "
            f"{missing[0]!r}"
        )
    for bag in (bag for row, bag in enumerate(index) if position[bag] != row):
        raise ValueError(f"proportions contain bag {bag!r} more than once: give one entry per bag")
    return np.array([position[bag] for bag in names], dtype=np.intp)
