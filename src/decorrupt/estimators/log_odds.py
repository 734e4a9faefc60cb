"""Base class of the probabilistic methods, whose scores are log-odds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit, logsumexp

from decorrupt._typing import FloatArray
from decorrupt.estimators.priors import (
    class_probabilities,
    decision_threshold,
    log_prior,
    score_probabilities,
)
from decorrupt.estimators.score_classifier import ScoreClassifier
from decorrupt.solvers import SolverResult

# Mean probabilities equal the class shares to this precision.
SHIFT_TOL = 1e-9


class LogOddsClassifier(ScoreClassifier):
    """f(x) = log P(Y=1|x)/P(Y=−1|x) in the population of the training rows.

    For several classes P(Y=c|x) = softmax(f)_c. Subclasses have the parameter `decision` in
    addition to those of :class:`ScoreClassifier`.
    """

    def _threshold(self, prior: Any) -> Any:
        return decision_threshold(self.decision, prior)

    def _prior_start(self, rank: int, prior: Any) -> FloatArray:
        """Return the coefficients of the constant score f = log_prior(prior)."""
        start = np.zeros((rank + self.fit_intercept, *np.shape(prior)))
        if self.fit_intercept:
            start[-1] = log_prior(prior)
        return start.ravel()

    def _match_prior(self, scores: FloatArray) -> FloatArray:
        """Shift the intercept so that the mean probabilities are the training rows' class shares.

        Returns the shifted scores. The likelihood of noisy or aggregated labels is nearly flat in
        the intercept. The penalty on f then moves the intercept to where σ is steepest, because
        small scores are enough there.
        """
        if not (self.fit_intercept and self.match_prior):
            return scores
        shift = prior_shift(scores, self.score_prior_)
        self.intercept_ += shift
        return np.asarray(scores + shift)

    def _path_with_prior(
        self, path: list[SolverResult], matrix: Any, prior: Any
    ) -> list[SolverResult]:
        """Return the solutions of a path, shifted as by `_match_prior`."""
        if not (self.fit_intercept and self.match_prior):
            return path
        shifted = []
        for result in path:
            coef = result.coef.reshape(-1, *np.shape(prior)).copy()
            coef[-1] += prior_shift(matrix @ coef[:-1] + coef[-1], prior)
            shifted.append(replace(result, coef=coef.ravel()))
        return shifted

    def predict_proba(self, X: Any, class_prior: Any = None) -> FloatArray:
        """Return P(Y | x) in a population with the class shares `class_prior`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows to score.
        class_prior : float in (0, 1), or array-like of shape (n_classes,), optional
            The share of positives in the population of the rows; for several classes the share of
            each class. Default: `score_prior_`, the shares among the training rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns in the order of `classes_`.
        """
        return class_probabilities(self._raw_scores(X), self.score_prior_, class_prior)


def prior_shift(scores: FloatArray, prior: Any) -> Any:
    """Return the shift s with mean σ(f + s) = prior, or for several classes mean softmax(f + s)."""
    scores = scores.astype(float)
    if scores.ndim == 2:
        return _class_shift(scores, prior)
    # Every σ(f + s) is below the prior at the lower end and above it at the upper end.
    lower, upper = logit(prior) - scores.max() - 1, logit(prior) - scores.min() + 1
    return float(brentq(lambda shift: expit(scores + shift).mean() - prior, lower, upper))


def _class_shift(scores: FloatArray, prior: FloatArray) -> FloatArray:
    """Minimise the convex mean log Σ_c exp(f_c + s_c) − ⟨prior, s⟩, whose gradient is then 0."""

    def value_and_slope(shift: FloatArray) -> tuple[float, FloatArray]:
        shifted = scores + shift
        value = logsumexp(shifted, axis=1).mean() - prior @ shift
        return value, score_probabilities(shifted).mean(axis=0) - prior

    found = minimize(value_and_slope, np.zeros(len(prior)), jac=True, options={"gtol": SHIFT_TOL})
    return np.asarray(found.x)
