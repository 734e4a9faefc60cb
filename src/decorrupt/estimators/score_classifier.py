"""Base class of all classifiers: scores become decisions and probabilities in one place."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from decorrupt._typing import FloatArray
from decorrupt.exceptions import OneClassWarning, warn
from decorrupt.features import check_magnitude
from decorrupt.losses import (
    chosen_classes,
    prior_scores,
    probabilities,
    score_shape,
    shift_prior,
    unclipped_scores,
)
from decorrupt.observed import Observed, resolve_class_prior
from decorrupt.risks import count_risk

DECISIONS = ("balanced", "accuracy")
FLOATS = (np.float64, np.float32)


def validated_rows(
    model: Any, X: Any, *, reset: bool = True, is_squared: bool = True, **options: Any
) -> Any:
    """Return scikit-learn's validated rows, sparse ones as CSR.

    Parameters
    ----------
    model : estimator
        It gets `n_features_in_` and `feature_names_in_` if `reset`.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        Rows.
    reset : bool
        Whether this is the fit; otherwise the columns must be those of the fit.
    is_squared : bool
        Whether values are refused whose squares are not finite numbers.
    **options
        Further arguments of :func:`sklearn.utils.validation.validate_data`.

    Raises
    ------
    ValueError
        If X is invalid; the message names the row and the column of a value that is too large.
    """
    X = validate_data(model, X, reset=reset, accept_sparse="csr", dtype=FLOATS, **options)
    if is_squared:
        names = getattr(model, "feature_names_in_", None)
        check_magnitude(X, names, n_rows=X.shape[0] if reset else 1)
    return X


def decision_threshold(
    decision: str, class_prior: FloatArray, score_at: Callable[[float], float] | None = None
) -> Any:
    """Return what `predict` subtracts from the scores.

    Parameters
    ----------
    decision : {"balanced", "accuracy"}
        "accuracy" chooses the most probable class. "balanced" chooses the class that would be most
        probable if all classes were equally frequent, which maximises the mean of their recalls.
    class_prior : ndarray of shape (n_classes,)
        The class shares in the population that the scores describe.
    score_at : callable, optional
        From P(Y=1|x) to the score, for a loss of two classes whose scores are not log-odds.

    Returns
    -------
    float, or ndarray of shape (n_classes,) for several classes
    """
    if decision not in DECISIONS:
        raise ValueError(f"unknown decision {decision!r}: choose one of {', '.join(DECISIONS)}")
    if decision == "accuracy" or np.ptp(class_prior) == 0:
        return np.zeros(score_shape(len(class_prior)))[()]
    if score_at is None:
        return prior_scores(class_prior)
    try:
        return float(score_at(class_prior[1]))
    except ValueError as error:
        raise ValueError(
            f"{error}: decision='balanced' needs it. Set decision='accuracy' or class_prior=0.5"
        ) from None


class LabelAccuracyMixin(ClassifierMixin):
    """scikit-learn's ClassifierMixin, with a `score` that explains what to do for bags."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on labels, or the log-likelihood per row of an `Observed`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,), or Observed
            Their labels, not proportions; or what is known about them.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.

        Raises
        ------
        ValueError
            If y contains proportions. scikit-learn's searches show the message as a warning for
            every fold, and raise it with ``error_score="raise"``.
        """
        if isinstance(y, Observed):
            y.warn_of_parts()
            X, observed = y.used(X)
            prob = self.predict_proba(X, class_prior=observed.inner_prior)
            likelihood = count_risk(observed).log_likelihood(unclipped_scores(prob))
            return likelihood / float(observed.n_rows)
        if (np.ndim(y) == 2 and np.shape(y)[1] > 1) or type_of_target(y) == "continuous":
            raise ValueError(
                "score needs the label of each row, and y contains proportions of bags: use "
                "BagGridSearchCV, or scoring=BagScorer('count_log_likelihood') of "
                "decorrupt.model_selection with bags="
            )
        return float(super().score(X, y, sample_weight=sample_weight))


def _has_log_odds(model: Any) -> bool:
    if not model.has_log_odds:
        raise AttributeError(
            f"{type(model).__name__} has no predict_proba: its scores are not log-odds"
        )
    return True


class ScoreClassifier(LabelAccuracyMixin, BaseEstimator):
    """Base class of all classifiers: it turns scores into decisions and probabilities.

    Scores f(x) are log-odds of two classes, or one score per class, unless `has_log_odds` is False;
    then there is no `predict_proba`. Subclasses have the parameter `decision`, define `_read_rows`
    and `_score`, set `classes_`, and call `set_class_prior` with the class shares in the population
    that the scores describe.
    """

    classes_: NDArray[Any]
    class_prior_: FloatArray
    decision_threshold_: Any

    @property
    def has_log_odds(self) -> bool:
        """Whether the scores are log-odds, so that there is a `predict_proba`."""
        return True

    def set_class_prior(self, class_prior: FloatArray) -> None:
        """Set `class_prior_` and the decision threshold that follows from it."""
        self.class_prior_ = class_prior
        self.decision_threshold_ = self.threshold(class_prior)

    def threshold(self, class_prior: FloatArray) -> Any:
        """Return what `predict` subtracts from scores at these class shares."""
        return decision_threshold(self.decision, class_prior)

    @abstractmethod
    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        """Return validated rows."""

    @abstractmethod
    def _score(self, X: Any) -> FloatArray:
        """Return f(x) of validated rows."""

    def raw_scores(self, X: Any) -> FloatArray:
        """Return f(x) of each row of X, in a population with the class shares `class_prior_`."""
        check_is_fitted(self)
        X = self._read_rows(X, reset=False)
        scores = self._score(X)
        return scores.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else scores

    def decision_function(self, X: Any) -> FloatArray:
        """Return f(x) minus the decision threshold.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Two classes: positive means `classes_[1]`. Several: the largest one decides.
        """
        scores = self.raw_scores(X)
        return np.asarray(scores - np.asarray(self.decision_threshold_, dtype=scores.dtype))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row of X, one of `classes_`."""
        chosen = chosen_classes(self.decision_function(X))
        return np.asarray(self.classes_[chosen])

    @available_if(_has_log_odds)
    def predict_proba(self, X: Any, class_prior: Any = None) -> FloatArray:
        """Return P(Y | x) in a population with the class shares `class_prior`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
            Rows.
        class_prior : float or array-like of shape (n_classes,), optional
            The share of positives, or the share of each class, in the population that the rows
            come from; 0.5 for equal shares. By default `class_prior_`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            One column per class in the order of `classes_`.
        """
        scores = self.raw_scores(X)
        if class_prior is not None:
            shares = resolve_class_prior(class_prior, self.class_prior_)
            scores = shift_prior(scores, self.class_prior_, shares)
        return probabilities(scores)

    def warn_if_one_class(self, predicted: NDArray[np.intp], n_rows: int) -> None:
        """Warn if only one class is among those predicted for the training rows."""
        distinct = np.unique(predicted)
        if len(distinct) == 1:
            n_classes = {2: "two"}.get(len(self.classes_), len(self.classes_))
            warn(
                f"the model predicts class {self.classes_.tolist()[distinct[0]]!r} for all "
                f"{n_rows} training rows, though they have {n_classes} classes. Scale the "
                "columns of X, try another kernel, kernel_gamma or regularisation, or "
                "decision='balanced' where one class is rare",
                OneClassWarning,
            )
