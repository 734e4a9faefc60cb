"""Base class of the searches: they predict with the best estimator found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from decorrupt._typing import FloatArray
from decorrupt.estimators import (
    FLOATS,
    LabelAccuracyMixin,
    common_classes_notices,
    needs_common_classes,
)
from decorrupt.model_selection.scorers import get_bag_scorer
from decorrupt.notices import Notice, QuietEstimator
from decorrupt.observed import Observed


def _has_probabilities(search: Any) -> bool:
    model = getattr(search, "best_estimator_", None)
    return model is None or bool(model.predict_proba)


def search_assumption_notices(search: Any, X: Any, observed: Observed) -> list[Notice]:
    """Return a notice if the criterion or the best estimator needs common class distributions.

    The columns of a pipeline's last step are checked: those of X may not be numbers.
    """
    model: Any = getattr(search, "best_estimator_", None)
    scorer = get_bag_scorer(search.scoring)
    final = model[-1] if hasattr(model, "steps") else model
    final = getattr(final, "estimator_", final)  # inside a calibrated one
    needs_method = needs_common_classes(final)
    if not search.check_assumptions or model is None:
        return []
    if not (scorer.needs_spread or needs_method):
        return []
    rows = model[:-1].transform(X) if hasattr(model, "steps") and len(model.steps) > 1 else X
    rows = check_array(rows, accept_sparse="csr", dtype=FLOATS)
    user = type(final).__name__ if needs_method else f"scoring={scorer.name!r}"
    names = getattr(final, "feature_names_in_", None)
    return common_classes_notices(rows, observed, user, names)


class DelegatingClassifier(QuietEstimator, MetaEstimatorMixin, LabelAccuracyMixin, BaseEstimator):
    """A classifier that predicts with its `best_estimator_`."""

    def decision_function(self, X: Any) -> FloatArray:
        """Return the chosen model's decision values."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the chosen model's classes."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, class_prior: Any = None) -> FloatArray:
        """Return P(Y | x) in a population with the class shares `class_prior`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows to score.
        class_prior : float in (0, 1), or array-like of shape (n_classes,), optional
            The share of positives in the population of the rows; for several classes the share of
            each class. Default: `class_prior_`.
        """
        check_is_fitted(self)
        prior = getattr(self, "class_prior_", None) if class_prior is None else class_prior
        return np.asarray(self.best_estimator_.predict_proba(X, class_prior=prior))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
