"""Kinds of columns, and the choice of features."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from decorrupt.app.tables import TableError, listed, need_names
from decorrupt.app.training.bad_cells import check_numbers
from decorrupt.app.training.results import ColumnCard

NUMBER, BOOLEAN, CATEGORY = "number", "boolean", "category"
USABLE = (NUMBER, BOOLEAN, CATEGORY)
# Text with more levels than this, most of them in a single row, identifies rows.
FEWEST_TEXTS, UNIQUE_SHARE = 20, 0.5
# A column with at least this many distinct consecutive whole numbers contains row numbers.
FEWEST_NUMBERED = 20
SHOWN_LEVELS = 6
DATE = r"\s*\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ].*)?\s*|\s*\d{1,2}[./]\d{1,2}[./]\d{4}\s*"
REASONS = {
    "empty": "it has no values",
    "constant": "it has one value only",
    "row numbers": "it numbers the rows",
    "names": "nearly every row has its own value, and not all values are numbers",
    "dates": "it contains dates; add a column with the number you mean, such as an age in days",
    "nested": "it contains lists or records",
}


@dataclass(frozen=True)
class Column:
    """A column as a model uses it.

    Attributes
    ----------
    name : str
        Its name in the table.
    kind : {"number", "boolean", "category"}
        How the model uses it.
    n_missing : int
        Rows without a value.
    n_distinct : int
        Different values.
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int


@dataclass(frozen=True)
class Features:
    """The columns a model is trained on, those left out with the reason, and warnings."""

    columns: tuple[Column, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns in use."""
        return [column.name for column in self.columns]


def stripped(values: pd.Series) -> pd.Series:
    """Return a column without blanks around its texts."""
    if pd.api.types.is_numeric_dtype(values):
        return values
    return values.map(lambda value: value.strip() if isinstance(value, str) else value)


def column_kind(values: pd.Series) -> str:
    """Return one of `USABLE`, or a key of `REASONS`."""
    present = values.dropna()
    if not len(present):
        return "empty"
    if isinstance(present.iloc[0], list | dict | tuple | set | np.ndarray):
        return "nested"
    n_distinct = present.nunique()
    if n_distinct == 1 and len(present) == len(values):
        return "constant"
    if pd.api.types.is_bool_dtype(values) or present.map(type).eq(bool).all():
        return BOOLEAN
    if pd.api.types.is_numeric_dtype(values):
        return "row numbers" if _numbers_rows(present) else NUMBER
    if not present.map(lambda value: isinstance(value, str)).all():
        return "dates" if _are_times(values) else "nested"
    return _kind_of_text(present.astype(str), n_distinct)


def _are_times(values: pd.Series) -> bool:
    kind = pd.api.types.infer_dtype(values, skipna=True)
    return kind in ("date", "datetime", "datetime64", "time", "timedelta", "timedelta64", "period")


def _kind_of_text(present: pd.Series, n_distinct: int) -> str:
    if present.str.fullmatch(DATE).all():
        return "dates"
    if n_distinct > max(FEWEST_TEXTS, UNIQUE_SHARE * len(present)):
        return "names"
    return CATEGORY


def _numbers_rows(present: pd.Series) -> bool:
    values = present.to_numpy(dtype=float)
    if len(values) < FEWEST_NUMBERED or np.any(values != np.round(values)):
        return False
    return bool(len(np.unique(values)) == len(values) == np.ptp(values) + 1)


def choose_features(
    frame: pd.DataFrame,
    *,
    roles: Sequence[str],
    drop: Sequence[str] = (),
    table: str = "rows",
) -> Features:
    """Return the columns to train on: all but those with a role and those to drop.

    Columns that are empty or constant, or that contain row numbers, dates, lists or nearly as many
    texts as rows, are left out with the reason. A column of numbers with some cells that are not
    numbers is an error.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    roles : sequence of str
        Columns with another role: bag, proportion, label, source.
    drop : sequence of str
        Columns not to use.
    table : str
        The table's name in messages.

    Raises
    ------
    TableError
        If a column to drop is missing, no column is left, or some cells of a column of numbers are
        not numbers.
    """
    need_columns(frame, drop, table, "--drop")
    used, said = [], []
    left_out = {}
    for name in frame.columns:
        if name in roles or name in drop:
            continue
        values = stripped(frame[name])
        kind = column_kind(values)
        if kind in (NUMBER, CATEGORY, "names"):
            check_numbers(values, table)
        if kind in USABLE:
            used.append(_described(values, kind))
            said += _levels_by_case(values) if kind == CATEGORY else []
        else:
            left_out[name] = REASONS[kind]
    if not used:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in left_out.items())
        raise TableError(f"{table}: no column is left to learn from" + (f" ({why})" if why else ""))
    return Features(tuple(used), left_out, tuple(said))


def _levels_by_case(values: pd.Series) -> list[str]:
    """Return a warning if levels differ only in case."""
    levels = pd.Series(sorted(set(values.dropna().astype(str))))
    equal = levels[levels.str.casefold().duplicated(keep=False)]
    shown = listed(equal.tolist(), SHOWN_LEVELS)
    return [f"column {values.name!r}: categories that differ only in case: {shown}"] * bool(shown)


def _described(values: pd.Series, kind: str) -> Column:
    return Column(str(values.name), kind, int(values.isna().sum()), int(values.nunique()))


def column_cards(
    features: Features, folded: Mapping[str, int], heavy_tailed: Collection[str]
) -> list[ColumnCard]:
    """Return the columns in use as plain records.

    `folded` is {column: number of rare levels}, `heavy_tailed` the names of compressed columns.
    """
    return [
        ColumnCard(
            name=column.name,
            kind=column.kind,
            n_missing=column.n_missing,
            n_distinct=column.n_distinct,
            n_folded=folded.get(column.name, 0),
            heavy_tailed=column.name in heavy_tailed,
        )
        for column in features.columns
    ]


def need_columns(frame: pd.DataFrame, names: Sequence[str], table: str, option: str = "") -> None:
    """Raise TableError naming the first of `names` that is not a column of the table."""
    need_names(list(frame.columns), names, table, option)
