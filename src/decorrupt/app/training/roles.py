"""Reading rows in bags with known proportions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError
from decorrupt.app.training.bad_cells import decimal_hint
from decorrupt.app.training.columns import need_columns
from decorrupt.app.training.preprocess import as_text
from decorrupt.app.training.vague_counts import count_range, make_noise
from decorrupt.corruption import Strata, check_strata
from decorrupt.corruption.strata import BagTable
from decorrupt.risks.observations import observe_counts

# Equal shares read from a text file can differ in their last digits.
SAME_SHARE = 1e-6


@dataclass(frozen=True)
class Table:
    """A frame, and the file name for messages.

    `sizes`: how many rows of a larger table each row represents, if the frame has one per bag.
    """

    frame: pd.DataFrame
    name: str
    sizes: NDArray[np.intp] | None = None

    def strata(
        self, ids: NDArray[Any], row_bag: NDArray[np.intp], proportions: FloatArray
    ) -> Strata:
        """Return the bags `ids` of the table's rows."""
        if self.sizes is None:
            return Strata(ids, row_bag, proportions)
        sizes = np.bincount(row_bag, self.sizes, minlength=len(ids))
        return BagTable.of(ids, proportions, sizes.astype(np.intp))

    def place(self, row: int) -> str:
        """Return where a row of the frame is; those that represent several rows have no number."""
        return self.name if self.sizes is not None else f"{self.name}, row {row + 1}"


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
    classes : tuple of str
        Names of the classes, in the order of the columns of `strata.proportions`; of two classes
        the second is the positive one. Empty: two classes without names.
    """

    table: Table
    strata: Strata
    roles: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    @property
    def y(self) -> FloatArray:
        """The proportion of each row's bag, or of several classes their shares in it."""
        return self.strata.row_proportions


def read_bags(
    rows: Table,
    bags: Table | None = None,
    *,
    bag_column: str,
    proportion_column: str | None = None,
    count_column: str | None = None,
    upper_column: str | None = None,
    count_noise: str | None = None,
    takes_ranges: bool = False,
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
    upper_column : str, optional
        The upper ends of ranges, in the unit of the other column, which then has the lower ends.
    count_noise : str, optional
        The noise of the counts, such as "laplace:2"; counts need then not be possible ones.
    takes_ranges : bool
        Whether cells of `count_column` such as ``<5`` or ``0–4`` are ranges.

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
    names = (value_column, upper_column or value_column)
    need_columns(holder.frame, names[1:], holder.name, "--upper-column")
    is_count = count_column is not None
    ends = read_ends(holder, names, is_count=is_count, takes_ranges=takes_ranges)
    warnings: list[str] = []
    if bags is None:
        by_end = zip(names, ends, strict=True)
        lower, upper = (one_per_bag(rows, name, end, ids, row_bag) for name, end in by_end)
    else:
        both, warnings = join_bags(rows, bags, bag_column, np.column_stack(ends), ids, row_bag)
        lower, upper = both.T
    strata = rows.strata(ids, row_bag, lower)
    sizes = strata.sizes
    if is_count and upper_column is None:
        upper = np.where(upper > lower, np.minimum(upper, sizes), upper)  # fewer than 5 of 3 rows
    for name, by_bag in zip(names, (lower, upper), strict=True) if not count_noise else ():
        if is_count:
            _check_counts(holder.name, name, ids, by_bag, sizes)
        else:
            check_shares(holder.name, name, ids, by_bag)
    unit = sizes if is_count else 1
    try:
        strata = replace(strata, proportions=lower / unit)
        strata = _observed(strata, upper / unit, count_noise, warnings)
        check_strata(sizes, strata.proportions)
    except ValueError as error:
        raise TableError(f"{holder.name}: column {value_column!r}: {error}") from None
    roles = tuple(n for n in dict.fromkeys((bag_column, *names)) if n in rows.frame.columns)
    return BagRows(rows, strata, roles, tuple(warnings))


def read_ends(
    table: Table, names: tuple[str, str], *, is_count: bool, takes_ranges: bool
) -> list[FloatArray]:
    """Return the lower and upper ends of all rows; a number that is not a range is both.

    `names` are the columns of both ends; a count column that is both can contain ranges.
    """
    what = "a count" if is_count else "a proportion"
    if names[0] == names[1] and is_count and takes_ranges:
        return _read_ranges(table, names[0], what)
    return [as_numbers(table, name, what) for name in names]


def _observed(
    strata: Strata, upper: FloatArray, count_noise: str | None, warnings: list[str]
) -> Strata:
    """Return the bags with their ranges or noisy counts, if they have any; add a warning."""
    n_ranges = int(np.sum(strata.proportions != upper))
    if not n_ranges and count_noise is None:
        return strata
    noise = None if count_noise is None else make_noise(count_noise)
    observed = observe_counts(strata, upper=upper if n_ranges else None, count_noise=noise)
    if n_ranges:
        warnings.append(ranges_in_words(n_ranges, len(upper)))
    else:
        warnings.append(noise_in_words(str(count_noise)))
    middle = np.clip((strata.proportions + upper) / 2, 0, 1)
    return replace(strata, proportions=middle, observed=observed)


def ranges_in_words(n_ranges: int, n_bags: int) -> str:
    """Return the warning about bags with ranges."""
    return (
        f"{n_ranges} of {n_bags} bags have a range instead of a count: methods use the range; "
        "results that need one proportion, such as the corrected accuracy, its middle"
    )


def noise_in_words(count_noise: str) -> str:
    """Return the warning about noisy counts."""
    return (
        f"the counts have noise ({count_noise}): methods use it; results that need exact "
        "proportions, such as the corrected accuracy, do not"
    )


def _read_ranges(table: Table, column: str, what: str) -> list[FloatArray]:
    """Return the smallest and largest count of every row; a number is both."""
    values = table.frame[column]
    if pd.api.types.is_numeric_dtype(values):
        return [as_numbers(table, column, what)] * 2
    ranges = {cell: count_range(cell) for cell in values.dropna().unique()}
    ends = []
    for end in (0, 1):
        known = {cell: pair[end] for cell, pair in ranges.items() if pair is not None}
        frame = pd.DataFrame({column: values.map(lambda cell, known=known: known.get(cell, cell))})
        ends.append(as_numbers(replace(table, frame=frame), column, what))
    return ends


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
            f"{table.place(wrong[0])}: column {column!r} {held}, which is not {what}"
            + decimal_hint(value)
        )
    return np.asarray(numbers)


def one_per_bag(
    rows: Table, column: str, values: FloatArray, ids: NDArray[Any], row_bag: NDArray[np.intp]
) -> FloatArray:
    """Return the value of each bag; raise TableError if rows of one bag have different values."""
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


def join_bags(
    rows: Table,
    bags: Table,
    bag_column: str,
    values: FloatArray,
    ids: NDArray[Any],
    row_bag: NDArray[np.intp],
) -> tuple[FloatArray, list[str]]:
    """Return the values of each bag from a table of bags, and a warning about bags without rows.

    Raises TableError if a bag is listed twice or not at all.
    """
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
            f"{rows.place(row)}: bag {lost[0]!r} is not in column {bag_column!r} of "
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
