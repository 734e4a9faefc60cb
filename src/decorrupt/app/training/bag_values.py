"""Reading the values of bags from columns: shares or counts, exact or as ranges, by class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import need_columns
from decorrupt.app.training.guess import size_columns
from decorrupt.app.training.inexact_counts import count_range
from decorrupt.app.training.preprocess import as_text
from decorrupt.app.training.table import Table, as_numbers, group_codes, near_match

# Equal shares read from a text file can differ in their last digits.
SAME_SHARE = 1e-6


@dataclass(frozen=True)
class BagValues:
    """The columns of the lower ends, those of the upper ends, and their values by row.

    Attributes
    ----------
    table : Table
        The table that has them, with one row per bag and row of `ends`, or with the rows of bags.
    lower, upper : list of str
        The columns: one for the positive class, or one per class. A value that is not a range is
        both ends.
    ends : ndarray of shape (n_rows, 2, n_columns)
        The values.
    """

    table: Table
    lower: list[str]
    upper: list[str]
    ends: FloatArray


def read_values(holder: Table, columns: BagColumns, *, takes_ranges: bool) -> BagValues:
    """Return the shares or counts of a table of bags or of rows in bags.

    A long table, with one row per bag and class, becomes one with one row per bag.
    """
    what = "a count" if columns.are_counts else "a proportion"
    takes_ranges = takes_ranges and columns.are_counts
    if columns.class_name is not None:
        return _one_row_per_bag(holder, columns, what, takes_ranges=takes_ranges)
    lower = columns.value_names
    need_columns(holder.frame, lower, holder.name, columns.value_option)
    upper = [columns.upper] if columns.upper else lower
    need_columns(holder.frame, upper, holder.name, "--upper-column")
    takes_ranges = takes_ranges and columns.upper is None
    ends = [
        _read_ends(holder, *names, what, takes_ranges=takes_ranges)
        for names in zip(lower, upper, strict=True)
    ]
    return BagValues(holder, lower, upper, np.stack(ends, axis=2))


def _read_ends(table: Table, low: str, high: str, what: str, *, takes_ranges: bool) -> FloatArray:
    """Return the lower and upper ends of a column, shape (n_rows, 2)."""
    if takes_ranges and not pd.api.types.is_numeric_dtype(table.frame[low]):
        return _read_ranges(table, low, what)
    return np.column_stack([as_numbers(table, name, what) for name in (low, high)])


def _read_ranges(table: Table, column: str, what: str) -> FloatArray:
    """Return the smallest and largest count of cells such as ``<5``; a number is both."""
    values = table.frame[column]
    ranges = {cell: count_range(cell) for cell in values.dropna().unique()}
    ends = []
    for end in (0, 1):
        known = {cell: pair[end] for cell, pair in ranges.items() if pair is not None}
        frame = pd.DataFrame({column: values.map(lambda cell, known=known: known.get(cell, cell))})
        ends.append(as_numbers(replace(table, frame=frame), column, what))
    return np.column_stack(ends)


def _one_row_per_bag(
    bags: Table, columns: BagColumns, what: str, *, takes_ranges: bool
) -> BagValues:
    """Return the values of a long table; classes that are not listed for a bag have 0."""
    (value,), class_name = columns.value_names, str(columns.class_name)
    named = {
        "--bag-column": columns.bag,
        "--class-column": class_name,
        columns.value_option: value,
    }
    for option, name in named.items():
        need_columns(bags.frame, [name], bags.name, option)
    ids, bag = group_codes(bags, columns.bag, "name a bag")
    classes, kind = group_codes(bags, class_name, "name a class")
    if len(classes) < 2:
        raise TableError(
            f"{bags.name}: column {class_name!r} contains one class only, {classes[0]!r}"
        )
    if columns.bag in classes:
        raise TableError(f"{bags.name}: a class has the name of the bag column, {columns.bag!r}")
    values = _read_ends(bags, value, value, what, takes_ranges=takes_ranges)
    place = pd.Series(bag * len(classes) + kind)
    for row in np.flatnonzero(place.duplicated())[:1]:
        raise TableError(
            f"{bags.name}, row {row + 1}: class {classes[kind[row]]!r} of bag {ids[bag[row]]!r} is "
            f"already in row {place.eq(place[row]).argmax() + 1}"
        )
    names = sort_classes(classes.tolist())
    ends = np.zeros((len(ids), 2, len(names)))
    ends[bag, :, [names.index(classes[one]) for one in kind]] = values
    return BagValues(Table(pd.DataFrame({columns.bag: ids}), bags.name), names, names, ends)


def sort_classes(names: Iterable[str]) -> list[str]:
    """Return classes in order: numbers by value, then other names alphabetically."""
    return sorted(names, key=_as_number)


def _as_number(name: str) -> tuple[float, str]:
    return (float(name), name) if name.lstrip("-").isdecimal() else (np.inf, name)


def one_per_bag(
    rows: Table, values: BagValues, ids: NDArray[Any], row_bag: NDArray[np.intp]
) -> FloatArray:
    """Return the values of each bag; raise TableError if rows of one bag have different values."""
    first = np.unique(row_bag, return_index=True)[1]
    by_bag = values.ends[first]
    apart = np.abs(values.ends - by_bag[row_bag]) > SAME_SHARE
    for end, names in enumerate((values.lower, values.upper)):
        for column, name in enumerate(names):
            for row in np.flatnonzero(apart[:, end, column])[:1]:
                bag = row_bag[row]
                raise TableError(
                    f"{rows.name}, row {row + 1}: column {name!r} contains "
                    f"{values.ends[row, end, column]:g}, but bag {ids[bag]!r} has "
                    f"{by_bag[bag, end, column]:g} in row {first[bag] + 1}: all rows of a bag must "
                    "have the same value"
                )
    return np.asarray(by_bag)


def join_bags(
    rows: Table,
    values: BagValues,
    bag_column: str,
    ids: NDArray[Any],
    row_bag: NDArray[np.intp],
) -> tuple[FloatArray, list[str]]:
    """Return the values of each bag from a table of bags, and a warning about bags without rows.

    Raises TableError if a bag is listed twice or not at all.
    """
    bags = values.table
    need_columns(bags.frame, [bag_column], bags.name, "--bag-column")
    names = pd.Index(as_text(bags.frame[bag_column]), dtype=object)
    for row in np.flatnonzero(names.duplicated())[:1]:
        first = names.tolist().index(names[row]) + 1
        raise TableError(
            f"{bags.name}, row {row + 1}: bag {names[row]!r} is already in row {first}"
        )
    order = names.get_indexer(ids)
    lost, idle = ids[order < 0], len(names) - len(ids)
    if len(lost):
        row = int(np.flatnonzero(order[row_bag] < 0)[0])
        bag = ids[row_bag[row]]
        more = f" (nor {len(lost) - 1} other bags)" if len(lost) > 1 else ""
        raise TableError(
            f"{rows.place(row)}: bag {bag!r} is not in column {bag_column!r} of "
            f"{bags.name}{more}" + near_match(bag, names.tolist())
        )
    sizes = np.bincount(row_bag)
    return values.ends[order], [
        *_idle_warnings(bags.name, idle, len(names)),
        *_size_warnings(bags, ids, order, sizes),
    ]


def _idle_warnings(table: str, idle: int, n_bags: int) -> list[str]:
    has = "has" if idle == 1 else "have"
    return [f"{idle} of {n_bags} bags in {table} {has} no rows: not used"] if idle else []


def _size_warnings(
    bags: Table, ids: NDArray[Any], order: NDArray[np.intp], sizes: NDArray[Any]
) -> list[str]:
    """Return a warning for each column of sizes that contradicts the numbers of rows."""
    said = []
    for column in size_columns(bags):
        given = pd.to_numeric(bags.frame[column], errors="coerce").to_numpy(dtype=float)[order]
        apart = np.flatnonzero((given != sizes) & ~np.isnan(given))
        if len(apart):
            said.append(
                f"column {column!r} of {bags.name} contradicts the number of rows of {len(apart)} "
                f"bags (the first is {ids[apart[0]]!r}: {given[apart[0]]:g} and "
                f"{sizes[apart[0]]:g}): are rows missing?"
            )
    return said
