"""What the probabilistic bag methods share: a score that is the log-odds of the training mixture."""

from __future__ import annotations

from typing import Any

from scipy.special import logit

from decorrupt.estimators.score_classifier import ScoreClassifier, decision_threshold
from decorrupt.losses.margin import FloatArray


class LogOddsClassifier(ScoreClassifier):
    """A classifier with f(x) = log P(Y=1|x)/P(Y=−1|x) in the mixture it was trained on.

    Subclasses have the parameter `decision` beside those of :class:`ScoreClassifier`, and call
    `_set_training_prior` in fit.
    """

    def _set_training_prior(self, prior: float) -> None:
        self.score_prior_ = prior
        self.decision_threshold_ = decision_threshold(
            self.decision, prior, lambda probability: float(logit(probability))
        )

    def predict_proba(self, X: Any, class_prior: float | None = None) -> FloatArray:
        """Return P(Y | x) for a population with a stated share of positives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows to score.
        class_prior : float in (0, 1), optional
            The share of positives in the population the rows come from; by default that of the
            training rows, `score_prior_`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Columns in the order of `classes_`.
        """
        return self._log_odds_to_proba(self._raw_scores(X), class_prior)
