"""Results of an evaluation, and their `cv_results_` as in scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from decorrupt._typing import FloatArray
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.observed import Observed
from decorrupt.splitters import Fold


@dataclass(frozen=True)
class Result:
    """The held-out score and predictions of one configuration at one λ.

    Attributes
    ----------
    method, params : str, dict
        The configuration.
    score, std_error : float
        The criterion on all held-out rows together, greater is better; −∞ without predictions.
    by_bag : ndarray or None
        The score of each held-out bag, if the score is a mean over bags; used for the
        weights of an average.
    bag_sizes : ndarray
        Held-out rows per bag.
    fold_seconds : ndarray of shape (n_folds,)
        Time per fit; the time of a path is divided equally among its results.
    decisions : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Decision values, positive for the positive class; NaN if no fold held the row out or the
        criterion does not use them.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Log-odds in a balanced population, or log-probabilities up to a constant per row; NaN in
        the same cases.
    """

    method: str
    params: dict[str, Any]
    score: float
    std_error: float
    by_bag: FloatArray | None
    bag_sizes: NDArray[np.intp]
    fold_seconds: FloatArray
    decisions: FloatArray
    scores: FloatArray


def is_missing(predictions: FloatArray) -> NDArray[np.bool_]:
    """Return whether each row has no prediction, for one or several scores per row."""
    return np.asarray(np.isnan(predictions.reshape(len(predictions), -1)).any(axis=1))


def keep_results(
    search: Any,
    results: Sequence[Result],
    observed: Observed,
    folds: Sequence[Fold],
    scorer: BagScorer,
) -> None:
    """Set `cv_results_`, `best_index_`, `best_params_`, `best_score_` and its standard error."""
    search.cv_results_ = search_results(results, observed, folds, scorer)
    search.best_index_ = int(np.argmin(search.cv_results_["rank_test_score"]))
    best = results[search.best_index_]
    search.best_params_ = best.params
    search.best_score_, search.best_score_std_error_ = best.score, best.std_error


def search_results(
    results: Sequence[Result], observed: Observed, folds: Sequence[Fold], scorer: BagScorer
) -> dict[str, Any]:
    """Return the table of candidates with scikit-learn's column names.

    `pooled_test_score` is computed from the predictions for all held-out rows together, and
    `rank_test_score` ranks it; a mean over folds of few bags each would have no standard error.
    """
    splits = np.array(
        [[_split_score(result, observed, fold, scorer) for fold in folds] for result in results]
    )
    seconds = np.array([result.fold_seconds for result in results])
    pooled = np.array([result.score for result in results])
    params = [result.params for result in results]
    return {
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
        **_param_columns(params),
        "params": params,
        **{f"split{k}_test_score": column for k, column in enumerate(splits.T)},
        "mean_test_score": splits.mean(axis=1),
        "std_test_score": splits.std(axis=1),
        "pooled_test_score": np.where(np.isneginf(pooled), np.nan, pooled),
        "pooled_test_score_std_error": np.array([result.std_error for result in results]),
        "rank_test_score": rankdata(-pooled, method="min").astype(np.int32),
    }


def _split_score(result: Result, observed: Observed, fold: Fold, scorer: BagScorer) -> float:
    own = (result.scores if scorer.takes_scores else result.decisions)[fold[1]]
    if np.isnan(own).any():
        return np.nan
    try:
        return scorer.score(own, observed.take(fold[1])).value
    except ValueError:  # few held-out bags do not distinguish several classes
        return np.nan


def _param_columns(params: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one column per parameter, masked for candidates that do not set it."""
    columns = {}
    for name in dict.fromkeys(name for each in params for name in each):
        column = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
        for k, each in enumerate(params):
            if name in each:
                column[k] = each[name]
        columns[f"param_{name}"] = column
    return columns
