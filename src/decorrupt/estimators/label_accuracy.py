"""Accuracy on labels; `score` refuses proportions."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target

from decorrupt.estimators.reference_link import ReferenceLinkMixin
from decorrupt.observed import has_class_columns


class LabelAccuracyMixin(ReferenceLinkMixin, ClassifierMixin):
    """scikit-learn's ClassifierMixin, with a `score` that explains what to do for bags."""

    def score(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> float:
        """Return the accuracy on labels.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels, not proportions.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.

        Raises
        ------
        ValueError
            If y contains proportions. scikit-learn's searches show the message as a warning for
            every fold, and raise it with ``error_score="raise"``.
        """
        if has_class_columns(y) or type_of_target(y) == "continuous":
            raise ValueError(
                "score needs the label of each row, and y contains proportions of bags: use "
                "BagGridSearchCV, or scoring=BagScorer('count_log_likelihood') of "
                "decorrupt.model_selection with bags="
            )
        return float(super().score(X, y, sample_weight=sample_weight))
