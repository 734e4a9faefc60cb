"""Cells that are not numbers in a column of numbers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from decorrupt.app.tables import TableError
from decorrupt.app.tables.inference import NO_VALUE, NUMBERS, cell_kind

# Of the distinct cells of a column. If fewer are numbers, the column is text.
NUMERIC_SHARE = 0.9
SHOWN_CELLS = 3


def check_numbers(values: pd.Series, table: str) -> None:
    """Refuse a column of numbers in which some cells are not finite numbers.

    Parameters
    ----------
    values : Series
        A column of numbers or of text. It is numeric if at least `NUMERIC_SHARE` of its distinct
        cells are numbers with the same decimal mark; missing values do not count. Text with whole
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
    otherwise = f"or use --drop {values.name} or --categorical {values.name}"
    if pd.api.types.is_numeric_dtype(values):
        bad: Collection[Any] = (np.inf, -np.inf)
    else:
        bad, marked, mark = _numbers_and_others(values)
        if marked and not bad:
            raise TableError(
                f"{where} that were read as text: {_first_cells(values, marked)}; if "
                f"{mark!r} is the decimal mark, use --decimal {mark} for a CSV file and --sql for "
                f"another one; if it separates thousands, remove it; {otherwise}"
            )
    n_bad = int(values.isin(bad).sum())
    if n_bad:
        raise TableError(
            f"{where}, but {n_bad} of {len(values)} cells are not finite numbers: "
            f"{_first_cells(values, bad)}; repair them, {otherwise}"
        )


def _numbers_and_others(values: pd.Series) -> tuple[set[str], set[str], str]:
    """Return the cells that are not numbers, those with a decimal mark, and this mark.

    All three are empty if the column is text.
    """
    kinds = {cell: cell_kind(cell) for cell in values.dropna().unique()}
    kinds = {cell: kind for cell, kind in kinds.items() if kind not in NO_VALUE}
    mark = max(NUMBERS, key=lambda mark: sum(kind in NUMBERS[mark] for kind in kinds.values()))
    bad = {cell for cell, kind in kinds.items() if kind not in NUMBERS[mark]}
    if "code" in kinds.values() or len(kinds) - len(bad) < NUMERIC_SHARE * len(kinds):
        return set(), set(), mark
    return bad, {cell for cell in kinds if mark in cell and cell not in bad}, mark


def _first_cells(values: pd.Series, cells: Collection[Any]) -> str:
    rows = np.flatnonzero(values.isin(cells))
    shown = [f"{str(values.iloc[row])!r} (row {row + 1})" for row in rows[:SHOWN_CELLS]]
    return ", ".join(shown) + ", …" * (len(rows) > SHOWN_CELLS)


def decimal_hint(value: Any) -> str:
    """Return advice for a cell that would be a number with a decimal comma, else nothing."""
    has_comma = cell_kind(str(value)) in ("comma", "grouped")
    return "; if the comma is the decimal mark, use --decimal ," if has_comma else ""
