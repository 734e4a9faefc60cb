"""Base class of the probabilistic methods, whose scores are log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from decorrupt._typing import FloatArray
from decorrupt.estimators.score_classifier import (
    ScoreClassifier,
    class_probabilities,
    decision_threshold,
)


class LogOddsClassifier(ScoreClassifier):
    """f(x) = log P(Y=1|x)/P(Y=−1|x) in the population of the training rows.

    Subclasses have the parameter `decision` in addition to those of :class:`ScoreClassifier`.
    """

    def _threshold(self, prior: float) -> float:
        return decision_threshold(
            self.decision, prior, lambda probability: float(logit(probability))
        )

    def _prior_start(self, rank: int, prior: float) -> FloatArray:
        """Return the coefficients of the constant score f = logit(prior)."""
        start = np.zeros(rank + self.fit_intercept)
        if self.fit_intercept:
            start[-1] = logit(prior)
        return start

    def _match_prior(self, scores: FloatArray) -> FloatArray:
        """Shift the intercept so that the mean of σ(f) is the training rows' share of positives.

        Returns the shifted scores. The likelihood of noisy or aggregated labels is nearly flat in
        the intercept. The penalty on f then moves the intercept to where σ is steepest, because
        small scores are enough there.
        """
        if not (self.fit_intercept and self.match_prior):
            return scores
        shift = prior_shift(scores, self.score_prior_)
        self.intercept_ += shift
        return scores + shift

    def predict_proba(self, X: Any, class_prior: float | None = None) -> FloatArray:
        """Return P(Y | x) in a population with the share `class_prior` of positives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows to score.
        class_prior : float in (0, 1), optional
            The share of positives in the population of the rows. Default: `score_prior_`, the
            share among the training rows.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Columns in the order of `classes_`.
        """
        return class_probabilities(self._raw_scores(X), self.score_prior_, class_prior)


def prior_shift(scores: FloatArray, prior: float) -> float:
    """Return the shift s with mean σ(f + s) = prior."""
    scores = scores.astype(float)
    # Every σ(f + s) is below the prior at the lower end and above it at the upper end.
    lower, upper = logit(prior) - scores.max() - 1, logit(prior) - scores.min() + 1
    return float(brentq(lambda shift: expit(scores + shift).mean() - prior, lower, upper))
