"""Reading rows in bags with known proportions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError
from decorrupt.app.training.bad_cells import decimal_hint
from decorrupt.app.training.columns import need_columns
from decorrupt.app.training.preprocess import as_text
from decorrupt.corruption import Strata, check_strata

# Equal shares read from a text file can differ in their last digits.
SAME_SHARE = 1e-6


@dataclass(frozen=True)
class Table:
    """A frame, and the file name for messages."""

    frame: pd.DataFrame
    name: str


@dataclass(frozen=True)
class BagRows:
    """Rows in bags of known proportions.

    Attributes
    ----------
    table : Table
        The rows, with all their columns.
    strata : Strata
        One stratum per bag; `ids` are the names of the bags as text.
    roles : tuple of str
        Columns of the rows' table that are not features.
    warnings : tuple of str
        Warnings about the join.
    """

    table: Table
    strata: Strata
    roles: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def y(self) -> FloatArray:
        """The proportion of each row's bag."""
        return self.strata.row_proportions


def read_bags(
    rows: Table,
    bags: Table | None = None,
    *,
    bag_column: str,
    proportion_column: str | None = None,
    count_column: str | None = None,
) -> BagRows:
    """Return rows with the proportions of their bags, from the same table or a table of bags.

    Parameters
    ----------
    rows : Table
        One row per instance, with the column `bag_column`.
    bags : Table, optional
        One row per bag, joined on `bag_column`; None: the proportion or count is in every row.
    bag_column : str
        The column of bag names, in both tables.
    proportion_column, count_column : str, optional
        The bags' shares of positives, or numbers of positives: one of the two. A count is divided
        by the number of the bag's rows.

    Raises
    ------
    TableError
        Naming file, column and row: if a column or a bag is missing, a bag is listed twice, a value
        is not a share or count, or all proportions are equal.
    """
    if (proportion_column is None) == (count_column is None):
        raise TableError("give either --proportion-column or --count-column, and not both")
    value_column = str(proportion_column or count_column)
    need_columns(rows.frame, [bag_column], rows.name, "--bag-column")
    ids, row_bag = group_codes(rows, bag_column)
    holder = bags or rows
    option = "--proportion-column" if proportion_column else "--count-column"
    need_columns(holder.frame, [value_column], holder.name, option)
    values = as_numbers(holder, value_column, "a proportion" if proportion_column else "a count")
    warnings: list[str] = []
    if bags is None:
        by_bag = _one_per_bag(rows, value_column, values, ids, row_bag)
    else:
        by_bag, warnings = _joined(rows, bags, bag_column, values, ids, row_bag)
    sizes = np.bincount(row_bag, minlength=len(ids))
    if count_column:
        _check_counts(holder.name, value_column, ids, by_bag, sizes)
        by_bag = by_bag / sizes
    else:
        check_shares(holder.name, value_column, ids, by_bag)
    try:
        check_strata(sizes, by_bag)
    except ValueError as error:
        raise TableError(f"{holder.name}: column {value_column!r}: {error}") from None
    roles = tuple(name for name in (bag_column, value_column) if name in rows.frame.columns)
    return BagRows(rows, Strata(ids, row_bag, by_bag), roles, tuple(warnings))


def group_codes(
    table: Table, column: str, duty: str = "belong to a bag"
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct names in a column and the index of each row's name.

    Raises TableError if a row has none.
    """
    names = as_text(table.frame[column])
    empty = np.flatnonzero(pd.isna(names))
    if len(empty):
        raise TableError(
            f"{table.name}, row {empty[0] + 1}: column {column!r} is empty, but every row must "
            f"{duty}"
        )
    ids, codes = np.unique(names.astype(str), return_inverse=True)
    return ids.astype(object), codes.astype(np.intp)


def as_numbers(table: Table, column: str, what: str) -> FloatArray:
    """Return a column of numbers; raise TableError if a row has none."""
    values = table.frame[column]
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        value = values.iloc[wrong[0]]
        held = "is empty" if pd.isna(value) else f"contains {str(value)!r}"
        raise TableError(
            f"{table.name}, row {wrong[0] + 1}: column {column!r} {held}, which is not {what}"
            + decimal_hint(value)
        )
    return np.asarray(numbers)


def _one_per_bag(
    rows: Table, column: str, values: FloatArray, ids: NDArray[Any], row_bag: NDArray[np.intp]
) -> FloatArray:
    first = np.unique(row_bag, return_index=True)[1]
    by_bag = values[first]
    apart = np.flatnonzero(np.abs(values - by_bag[row_bag]) > SAME_SHARE)
    if len(apart):
        row = int(apart[0])
        raise TableError(
            f"{rows.name}, row {row + 1}: column {column!r} contains {values[row]:g}, but bag "
            f"{ids[row_bag[row]]!r} has {by_bag[row_bag[row]]:g} in row {first[row_bag[row]] + 1}: "
            "all rows of a bag must have the same value"
        )
    return np.asarray(by_bag)


def _joined(
    rows: Table,
    bags: Table,
    bag_column: str,
    values: FloatArray,
    ids: NDArray[Any],
    row_bag: NDArray[np.intp],
) -> tuple[FloatArray, list[str]]:
    need_columns(bags.frame, [bag_column], bags.name, "--bag-column")
    names = as_text(bags.frame[bag_column])
    known: dict[Any, int] = {}
    for row, name in enumerate(names):
        if name in known:
            raise TableError(
                f"{bags.name}, row {row + 1}: bag {name!r} is already in row {known[name] + 1}"
            )
        known[name] = row
    lost = [bag for bag in ids.tolist() if bag not in known]
    if lost:
        row = int(np.flatnonzero(row_bag == list(ids).index(lost[0]))[0])
        more = f" (nor {len(lost) - 1} other bags)" if len(lost) > 1 else ""
        raise TableError(
            f"{rows.name}, row {row + 1}: bag {lost[0]!r} is not in column {bag_column!r} of "
            f"{bags.name}{more}"
        )
    idle = len(known) - len(ids)
    warnings = (
        [f"{idle} of {len(known)} bags in {bags.name} have no rows: not used"] if idle else []
    )
    return values[[known[bag] for bag in ids.tolist()]], warnings


def check_shares(table: str, column: str, ids: NDArray[Any], shares: FloatArray) -> None:
    """Raise TableError naming the bag whose share is not in [0, 1]."""
    wrong = np.flatnonzero((shares < 0) | (shares > 1))
    if len(wrong):
        hint = "; divide percentages by 100" if shares.max() <= 100 and shares.min() >= 0 else ""
        raise TableError(
            f"{table}: column {column!r} contains {shares[wrong[0]]:g} for bag {ids[wrong[0]]!r}: "
            f"a proportion must be between 0 and 1{hint}"
        )


def _check_counts(
    table: str, column: str, ids: NDArray[Any], counts: FloatArray, sizes: NDArray[np.intp]
) -> None:
    wrong = np.flatnonzero((counts < 0) | (counts > sizes) | (counts != np.round(counts)))
    if len(wrong):
        bag = wrong[0]
        raise TableError(
            f"{table}: column {column!r} contains {counts[bag]:g} for bag {ids[bag]!r} of "
            f"{sizes[bag]} rows: a count must be a whole number from 0 to the number of rows"
        )
