"""Strata: sets of rows with a known share of positives, or of each class.

A bag is one stratum. A noisy labelled source is two: its rows labelled +1 and those labelled −1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption.class_shares import SHARE_TOL, is_share_row


@dataclass(frozen=True)
class Strata:
    """Rows grouped into strata, each with its known share of positives, or of each class.

    Parameters
    ----------
    ids : ndarray of shape (n_strata,)
        The caller's id of each stratum.
    row_stratum : ndarray of int, shape (n_rows,)
        The index of each row's stratum.
    proportions : ndarray of shape (n_strata,) or (n_strata, n_classes)
        P(Y=1) in each stratum, or P(Y=c) with one column per class.
    observed : CountObservations, optional
        What is known about the counts if that is not the proportions: ranges and noisy counts.
        Count likelihoods use it instead of the proportions.
    """

    ids: NDArray[Any]
    row_stratum: NDArray[np.intp]
    proportions: FloatArray
    observed: Any = field(default=None, kw_only=True)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Rows of each stratum."""
        return np.bincount(self.row_stratum, minlength=len(self.ids))

    @property
    def n_classes(self) -> int | None:
        """Columns of `proportions`; None if it contains one share of positives per stratum."""
        return None if self.proportions.ndim == 1 else int(self.proportions.shape[1])

    @property
    def row_proportions(self) -> FloatArray:
        """The proportion of each row's stratum, or its proportions."""
        return np.asarray(self.proportions[self.row_stratum])

    def take(self, rows: NDArray[np.intp]) -> Strata:
        """Return the strata of some rows only; strata without rows are dropped.

        A part of a stratum has its proportions, and what is observed about its counts in
        proportion to its rows.
        """
        present, row_stratum = np.unique(self.row_stratum[rows], return_inverse=True)
        observed = None
        if self.observed is not None:
            taken = np.bincount(row_stratum) / self.sizes[present]
            observed = self.observed.take(present, taken)
        return Strata(self.ids[present], row_stratum, self.proportions[present], observed=observed)


@dataclass(frozen=True)
class BagTable(Strata):
    """Strata without rows: one entry per bag instead of one per row.

    `row_stratum` numbers the bags, so that ``combination.row_terms(table)`` are the coefficients
    of each row of a bag.

    Attributes
    ----------
    rows_per_bag : ndarray of int, shape (n_bags,)
        Rows of each bag in all partitions.
    """

    rows_per_bag: NDArray[np.intp]

    @classmethod
    def of(cls, ids: NDArray[Any], proportions: FloatArray, sizes: NDArray[np.intp]) -> BagTable:
        """Return the table of the bags `ids`."""
        return cls(ids, np.arange(len(ids)), proportions, sizes)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Rows of each bag."""
        return self.rows_per_bag

    @property
    def n_rows(self) -> int:
        """Rows of all bags."""
        return int(self.rows_per_bag.sum())


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


def bag_targets(bags: Any, proportions: Any) -> Any:
    """Return y with y[j] = the proportion of row j's bag, from one proportion per bag.

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
    table: Any = None
    if hasattr(proportions, "columns"):
        proportions = table = _read_columns(proportions, ids)
    if hasattr(proportions, "index") and hasattr(proportions, "to_dict"):  # pandas
        index = proportions.index
        if not index.is_unique:
            twice = index[index.duplicated()][0]
            raise ValueError(
                f"proportions contain bag {twice!r} more than once: give one entry per bag"
            )
        # As arrays on both sides, so that dates compare with dates.
        proportions = dict(
            zip(np.asarray(index).tolist(), np.asarray(proportions).tolist(), strict=True)
        )
    if isinstance(proportions, Mapping):
        missing = [bag for bag in ids.tolist() if bag not in proportions]
        if missing:
            raise ValueError(
                f"proportions are missing for {len(missing)} of {len(ids)} bags; the first is "
                f"{missing[0]!r}"
            )
        _check_lengths(proportions, ids)
        if hasattr(table, "columns"):
            place = {bag: row for row, bag in enumerate(proportions)}
            return table.iloc[np.array([place[bag] for bag in ids.tolist()])[codes]]
        by_bag = np.array([proportions[bag] for bag in ids.tolist()], dtype=float)
    else:
        by_bag = np.asarray(proportions, dtype=float)
        if by_bag.ndim not in (1, 2) or len(by_bag) != len(ids):
            raise ValueError(
                f"proportions have shape {by_bag.shape} but there are {len(ids)} bags: "
                "give one proportion (or one row of shares) per bag, or a mapping from bag to it"
            )
    return by_bag[codes]


