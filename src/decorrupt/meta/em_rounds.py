"""EM with any learner: posteriors at held-out scores, then the learner on soft labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from decorrupt._typing import FloatArray
from decorrupt.losses import score_shape
from decorrupt.meta.folds import Fold
from decorrupt.meta.soft_labels import fit_soft_labels, soft_scores
from decorrupt.progress import track
from decorrupt.risks import CountRisk
from decorrupt.solvers import fit_slope_and_shift


@dataclass(frozen=True)
class SoftLearner:
    """An estimator to be fitted to soft labels, on folds or on all rows.

    Attributes
    ----------
    estimator : estimator
        A classifier with weights and probabilities, or a regressor.
    n_classes : int
        The number of classes.
    row_weights : ndarray of shape (n_rows,) or None
        How many rows each row represents.
    sample_weight_name : str or None
        See :func:`fit_soft_labels`.
    n_jobs : int or None
        Folds fitted in parallel.
    """

    estimator: Any
    n_classes: int
    row_weights: Any = None
    sample_weight_name: str | None = None
    n_jobs: int | None = None

    def fit(self, X: Any, weights: FloatArray, rows: Any = slice(None)) -> Any:
        """Return the estimator fitted to the soft labels of all rows, or of some."""
        row_weights = None if self.row_weights is None else self.row_weights[rows]
        return fit_soft_labels(
            self.estimator,
            X,
            weights,
            row_weights=row_weights,
            sample_weight_name=self.sample_weight_name,
        )

    def scores(self, X: Any, weights: FloatArray, folds: Sequence[Fold] | None) -> FloatArray:
        """Return the scores of every row when it was held out; without folds, in-sample scores."""
        if folds is None:
            return soft_scores(self.fit(X, weights), X, self.n_classes)
        found = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(self._held_out)(X, weights, fold) for fold in folds
        )
        scores = np.empty((len(weights), *score_shape(self.n_classes)))
        fits = track(found, "fitting folds to soft labels", len(folds))
        for (_, test), some in zip(folds, fits, strict=True):
            scores[test] = some
        return scores

    def _held_out(self, X: Any, weights: FloatArray, fold: Fold) -> FloatArray:
        train, test = fold
        model = self.fit(_safe_indexing(X, train), weights[train], train)
        return soft_scores(model, _safe_indexing(X, test), self.n_classes)


@dataclass(frozen=True)
class Round:
    """The outcome of one round.

    Attributes
    ----------
    posterior : ndarray of shape (n_rows, n_classes)
        The soft labels of the round.
    slope, shift : float, float or ndarray
        The calibration of the learner's scores; the slope is 0 if held-out bags contradict them.
    scores : ndarray
        Held-out scores, calibrated and blended with the start.
    log_likelihood : float
        Σ log P(observation) at these scores.
    """

    posterior: FloatArray
    slope: float
    shift: Any
    scores: FloatArray
    log_likelihood: float


def run_round(
    learner: SoftLearner,
    X: Any,
    likelihood: CountRisk,
    start: FloatArray,
    *,
    folds: Sequence[Fold] | None,
    blend: float,
    calibrate: bool,
) -> Round:
    """Run an E-step at the start's scores, an M-step, calibration, and the blend with the start.

    Without folds, blend 1 and no calibration this is the EM algorithm: with a learner that
    maximises the likelihood of the soft labels, the log-likelihood does not fall.
    """
    posterior, prior = likelihood.posterior(start), likelihood.class_prior
    own = learner.scores(X, posterior, folds)
    slope, shift = (1.0, 0.0)
    if calibrate:
        weights = likelihood.observed.weights
        slope, shift = fit_slope_and_shift(own, likelihood, prior, weights)
    blended = blend * (slope * own + shift) + (1 - blend) * start
    return Round(posterior, slope, shift, blended, likelihood.log_likelihood(blended))
