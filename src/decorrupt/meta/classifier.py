"""Base class of the classifiers around any learner: scores, decisions and probabilities."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from decorrupt._typing import FloatArray
from decorrupt.estimators.priors import chosen_classes, class_probabilities, decision_threshold
from decorrupt.estimators.score_classifier import FLOATS
from decorrupt.notices import QuietEstimator


class AnyLearnerClassifier(QuietEstimator, ClassifierMixin, BaseEstimator):
    """A classifier whose scores come from another learner.

    Subclasses set `classes_`, `score_prior_` and `decision_threshold_`, have the parameter
    `decision`, and define `_score`: log-odds of two classes, log-probabilities of several.
    """

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        """Return validated rows; data frames stay as they are, with columns of all types."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        finite = "allow-nan" if self._takes_missing_values() else True
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finite
        )

    def _takes_missing_values(self) -> bool:
        return False

    def _set_prior(self, prior: Any) -> None:
        self.score_prior_ = prior
        self.decision_threshold_ = decision_threshold(self.decision, prior)

    @abstractmethod
    def _score(self, X: Any) -> FloatArray:
        """Return the scores of validated rows."""

    def _raw_scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = self._read_rows(X, reset=False)
        scores = self._score(X)
        return scores.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else scores

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores minus the decision threshold.

        Two classes: positive means `classes_[1]`. Several: the largest of a row decides.
        """
        scores = self._raw_scores(X)
        return np.asarray(scores - np.asarray(self.decision_threshold_, dtype=scores.dtype))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row of X, one of `classes_`."""
        chosen = chosen_classes(self.decision_function(X))
        return np.asarray(self.classes_[chosen])

    def predict_proba(self, X: Any, class_prior: Any = None) -> FloatArray:
        """Return P(Y | x) in a population with the class shares `class_prior`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Rows to score.
        class_prior : float in (0, 1), or array-like of shape (n_classes,), optional
            The share of positives in the population of the rows; for several classes the share of
            each class. Default: `score_prior_`, the shares among the training rows.
        """
        return class_probabilities(self._raw_scores(X), self.score_prior_, class_prior)