def _check_lengths(proportions: Mapping[Any, Any], ids: NDArray[Any]) -> None:
    first = ids.tolist()[0]
    for bag in ids.tolist():
        if np.shape(proportions[bag]) != np.shape(proportions[first]):
            raise ValueError(
                f"proportions of bag {bag!r} have shape {np.shape(proportions[bag])}, those of bag "
                f"{first!r} {np.shape(proportions[first])}: give one share per class for every bag"
            )


def _read_columns(table: Any, ids: NDArray[Any]) -> Any:
    """Return the one column, or the table itself if it has a column per class, indexed by bag."""
    names = list(table.columns)
    if len(names) == 1:
        return table[names[0]]
    if not hasattr(table, "index") or not set(np.asarray(table.index).tolist()) & set(ids.tolist()):
        raise ValueError(
            f"proportions have the columns {', '.join(map(repr, names))}: give the one column "
            "with the bags' proportions, or one column per class, indexed by bag, as in "
            "table.set_index('bag')"
        )
    return table


def strata_from_bags(bags: Any, y: ArrayLike, *, is_noisy: bool = False, name: str = "y") -> Strata:
    """Return one stratum per bag, with its proportion from the y of its rows.

    Parameters
    ----------
    bags : array-like of shape (n_rows,)
        The bag of each row.
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        The proportion of positives in each row's bag, or the share of every class; the shares of
        a row sum to 1 (within 1e-6). All rows of a bag have the same values (within 1e-6).
    is_noisy : bool
        Whether a proportion can be below 0 or above 1 because of noise. The shares of several
        classes then need not sum to 1; two columns are one noisy share and must.
    name : str
        The argument y of the caller, for messages.

    Raises
    ------
    ValueError
        If y is not a proportion, its rows do not sum to 1, or it differs within a bag.
    """
    ids, codes = factorize(bags, "bags")
    targets = np.asarray(y, dtype=float)
    if targets.ndim == 2 and targets.shape[1] > 1 and len(targets) == len(codes):
        return _class_strata(ids, codes, targets, is_noisy=is_noisy)
    if targets.shape != codes.shape:
        raise ValueError(
            f"{name} and bags must both have one entry per row: {name} has shape {targets.shape} "
            f"and bags {codes.shape}"
        )
    is_good = np.isfinite(targets) if is_noisy else (targets >= 0) & (targets <= 1)
    bad = np.flatnonzero(~is_good)  # also catches NaN
    if len(bad):
        row = int(bad[0])
        raise ValueError(
            f"{name}[{row}] = {targets[row]:g} (bag {_name(ids[codes[row]])}) is not a proportion: "
            f"with bags given, {name} is the share of positives in each row's bag, a number in "
            "[0, 1]"
        )
    lowest, highest = _extremes(len(ids), codes, targets)
    apart = np.flatnonzero(highest - lowest > SHARE_TOL)
    if len(apart):
        bag = int(apart[0])
        raise ValueError(
            f"{name} differs within bag {_name(ids[bag])} (from {lowest[bag]:g} to "
            f"{highest[bag]:g}): all rows of a bag must have the same proportion"
        )
    return Strata(ids, codes, lowest)


