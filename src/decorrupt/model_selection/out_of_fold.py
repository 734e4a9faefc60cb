"""Out-of-fold predictions: fit on the training rows of each fold, predict its held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.class_sources import ClassSources
from decorrupt.estimators.inputs import NoisySources
from decorrupt.notices import train_quietly
from decorrupt.progress import log_step
from decorrupt.splitters import Fold


@dataclass(frozen=True)
class TrainingData:
    """Rows, targets, strata and folds of an evaluation.

    Attributes
    ----------
    X, y : array-like or frame, array-like
        Rows and targets.
    fit_params : dict of str to array
        Other arguments of `fit`, one entry per row: bags, or sources and their rates.
    strata : Strata
        The strata with which held-out rows are scored.
    folds : list of (train, test)
        Row numbers. If several folds hold out a row, its last prediction is used.
    noisy : NoisySources, ClassSources or None
        The noisy labels of sources, on which λ paths are fitted; None: the strata.
    """

    X: Any
    y: Any
    fit_params: dict[str, Any]
    strata: Strata
    folds: list[Fold]
    noisy: NoisySources | ClassSources | None = None

    @classmethod
    def in_bags(cls, X: Any, strata: Strata, folds: list[Fold]) -> TrainingData:
        """Return training data with the bags as strata, with their ranges or noisy counts."""
        return cls(X, *_bag_targets(strata), strata, folds)

    def take(self, rows: NDArray[np.intp]) -> TrainingData:
        """Return the data of some rows, sorted and of whole bags, with the same folds."""
        own = {name: np.asarray(values)[rows] for name, values in self.fit_params.items()}
        folds = [(_places(train, rows), _places(test, rows)) for train, test in self.folds]
        X, y = _safe_indexing(self.X, rows), np.asarray(self.y)[rows]
        noisy = None if self.noisy is None else self.noisy.take(rows)
        return TrainingData(X, y, own, self.strata.take(rows), folds, noisy)

    def observed(self, rows: NDArray[np.intp]) -> Strata | NoisySources | ClassSources:
        """Return what is known about the labels of some rows."""
        return (self.strata if self.noisy is None else self.noisy).take(rows)

    def fit(self, estimator: Any, rows: Any) -> Any:
        """Return a clone fitted on some rows, without warnings: only the refit warns."""
        model = clone(estimator)
        X, y = _safe_split(model, self.X, self.y, rows)
        own = {name: np.asarray(values)[rows] for name, values in self.fit_params.items()}
        if self.strata.observed is not None:  # the counts of a part of a bag are smaller
            y, own = _bag_targets(self.strata.take(rows))
        train_quietly(model, X, y, **own)
        return model


def _bag_targets(strata: Strata) -> tuple[FloatArray, dict[str, Any]]:
    """Return y and the other arguments of `fit`: bags, and upper if there are ranges."""
    fit_params = {"bags": strata.row_stratum}
    if strata.observed is None:
        return strata.row_proportions, fit_params
    lower, upper = (
        shares[strata.row_stratum] for shares in strata.observed.as_shares(strata.sizes)
    )
    return lower, fit_params | ({"upper": upper} if (lower < upper).any() else {})


def _places(some: Any, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the places in `rows` of those rows that are among `some`."""
    return np.flatnonzero(np.isin(rows, some))


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for held-out rows; NaN for a row that was never held out.

    Attributes
    ----------
    decisions : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Positive for the positive class; of several classes the largest decides.
    probabilities : ndarray of shape (n_rows,) or (n_rows, n_classes)
        P(Y=1|x), or P(Y=c|x) for several classes, at the requested class shares.
    models : list of (model, rows)
        The model of each fold and its held-out rows.
    """

    decisions: FloatArray
    probabilities: FloatArray
    models: list[tuple[Any, Any]]


def out_of_fold(
    estimator: Any, data: TrainingData, *, class_prior: Any, n_jobs: int | None = None
) -> OutOfFold:
    """Fit an estimator or a pipeline on every fold's training rows and predict its held-out rows.

    Probabilities are those in a population with the class shares `class_prior`.
    """
    with threadpool_limits(1, user_api="blas"):  # small products: threads would only wait
        models = Parallel(n_jobs=n_jobs)(
            delayed(data.fit)(estimator, train) for train, _ in data.folds
        )
    log_step(f"fitted the chosen method again on {len(data.folds)} folds")
    several = data.strata.n_classes is not None
    decisions, probabilities = np.full((2, *data.strata.row_proportions.shape), np.nan)
    for model, (train, test) in zip(models, data.folds, strict=True):
        X, _ = _safe_split(model, data.X, None, test, train)
        decisions[test] = model.decision_function(X)
        found = model.predict_proba(X, class_prior=class_prior)
        probabilities[test] = found if several else found[:, 1]
    tests = [test for _, test in data.folds]
    return OutOfFold(decisions, probabilities, list(zip(models, tests, strict=True)))
