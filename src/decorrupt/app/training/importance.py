"""Which columns a model leans on, told without labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.app.training.held_out import criteria, score_rows
from decorrupt.app.training.results import ColumnImportance, plain
from decorrupt.corruption import Strata
from decorrupt.progress import track

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
) -> tuple[list[ColumnImportance], str]:
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
    rng = np.random.default_rng(seed)
    tests = [test for _, test in models]
    samples = _sample_bags(strata, tests, rng) if counts else _sample_rows(tests, rng)
    kept = np.concatenate(samples)
    own = strata.take(kept)
    ends = np.cumsum([len(sample) for sample in samples])[:-1]
    places = np.split(np.arange(len(kept)), ends)
    parts = [(model, place) for (model, _), place in zip(models, places, strict=True)]
    rows = rows.iloc[kept].reset_index(drop=True)

    def value(frame: pd.DataFrame) -> float:
        decisions, probabilities = np.empty(len(frame)), np.empty(len(frame))
        for model, part in parts:
            decisions[part], probabilities[part] = score_rows(model, frame.iloc[part], prior)
        found = criteria(own, decisions, probabilities, counts=counts)[criterion]["value"]
        return float("nan") if found is None else found

    base = value(rows)
    found = []
    for column in track(rows.columns, "shuffling columns", rows.shape[1]):
        drops = base - np.array([value(_shuffled(rows, column, rng)) for _ in range(REPEATS)])
        std_error = drops.std(ddof=1) / np.sqrt(REPEATS)
        found.append({"column": column, "drop": drops.mean(), "std_error": std_error})
    return sorted(plain(found), key=lambda row: -(row["drop"] or 0.0)), criterion


def _sample_bags(
    strata: Strata, tests: Sequence[NDArray[np.intp]], rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Return rows of whole bags out of every fold, about MOST_ROWS in all.

    Bags stay whole because their counts are what is judged. All folds take bags in one random
    order, so a bag that is spread over the folds stays whole too. Every fold keeps a bag, however
    large; a single fold keeps two, because shuffling inside one bag changes little.
    """
    n_rows, least = sum(map(len, tests)), 2 if len(tests) == 1 else 1
    order = rng.permutation(len(strata.ids))
    samples = []
    for test in tests:
        bags = strata.row_stratum[test]
        present = order[np.isin(order, bags)]
        place = np.cumsum(np.bincount(bags, minlength=len(order))[present])
        n_bags = int(np.searchsorted(place, MOST_ROWS * len(test) / n_rows, "right"))
        samples.append(test[np.isin(bags, present[: max(least, n_bags)])])
    return samples


def _sample_rows(
    tests: Sequence[NDArray[np.intp]], rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Return about MOST_ROWS random rows, the same share of every fold."""
    share = min(1.0, MOST_ROWS / sum(map(len, tests)))
    return [rng.permutation(test)[: int(np.ceil(share * len(test)))] for test in tests]


def _shuffled(rows: pd.DataFrame, column: str, rng: np.random.Generator) -> pd.DataFrame:
    values: FloatArray = rows[column].to_numpy()
    return rows.assign(**{column: values[rng.permutation(len(values))]})
