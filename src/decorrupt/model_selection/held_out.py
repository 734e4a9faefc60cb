"""Every candidate's scores of rows it has not seen: what an automatic choice is made on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import logit
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from decorrupt.corruption import Strata
from decorrupt.losses.margin import FloatArray
from decorrupt.model_selection.calibration import cross_calibrate
from decorrupt.model_selection.candidates import Candidate
from decorrupt.model_selection.path_search import HeldOutPath, held_out_paths, quiet_selection
from decorrupt.model_selection.splitters import Fold

# What estimators must have in common to share their features.
FEATURE_PARAMS = ("kernel", "degree", "coef0", "rank_tol", "max_rank", "random_state")


@dataclass(frozen=True)
class HeldOut:
    """One configuration's predictions for rows held out of its training.

    Attributes
    ----------
    name : str
        The method.
    params : dict
        What to set on its template.
    decisions : ndarray of shape (n_rows,)
        Positive for the positive class; NaN where no fold held the row out.
    log_odds : ndarray of shape (n_rows,)
        Log-odds in a balanced population, calibrated where a method's scores are not log-odds.
    seconds : float
        What its fits took; configurations of one path share the path's time equally.
    """

    name: str
    params: dict[str, Any]
    decisions: FloatArray
    log_odds: FloatArray
    seconds: float


def evaluate_paths(
    candidates: Sequence[Candidate],
    X: Any,
    strata: Strata,
    folds: Sequence[Fold],
    kernel_gamma: float,
    reg_strengths: Sequence[float],
    n_jobs: int | None,
) -> list[HeldOut]:
    """Return all (method, λ) of the methods that have λ paths, at one kernel parameter."""
    found = []
    for group in _groups_with_common_features(candidates):
        estimators = [candidate.estimator for candidate in group]
        features = clone(estimators[0]).set_params(kernel_gamma=kernel_gamma)._fit_features(X)
        paths_by_method = held_out_paths(
            estimators, features.matrix, strata, folds, reg_strengths, n_jobs
        )
        for candidate, paths in zip(group, paths_by_method, strict=True):
            found += _from_paths(candidate.name, paths, strata, kernel_gamma, reg_strengths)
    return found


def _groups_with_common_features(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        params = candidate.estimator.get_params(deep=False)
        groups.setdefault(str([params[name] for name in FEATURE_PARAMS]), []).append(candidate)
    return list(groups.values())


def _from_paths(
    name: str,
    paths: Sequence[HeldOutPath],
    strata: Strata,
    kernel_gamma: float,
    reg_strengths: Sequence[float],
) -> list[HeldOut]:
    shape = (len(reg_strengths), len(strata.row_stratum))
    decisions, log_odds = np.full(shape, np.nan), np.full(shape, np.nan)
    for path in paths:
        decisions[:, path.test] = (path.scores - path.threshold).T
        log_odds[:, path.test] = (path.scores - logit(path.prior)).T
    seconds = sum(path.seconds for path in paths) / len(reg_strengths)
    return [
        HeldOut(
            name,
            {"kernel_gamma": kernel_gamma, "reg_strength": float(reg_strength)},
            decisions[r],
            log_odds[r],
            seconds,
        )
        for r, reg_strength in enumerate(reg_strengths)
    ]


def evaluate_grid(
    candidate: Candidate,
    X: Any,
    strata: Strata,
    folds: Sequence[Fold],
    kernel_gamma: float,
    n_jobs: int | None,
) -> list[HeldOut]:
    """Return all configurations of a method without λ paths, each fitted anew on every fold."""
    grid = [params | {"kernel_gamma": kernel_gamma} for params in ParameterGrid(candidate.grid)]
    results = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_score)(clone(candidate.estimator).set_params(**params), X, strata, fold)
        for params in grid
        for fold in folds
    )
    found = []
    for k, params in enumerate(grid):
        own = results[k * len(folds) : (k + 1) * len(folds)]
        decisions = np.full(len(strata.row_stratum), np.nan)
        for (_, test), (scores, _) in zip(folds, own, strict=True):
            decisions[test] = scores
        log_odds = cross_calibrate(decisions, strata, folds)
        seconds = sum(seconds for _, seconds in own)
        found.append(HeldOut(candidate.name, params, decisions, log_odds, seconds))
    return found


def _fit_and_score(estimator: Any, X: Any, strata: Strata, fold: Fold) -> tuple[FloatArray, float]:
    began = time.perf_counter()
    train, test = fold
    y, bags = strata.row_proportions[train], strata.row_stratum[train]
    with quiet_selection():
        estimator.fit(X[train], y, bags=bags)
    return estimator.decision_function(X[test]), time.perf_counter() - began
