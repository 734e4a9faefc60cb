"""Fitting on the training rows of folds, and predicting the rows they hold out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.model_selection.splitters import Fold
from decorrupt.notices import train_quietly
from decorrupt.progress import log_step


@dataclass(frozen=True)
class TrainingData:
    """Rows and everything that evaluating needs to know about them.

    Attributes
    ----------
    X, y : array-like or frame, array-like
        Rows and targets.
    fit_params : dict of str to array
        What else `fit` gets, one entry per row: bags, or sources and their rates.
    strata : Strata
        By which held-out rows are scored.
    folds : list of (train, test)
        Row numbers. Of a row that several folds hold out, the last prediction counts.
    """

    X: Any
    y: Any
    fit_params: dict[str, Any]
    strata: Strata
    folds: list[Fold]

    @classmethod
    def in_bags(cls, X: Any, strata: Strata, folds: list[Fold]) -> TrainingData:
        """Return data whose strata are the bags."""
        return cls(X, strata.row_proportions, {"bags": strata.row_stratum}, strata, folds)

    def fit(self, estimator: Any, rows: Any) -> Any:
        """Return a clone fitted on some rows; what a fold would warn of, the refit warns of."""
        model = clone(estimator)
        X, y = _safe_split(model, self.X, self.y, rows)
        own = {name: np.asarray(values)[rows] for name, values in self.fit_params.items()}
        train_quietly(model, X, y, **own)
        return model


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for held-out rows; NaN for a row that was never held out.

    Attributes
    ----------
    decisions : ndarray of shape (n_rows,)
        Positive for the positive class.
    probabilities : ndarray of shape (n_rows,)
        P(Y=1|x) for the share of positives asked for.
    models : list of (model, rows)
        The model of each fold and the rows it has not seen.
    """

    decisions: FloatArray
    probabilities: FloatArray
    models: list[tuple[Any, Any]]


def out_of_fold(
    estimator: Any, data: TrainingData, *, class_prior: float, n_jobs: int | None = None
) -> OutOfFold:
    """Fit an estimator, or a whole pipeline, on every fold's training rows; predict the others.

    Probabilities are for a population with the share `class_prior` of positives.
    """
    models = Parallel(n_jobs=n_jobs)(delayed(data.fit)(estimator, train) for train, _ in data.folds)
    log_step(f"fitted the chosen method again on {len(data.folds)} folds")
    decisions, probabilities = np.full((2, len(data.strata.row_stratum)), np.nan)
    for model, (train, test) in zip(models, data.folds, strict=True):
        X, _ = _safe_split(model, data.X, None, test, train)
        decisions[test] = model.decision_function(X)
        probabilities[test] = model.predict_proba(X, class_prior=class_prior)[:, 1]
    tests = [test for _, test in data.folds]
    return OutOfFold(decisions, probabilities, list(zip(models, tests, strict=True)))
