"""Every candidate's scores of rows it has not seen: what an automatic choice is made on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import ParameterGrid

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.score_classifier import BALANCED, shift_prior
from decorrupt.features import LinearMap
from decorrupt.features.kernels import squared_norms
from decorrupt.model_selection.calibration import cross_calibrate
from decorrupt.model_selection.candidates import Candidate
from decorrupt.model_selection.path_search import (
    DEFAULT_REG_STRENGTHS,
    HeldOutPath,
    held_out_paths,
)
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.model_selection.splitters import Fold
from decorrupt.notices import train_quietly

# What estimators must have in common to share their features.
FEATURE_PARAMS = (
    "kernel",
    "kernel_gamma",
    "degree",
    "coef0",
    "rank_tol",
    "max_rank",
    "fit_intercept",  # columns are centred with it
    "random_state",
)


@dataclass(frozen=True)
class Trial:
    """A method with one kernel; `setting` is what to set on its template for that."""

    candidate: Candidate
    setting: dict[str, Any]

    def estimator(self) -> Any:
        """Return the method's template with the kernel set."""
        return self.candidate.with_setting(self.setting)

    def grid(self) -> list[dict[str, Any]]:
        """Return the settings of every point of the method's own grid."""
        return [params | self.setting for params in ParameterGrid(self.candidate.grid)]

    @property
    def needs(self) -> str:
        """What it needs: trials with λ paths that say the same can share features."""
        if not self.candidate.has_path:
            return f"{self.candidate.name} {self.setting}"
        params = self.estimator().get_params(deep=False)
        return str([params[name] for name in FEATURE_PARAMS])


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
    fold_seconds : ndarray of shape (n_folds,)
        What its fits took; configurations of one path share the path's time equally.

    Notes
    -----
    Of a row that several folds held out, the last prediction counts.
    """

    name: str
    params: dict[str, Any]
    decisions: FloatArray
    log_odds: FloatArray
    fold_seconds: FloatArray

    @property
    def seconds(self) -> float:
        """What all fits together took."""
        return float(self.fold_seconds.sum())

    def predictions(self, scorer: BagScorer) -> FloatArray:
        """Return what the scorer's criterion is for."""
        return self.log_odds if scorer.takes_log_odds else self.decisions


def evaluate_paths(
    trials: Sequence[Trial],
    X: Any,
    strata: Strata,
    folds: Sequence[Fold],
    reg_strengths: Sequence[float] | None,
    n_jobs: int | None,
) -> list[HeldOut]:
    """Return every λ of methods that have λ paths, over the features they have in common.

    The default λ are meant for a kernel with k(x,x) = 1. They are multiplied by the mean of k(x,x),
    so that a linear kernel is searched in the same range regardless of the number of columns and
    their scale.
    """
    estimator = trials[0].estimator()
    features = estimator._fit_features(X)
    if reg_strengths is None:
        is_linear = isinstance(features, LinearMap)
        diagonal = squared_norms(features.matrix) if is_linear else estimator._kernel().diagonal(X)
        kernel_size = float(np.mean(diagonal)) or 1.0
        reg_strengths = [kernel_size * reg_strength for reg_strength in DEFAULT_REG_STRENGTHS]
    tried = [(trial.candidate, params) for trial in trials for params in trial.grid()]
    estimators = [candidate.with_setting(params) for candidate, params in tried]
    all_paths = held_out_paths(estimators, features, strata, folds, reg_strengths, n_jobs)
    found = []
    for (candidate, params), paths in zip(tried, all_paths, strict=True):
        found += from_paths(candidate.name, params, paths, strata, reg_strengths)
    return found


def from_paths(
    name: str,
    params: dict[str, Any],
    paths: Sequence[HeldOutPath],
    strata: Strata,
    reg_strengths: Sequence[float],
) -> list[HeldOut]:
    """Return every λ of one method, from its paths in all folds."""
    shape = (len(reg_strengths), len(strata.row_stratum))
    decisions, log_odds = np.full(shape, np.nan), np.full(shape, np.nan)
    for path in paths:
        decisions[:, path.test] = (path.scores - path.threshold).T
        log_odds[:, path.test] = shift_prior(path.scores, path.prior, BALANCED).T
    fold_seconds = np.array([path.seconds for path in paths]) / len(reg_strengths)
    return [
        HeldOut(
            name,
            params | {"reg_strength": float(reg_strength)},
            decisions[r],
            log_odds[r],
            fold_seconds,
        )
        for r, reg_strength in enumerate(reg_strengths)
    ]


def evaluate_grid(
    trial: Trial, X: Any, strata: Strata, folds: Sequence[Fold], n_jobs: int | None
) -> list[HeldOut]:
    """Return all configurations of a method without λ paths, each fitted anew on every fold."""
    candidate, grid = trial.candidate, trial.grid()
    results = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_score)(candidate.with_setting(params), X, strata, fold)
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
        fold_seconds = np.array([seconds for _, seconds in own])
        found.append(HeldOut(candidate.name, params, decisions, log_odds, fold_seconds))
    return found


def _fit_and_score(estimator: Any, X: Any, strata: Strata, fold: Fold) -> tuple[FloatArray, float]:
    began = time.perf_counter()
    train, test = fold
    y, bags = strata.row_proportions[train], strata.row_stratum[train]
    train_quietly(estimator, X[train], y, bags=bags)
    return estimator.decision_function(X[test]), time.perf_counter() - began
