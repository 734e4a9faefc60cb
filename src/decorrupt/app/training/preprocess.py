"""Preprocessing of a table's columns into a matrix, in two steps.

`prepare` converts a table to the types the model was trained on (numbers as floats, categories as
text). The ColumnTransformer, which is saved with the model, imputes, scales and encodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from decorrupt.app.tables import TableError
from decorrupt.app.training.bad_cells import LARGEST, decimal_hint
from decorrupt.app.training.columns import BOOLEAN, CATEGORY, NUMBER, Column, stripped
from decorrupt.app.training.model_card import need_model_columns
from decorrupt.features import TailScaler

MISSING_LEVEL = "(missing)"
# Levels with fewer rows are too rare to learn from: they are folded into "rare".
RARE_ROWS, RARE_SHARE = 5, 0.005
MOST_LEVELS = 50
TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}


def prepare(
    frame: pd.DataFrame, columns: Sequence[Column], *, table: str = "rows", first_row: int = 1
) -> pd.DataFrame:
    """Return the named columns in the model's order and types.

    Parameters
    ----------
    frame : DataFrame
        Rows with at least these columns, in any order.
    columns : sequence of Column
        The columns the model was trained on.
    table : str
        The table's name in messages.
    first_row : int
        The number of the frame's first row, if the frame is a part of a longer table.

    Raises
    ------
    TableError
        If columns are missing (the message names all), or a value does not have the column's type
        (the message names the row).
    """
    need_model_columns(list(frame.columns), [(one.name, one.kind) for one in columns], table)
    prepared = {}
    for column in columns:
        values = frame[column.name]
        converted = CONVERTERS[column.kind](values)
        wrong = np.flatnonzero(pd.isna(converted) & values.notna().to_numpy())
        if len(wrong):
            row, value = first_row + int(wrong[0]), values.iloc[wrong[0]]
            raise TableError(
                f"{table}, row {row}: column {column.name!r} contains {_shown(value)}, but the "
                f"model was trained on {_expected(column.kind)}{decimal_hint(value)}"
            )
        prepared[column.name] = converted
    return pd.DataFrame(prepared, index=frame.index)


def _numbers(values: pd.Series) -> NDArray[Any]:
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.abs(numbers) <= LARGEST, numbers, np.nan)


def _truth_values(values: pd.Series) -> NDArray[Any]:
    return np.array([_truth(value) for value in values], dtype=float)


def _truth(value: Any) -> float:
    if pd.isna(value):
        return np.nan
    if isinstance(value, bool | int | float | np.generic) and value in (0, 1):
        return float(value)
    return TRUTH.get(str(value).strip().lower(), np.nan)


def as_text(values: pd.Series) -> NDArray[Any]:
    """Return values as text, 1.0 as "1" and missing ones as NaN: the same for all file formats."""
    text = np.empty(len(values), dtype=object)
    text[:] = [np.nan if _is_missing(value) else name_of(value) for value in values]
    return text


def _levels(values: pd.Series) -> NDArray[Any]:
    return as_text(stripped(values))


CONVERTERS: dict[str, Callable[[pd.Series], NDArray[Any]]] = {
    NUMBER: _numbers,
    BOOLEAN: _truth_values,
    CATEGORY: _levels,
}


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or value != value


def name_of(value: Any) -> str:
    """Return a value as text; whole floats without a decimal point."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _shown(value: Any) -> str:
    is_short = isinstance(value, float) and abs(value) > LARGEST  # 1e+200, not 200 zeros
    text = repr(value if isinstance(value, str) else str(value) if is_short else name_of(value))
    return text if len(text) <= 40 else text[:37] + "…'"


def _expected(kind: str) -> str:
    return {NUMBER: f"numbers up to {LARGEST:g}", BOOLEAN: "true and false"}.get(kind, "text")


def make_preprocessor(columns: Sequence[Column], n_rows: int) -> ColumnTransformer:
    """Return the unfitted transformer of prepared columns: impute, scale, encode.

    Numbers and booleans: missing values are replaced with the median and marked in a 0/1 column,
    then scaled to mean 0 and variance 1, columns with heavy tails after arcsinh (`TailScaler`).
    Categories: one 0/1 column per level; missing values are a separate level; rare and unseen
    levels are folded into one.
    """
    numeric = [column.name for column in columns if column.kind != CATEGORY]
    categories = [column.name for column in columns if column.kind == CATEGORY]
    numbers = Pipeline(
        [
            ("impute", SimpleImputer(strategy="median", add_indicator=True)),
            ("scale", TailScaler()),
        ]
    )
    levels = Pipeline(
        [
            ("impute", SimpleImputer(strategy="constant", fill_value=MISSING_LEVEL)),
            ("encode", _encoder(n_rows)),
        ]
    )
    parts = [("numbers", numbers, numeric), ("categories", levels, categories)]
    return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)


def _encoder(n_rows: int) -> OneHotEncoder:
    return OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        min_frequency=min(max(RARE_ROWS, math.ceil(RARE_SHARE * n_rows)), max(n_rows // 4, 1)),
        max_categories=MOST_LEVELS,
        sparse_output=False,
    )


def known_levels(preprocessor: ColumnTransformer) -> dict[str, set[str]]:
    """Return {categorical column: the levels seen in training, including folded ones}."""
    if "categories" not in preprocessor.named_transformers_:
        return {}
    names = next(part[2] for part in preprocessor.transformers_ if part[0] == "categories")
    encoder = preprocessor.named_transformers_["categories"].named_steps["encode"]
    return dict(zip(names, map(set, encoder.categories_), strict=True))


def folded_levels(preprocessor: ColumnTransformer) -> dict[str, int]:
    """Return {categorical column: how many rare levels were folded into one}."""
    if "categories" not in preprocessor.named_transformers_:
        return {}
    encoder = preprocessor.named_transformers_["categories"].named_steps["encode"]
    folded = [0 if rare is None else len(rare) for rare in encoder.infrequent_categories_]
    return {name: n for name, n in zip(known_levels(preprocessor), folded, strict=True) if n}


def heavy_tailed(preprocessor: ColumnTransformer) -> set[str]:
    """Return the columns that were compressed because they have heavy tails."""
    if "numbers" not in preprocessor.named_transformers_:
        return set()
    names = next(part[2] for part in preprocessor.transformers_ if part[0] == "numbers")
    scaler = preprocessor.named_transformers_["numbers"].named_steps["scale"]
    # The columns that mark missing values come after these.
    return {name for name, is_heavy in zip(names, scaler.heavy_tailed_, strict=False) if is_heavy}
