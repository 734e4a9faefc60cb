"""A table with its name for messages; columns of numbers and of group names."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError
from decorrupt.app.training.bad_cells import decimal_hint
from decorrupt.app.training.preprocess import as_text
from decorrupt.observed import Observed


@dataclass(frozen=True)
class Table:
    """A frame, the file name for messages, notes on how its cells were read, and weights.

    The weights are how many rows each row represents; None if each represents itself.
    """

    frame: pd.DataFrame
    name: str
    notes: tuple[str, ...] = ()
    weights: NDArray[Any] | None = None

    def observed(
        self, ids: NDArray[Any], row_bag: NDArray[np.intp], proportions: FloatArray, classes: Any
    ) -> Observed:
        """Return the bags `ids` of the table's rows."""
        return Observed(np.asarray(classes), ids, row_bag, proportions, weights=self.weights)

    def number(self, row: int) -> int:
        """Return the number of a row in the file, counted from 1, where some were left out."""
        return int(self.frame.index[row]) + 1

    def place(self, row: int) -> str:
        """Return the table and the number of the row."""
        return f"{self.name}, row {self.number(row)}"


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


def check_shares(table: str, column: str, ids: NDArray[Any], shares: FloatArray) -> None:
    """Raise TableError naming the bag or source whose share is not in [0, 1]."""
    wrong = np.flatnonzero((shares < 0) | (shares > 1))
    if len(wrong):
        hint = "; divide percentages by 100" if shares.max() <= 100 and shares.min() >= 0 else ""
        raise TableError(
            f"{table}: column {column!r} contains {shares[wrong[0]]:g} for bag {ids[wrong[0]]!r}: "
            f"a proportion must be between 0 and 1{hint}"
        )


def near_match(name: str, known: Sequence[str]) -> str:
    """Return a hint at the name that differs in case, blanks or Unicode form only, or nothing."""
    near = [one for one in known if _plain_form(one) == _plain_form(name)]
    return f"; did you mean {near[0]!r}? It differs in case, blanks or Unicode form" if near else ""


def _plain_form(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", str(name)).casefold().split())
