"""Out-of-fold predictions: fit on the training rows of each fold, predict its held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from decorrupt._typing import FloatArray
from decorrupt.losses import score_shape
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.progress import track


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for held-out rows; NaN for a row that was never held out.

    Attributes
    ----------
    decisions : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Positive for the positive class; of several classes the largest decides.
    probabilities : ndarray of shape (n_rows, n_classes)
        P(Y=c|x) at the requested class shares.
    models : list of (model, rows)
        The model of each fold and its held-out rows.
    """

    decisions: FloatArray
    probabilities: FloatArray
    models: list[tuple[Any, Any]]


def out_of_fold(
    estimator: Any, data: FoldedData, *, class_prior: Any, n_jobs: int | None = None
) -> OutOfFold:
    """Fit an estimator or a pipeline on every fold's training rows and predict its held-out rows.

    Probabilities are those in a population with the class shares `class_prior`.
    """
    with threadpool_limits(1, user_api="blas"):  # small products: threads would only wait
        found = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(data.fit_fold)(estimator, fold) for fold in range(len(data.folds))
        )
        models = list(track(found, "fitting the chosen method on folds", len(data.folds)))
    observed = data.observed
    decisions = np.full((len(observed.row_bag), *score_shape(observed.n_classes)), np.nan)
    probabilities = np.full(observed.row_proportions.shape, np.nan)
    for fold, (model, (_, test)) in enumerate(zip(models, data.folds, strict=True)):
        X = data.test_rows(model, fold)
        decisions[test] = model.decision_function(X)
        probabilities[test] = model.predict_proba(X, class_prior=class_prior)
    tests = [test for _, test in data.folds]
    return OutOfFold(decisions, probabilities, list(zip(models, tests, strict=True)))
