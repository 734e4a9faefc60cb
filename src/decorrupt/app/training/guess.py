"""Guessing the columns that describe bags, from the names and values of two tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from decorrupt.app.tables import TableError, listed
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.table import Table

SHARES, COUNTS = ("proportion", "share", "rate"), ("count",)
SIZES = ("rows", "size", "n")  # the number of rows of a bag
NUMBERS_OF_ROWS = tuple(f"{name}_count" for name in ("row", "n", "size", "total"))
# Per class: shares may be rounded to two decimals.
SUM_TOL = 0.005


def guess_columns(columns: BagColumns, rows: Table, bags: Table) -> tuple[BagColumns, list[str]]:
    """Return the columns completed with those that no option names, and a note about the guess.

    The bag is the one column that both tables have. The value is the one column called proportion,
    share, rate or count, or with a name that ends so, such as vote_share; if there is none, the
    columns of numbers are the shares of the classes if they sum to 1 in every bag.

    Raises
    ------
    TableError
        If there are several candidates or none; the message lists them.
    """
    guessed = {}
    if not columns.bag:
        columns = replace(columns, bag=_shared_column(rows, bags))
        guessed["--bag-column"] = columns.bag
    if not columns.has_values:
        columns = _with_values(columns, bags)
        guessed[columns.value_option] = ", ".join(columns.value_names)
    if not guessed:
        return columns, []
    found = ", ".join(f"{option[2:].replace('-', ' ')}: {name}" for option, name in guessed.items())
    return columns, [f"{found} (guessed; give {' and '.join(guessed)} to change)"]


def class_names(value_column: str) -> list[str]:
    """Return the names of two classes: of malignant_share "not malignant" and "malignant".

    Without a word in front of share, rate, proportion or count they are 0 and 1.
    """
    positive, _, kind = value_column.rpartition("_")
    if positive and kind.casefold() in (*SHARES, *COUNTS):
        return [f"not {positive}", positive]
    return ["0", "1"]


def size_columns(bags: Table) -> list[str]:
    """Return the columns called rows, size or n."""
    return [name for name in bags.frame.columns if str(name).casefold() in SIZES]


def _shared_column(rows: Table, bags: Table) -> str:
    shared = [name for name in bags.frame.columns if name in rows.frame.columns]
    if len(shared) != 1:
        found = f"the columns {listed(shared)}" if shared else "no column"
        raise TableError(
            f"{rows.name} and {bags.name} have {found} in common: give the column of the bag, "
            "which both must have, with --bag-column"
        )
    return str(shared[0])


def _with_values(columns: BagColumns, bags: Table) -> BagColumns:
    others = [name for name in bags.frame.columns if name not in columns.names]
    others = [name for name in others if str(name).casefold() not in NUMBERS_OF_ROWS]
    shares, counts = ([n for n in others if _is_called(n, names)] for names in (SHARES, COUNTS))
    if len(shares) + len(counts) == 1:
        return replace(columns, proportion="".join(shares) or None, count="".join(counts) or None)
    if shares or counts:
        raise TableError(
            f"{bags.name}: the columns {listed([*shares, *counts])} could all be the proportion "
            "or the count: give one of them with --proportion-column or --count-column"
        )
    sizes = size_columns(bags)
    numbers = bags.frame[[name for name in others if name not in sizes]].select_dtypes("number")
    if len(numbers.columns) > 1 and _sum_to_one(numbers):
        return replace(columns, proportions=list(numbers.columns))
    raise TableError(
        f"{bags.name}: no column is called proportion, share, rate or count: give one of "
        f"{listed(others) or 'its columns'} with --proportion-column or --count-column, or several "
        "classes with --proportion-columns or --count-columns"
    )


def _is_called(name: str, words: Sequence[str]) -> bool:
    return str(name).casefold().rpartition("_")[2] in words


def _sum_to_one(shares: pd.DataFrame) -> bool:
    apart = (shares.sum(axis=1) - 1).abs() > SUM_TOL * len(shares.columns)
    return not apart.any() and bool((shares >= 0).to_numpy().all())
