"""Reading the values of bags from columns: shares or counts, exact or as ranges, by class."""

from __future__ import annotations

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
from decorrupt.app.training.table import Table, as_numbers, near_match

# Equal shares read from a text file can differ in their last digits.
SAME_SHARE = 1e-6


@dataclass(frozen=True)
class BagValues:
    """The columns of shares or counts, and their values by row.

    Attributes
    ----------
    table : Table
        The table that has them, with one row per bag and row of `ends`, or with the rows of bags.
    names : list of str
        The columns: one for the positive class, or one per class.
    ends : ndarray of shape (n_rows, 2, n_columns)
        The lower and upper ends of the values; a value that is not a range is both.
    """

    table: Table
    names: list[str]
    ends: FloatArray


def read_values(holder: Table, columns: BagColumns, *, takes_ranges: bool) -> BagValues:
    """Return the shares or counts of a table of bags or of rows in bags."""
    what = "a count" if columns.are_counts else "a proportion"
    takes_ranges = takes_ranges and columns.are_counts
    names = columns.value_names
    need_columns(holder.frame, names, holder.name, columns.value_option)
    ends = [_read_ends(holder, name, what, takes_ranges=takes_ranges) for name in names]
    return BagValues(holder, names, np.stack(ends, axis=2))


def _read_ends(table: Table, column: str, what: str, *, takes_ranges: bool) -> FloatArray:
    """Return the lower and upper ends of a column, shape (n_rows, 2)."""
    if takes_ranges and not pd.api.types.is_numeric_dtype(table.frame[column]):
        return _read_ranges(table, column, what)
    return np.column_stack([as_numbers(table, column, what)] * 2)


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


def one_per_bag(
    rows: Table, values: BagValues, ids: NDArray[Any], row_bag: NDArray[np.intp]
) -> FloatArray:
    """Return the values of each bag; raise TableError if rows of one bag have different values."""
    first = np.unique(row_bag, return_index=True)[1]
    by_bag = values.ends[first]
    apart = np.abs(values.ends - by_bag[row_bag]) > SAME_SHARE
    for row, end, column in np.argwhere(apart)[:1]:
        bag = row_bag[row]
        raise TableError(
            f"{rows.place(row)}: column {values.names[column]!r} contains "
            f"{values.ends[row, end, column]:g}, but bag {ids[bag]!r} has "
            f"{by_bag[bag, end, column]:g} in row {rows.number(first[bag])}: all rows of a bag "
            "must have the same value"
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
