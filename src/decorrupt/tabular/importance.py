"""Which columns a model leans on, told without labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt.corruption import Strata
from decorrupt.losses.margin import FloatArray
from decorrupt.progress import track
from decorrupt.tabular.held_out import criteria, score_rows
from decorrupt.tabular.results import plain

REPEATS = 5
# Enough for a ranking; more rows would only take longer.
MOST_ROWS = 4000


def permutation_importance(
    models: Sequence[tuple[Any, NDArray[np.intp]]],
    rows: pd.DataFrame,
    strata: Strata,
    prior: float,
    *,
    counts: bool,
    seed: int = 0,
) -> tuple[list[dict[str, Any]], str]:
    """Return C(rows) − mean C(rows with a column shuffled), for every column, the largest first.

    Parameters
    ----------
    models : sequence of (model, rows)
        Models and the numbers of rows each had not seen.
    rows : DataFrame
        Prepared features.
    strata : Strata
        Bags, or sources by label, of the rows.
    prior : float
        The share of positives probabilities are for.
    counts : bool
        Whether proportions are exact: then C is the log-likelihood of the bags' counts per row,
        else the corrected accuracy.
    seed : int
        Of the shuffles.

    Returns
    -------
    list of dict, str
        Column, drop and its standard error over shuffles; and the name of C.
    """
    criterion = "count_log_likelihood" if counts else "corrected_accuracy"
    kept = _few_bags(strata, np.concatenate([test for _, test in models]), seed)
    own = strata.take(kept)
    parts = [(model, np.flatnonzero(np.isin(kept, test))) for model, test in models]
    rows = rows.iloc[kept].reset_index(drop=True)

    def value(frame: pd.DataFrame) -> float:
        decisions, probabilities = np.empty(len(frame)), np.empty(len(frame))
        for model, part in parts:
            decisions[part], probabilities[part] = score_rows(model, frame.iloc[part], prior)
        found = criteria(own, decisions, probabilities, counts=counts)[criterion]["value"]
        return float("nan") if found is None else found

    base = value(rows)
    rng = np.random.default_rng(seed)
    found = []
    for column in track(rows.columns, "shuffling columns", rows.shape[1]):
        drops = base - np.array([value(_shuffled(rows, column, rng)) for _ in range(REPEATS)])
        std_error = drops.std(ddof=1) / np.sqrt(REPEATS)
        found.append({"column": column, "drop": drops.mean(), "std_error": std_error})
    return sorted(plain(found), key=lambda row: -(row["drop"] or 0.0)), criterion


def _few_bags(strata: Strata, rows: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """Return the rows of as many whole bags, in random order, as make up MOST_ROWS."""
    if len(rows) <= MOST_ROWS:
        return np.sort(rows)
    order = np.random.default_rng(seed).permutation(len(strata.ids))
    place = np.cumsum(np.bincount(strata.row_stratum[rows], minlength=len(order))[order])
    taken = order[: max(2, int(np.searchsorted(place, MOST_ROWS, "right")))]
    return np.sort(rows[np.isin(strata.row_stratum[rows], taken)])


def _shuffled(rows: pd.DataFrame, column: str, rng: np.random.Generator) -> pd.DataFrame:
    values: FloatArray = rows[column].to_numpy()
    return rows.assign(**{column: values[rng.permutation(len(values))]})
