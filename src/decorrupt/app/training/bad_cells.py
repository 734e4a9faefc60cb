"""Cells that are not numbers in a column of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from decorrupt.app.tables import TableError
from decorrupt.app.tables.inference import MONEY, NO_VALUE, NUMBERS, PERCENT, cell_kind

# Of the distinct cells of a column. If fewer are numbers, the column is text.
NUMERIC_SHARE = 0.9
SHOWN_CELLS = 3
ANY_NUMBER = NUMBERS | MONEY | PERCENT
POINT_FOR_COMMA = str.maketrans(",.", ".,")
LARGEST = 1e150  # the square of a larger number can overflow


def check_numbers(values: pd.Series, table: str) -> None:
    """Refuse a column of numbers in which some cells are not finite numbers.

    Parameters
    ----------
    values : Series
        A column of numbers or of text. It is numeric if at least `NUMERIC_SHARE` of its distinct
        cells are numbers, also with a decimal comma; missing values do not count. Text with whole
        numbers that begin with 0 or are too long for 64 bits counts as codes, not as numbers.
    table : str
        The table's name in messages.

    Raises
    ------
    TableError
        Naming table and column, the first cells that are not numbers with their rows, and what to
        do.
    """
    where = f"{table}: column {values.name!r} contains numbers"
    otherwise = f"or use --drop {values.name}"
    if pd.api.types.is_numeric_dtype(values):
        is_bad, what = values.abs() > LARGEST, f"above {LARGEST:g} in size"
    else:
        bad, odd, few = _numbers_and_others(values)
        if few and not bad:
            raise TableError(
                f"{where}, some with % and some without: {_first_cells(values, values.isin(few))}; "
                f"write all of them in the same way, {otherwise}"
            )
        if odd and not bad:
            raise TableError(
                f"{where} that were read as text: {_first_cells(values, values.isin(odd))}; write "
                f"decimals with a point, without separators of thousands, {otherwise}"
            )
        is_bad, what = values.isin(bad), "not finite numbers"
    if is_bad.any():
        raise TableError(
            f"{where}, but {is_bad.sum()} of {len(values)} cells are {what}: "
            f"{_first_cells(values, is_bad)}; repair them, {otherwise}"
        )


def _numbers_and_others(values: pd.Series) -> tuple[set[str], set[str], set[str]]:
    """Return the cells that are not numbers, and those with a sign or a decimal mark.

    The last are the numbers with % or those without, whichever are fewer. All are empty if the
    column is text.
    """
    kinds = {cell: cell_kind(cell) for cell in values.dropna().unique()}
    kinds = {cell: kind for cell, kind in kinds.items() if kind not in NO_VALUE}
    numbers = {cell for cell, kind in kinds.items() if kind in ANY_NUMBER}
    commas = {cell for cell in kinds if cell not in numbers and _has_decimal_comma(cell)}
    others = set(kinds) - numbers - commas
    if "code" in kinds.values() or len(kinds) - len(others) < NUMERIC_SHARE * len(kinds):
        return set(), set(), set()
    odd = {cell for cell in numbers if "." in cell or kinds[cell] not in NUMBERS} | commas
    percent = {cell for cell in numbers if kinds[cell] in PERCENT}
    return others, odd, min(percent, numbers - percent, key=len)


def _has_decimal_comma(cell: str) -> bool:
    return "," in cell and cell_kind(cell.translate(POINT_FOR_COMMA)) in ANY_NUMBER


def _first_cells(values: pd.Series, is_shown: pd.Series) -> str:
    rows = np.flatnonzero(is_shown)
    shown = [f"{str(values.iloc[row])!r} (row {row + 1})" for row in rows[:SHOWN_CELLS]]
    return ", ".join(shown) + ", …" * (len(rows) > SHOWN_CELLS)


def decimal_hint(value: Any) -> str:
    """Return advice for a cell that would be a number with a decimal comma, else nothing."""
    return "; write decimals with a point" if _has_decimal_comma(str(value)) else ""