def _extremes(
    n_bags: int, codes: NDArray[np.intp], targets: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest target of each bag."""
    lowest = np.full((n_bags, *targets.shape[1:]), np.inf)
    highest = np.full(lowest.shape, -np.inf)
    np.minimum.at(lowest, codes, targets)
    np.maximum.at(highest, codes, targets)
    return lowest, highest


def _class_strata(
    ids: NDArray[Any], codes: NDArray[np.intp], targets: FloatArray, *, is_noisy: bool
) -> Strata:
    is_good = np.isfinite(targets).all(axis=1) if is_noisy else is_share_row(targets)
    if is_noisy and targets.shape[1] == 2:
        is_good &= np.abs(targets.sum(axis=1) - 1) <= SHARE_TOL
    bad = np.flatnonzero(~is_good)
    if len(bad):
        row = int(bad[0])
        raise ValueError(
            f"y[{row}] = {targets[row].tolist()} (bag {_name(ids[codes[row]])}) are not the shares "
            f"of {targets.shape[1]} classes: they must lie in [0, 1] and sum to 1 (within "
            f"{SHARE_TOL:g}), but sum to {targets[row].sum():g}"
        )
    shares = _shares_by_bag(ids, codes, targets, "y")
    return Strata(ids, codes, shares if is_noisy else shares / shares.sum(axis=1, keepdims=True))


def class_range_ends(bags: Any, ends: ArrayLike, name: str) -> Strata:
    """Return one stratum per bag, whose proportions are one end of the range of each class.

    Parameters
    ----------
    bags : array-like of shape (n_rows,)
        The bag of each row.
    ends : array-like of shape (n_rows, n_classes)
        The lower or the upper ends of the shares in each row's bag; they need not sum to 1.
    name : str
        The argument, for messages.
    """
    ids, codes = factorize(bags, "bags")
    targets = np.asarray(ends, dtype=float)
    for row, column in np.argwhere(~((targets >= 0) & (targets <= 1)))[:1]:  # also catches NaN
        raise ValueError(
            f"{name}[{row}, {column}] = {targets[row, column]:g} (bag {_name(ids[codes[row]])}) is "
            "not a share: the ends of a class's range must lie in [0, 1]"
        )
    return Strata(ids, codes, _shares_by_bag(ids, codes, targets, name))


def _shares_by_bag(
    ids: NDArray[Any], codes: NDArray[np.intp], targets: FloatArray, name: str
) -> FloatArray:
    """Return the shares of each bag; raise ValueError if they differ within a bag."""
    lowest, highest = _extremes(len(ids), codes, targets)
    for bag, column in np.argwhere(highest - lowest > SHARE_TOL)[:1]:
        raise ValueError(
            f"{name} differs within bag {_name(ids[bag])} (column {column}: from "
            f"{lowest[bag, column]:g} to {highest[bag, column]:g}): all rows of a bag must have "
            "the same shares"
        )
    return lowest


def strata_from_labels(
    codes: NDArray[np.int_], classes: NDArray[Any], *, rows_as_bags: bool = False
) -> Strata:
    """Return one pure stratum per class, or with `rows_as_bags` one per row.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        The number of each row's class; every class has a row.
    classes : ndarray of shape (n_classes,)
        The classes.
    rows_as_bags : bool
        Whether every row is a stratum of its own.
    """
    if rows_as_bags:
        rows = np.arange(len(codes))
        return two_classes(Strata(rows, rows, np.eye(len(classes))[codes]))
    ids = np.array([f"label {name}" for name in classes.tolist()])
    return two_classes(Strata(ids, codes.astype(np.intp), np.eye(len(classes))))


def two_classes(strata: Strata) -> Strata:
    """Return the same strata; two classes get one share of positives instead of two shares."""
    if strata.n_classes != 2:
        return strata
    return replace(strata, proportions=strata.proportions[:, 1].copy())


def _name(bag: Any) -> str:
    return repr(bag.item() if hasattr(bag, "item") else bag)
