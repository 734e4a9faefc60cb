"""What a search reports: scikit-learn's `cv_results_`, ranked by the pooled held-out score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.model_selection.leaderboard import Entry
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.model_selection.splitters import Fold


def keep_results(
    search: Any,
    entries: Sequence[Entry],
    strata: Strata,
    folds: Sequence[Fold],
    scorer: BagScorer,
) -> None:
    """Set `cv_results_`, `best_index_`, `best_params_`, `best_score_` and its standard error."""
    search.cv_results_ = search_results(entries, strata, folds, scorer)
    search.best_index_ = int(np.argmin(search.cv_results_["rank_test_score"]))
    best = entries[search.best_index_]
    search.best_params_ = best.params
    search.best_score_, search.best_score_std_error_ = best.score, best.std_error


def search_results(
    entries: Sequence[Entry], strata: Strata, folds: Sequence[Fold], scorer: BagScorer
) -> dict[str, Any]:
    """Return the table of candidates under scikit-learn's names.

    `pooled_test_score` is the criterion of the predictions for all held-out rows together, which
    `rank_test_score` is by; a mean over folds of few bags each would have no standard error.
    """
    splits = np.array(
        [
            [
                _split_score(entry.held_out.predictions(scorer), strata, fold, scorer)
                for fold in folds
            ]
            for entry in entries
        ]
    )
    seconds = np.array([entry.held_out.fold_seconds for entry in entries])
    pooled = np.array([entry.score for entry in entries])
    return {
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
        **_param_columns([entry.params for entry in entries]),
        "params": [entry.params for entry in entries],
        **{f"split{k}_test_score": column for k, column in enumerate(splits.T)},
        "mean_test_score": splits.mean(axis=1),
        "std_test_score": splits.std(axis=1),
        "pooled_test_score": np.where(np.isneginf(pooled), np.nan, pooled),
        "pooled_test_score_std_error": np.array([entry.std_error for entry in entries]),
        "rank_test_score": rankdata(-pooled, method="min").astype(np.int32),
    }


def _split_score(predictions: FloatArray, strata: Strata, fold: Fold, scorer: BagScorer) -> float:
    own = predictions[fold[1]]
    return np.nan if np.isnan(own).any() else scorer.score(own, strata.take(fold[1])).value


def _param_columns(params: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a column per parameter, masked for candidates that do not set it."""
    columns = {}
    for name in dict.fromkeys(name for each in params for name in each):
        column = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
        for k, each in enumerate(params):
            if name in each:
                column[k] = each[name]
        columns[f"param_{name}"] = column
    return columns
