"""Base classes of the searches: they predict with the best estimator found."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from decorrupt._typing import FloatArray
from decorrupt.estimators.inputs import read_strata
from decorrupt.estimators.saved_state import FillMissingParameters
from decorrupt.estimators.score_classifier import FLOATS
from decorrupt.estimators.shared_features import SharedFeaturesClassifier
from decorrupt.model_selection.evaluation import Evaluation
from decorrupt.model_selection.folds import usable_folds
from decorrupt.model_selection.out_of_fold import TrainingData
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.notices import Notice, QuietEstimator, emit_notices, train_quietly


def _has_probabilities(search: Any) -> bool:
    model = getattr(search, "best_estimator_", None) or search._template()
    return model is None or bool(model.predict_proba)


class DelegatingClassifier(
    FillMissingParameters, QuietEstimator, MetaEstimatorMixin, ClassifierMixin, BaseEstimator
):
    """A classifier that predicts with its `best_estimator_`."""

    @property
    def score_prior_(self) -> float:
        """The share of positives that `predict_proba` assumes by default."""
        return float(self.best_estimator_.score_prior_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the chosen model's decision values."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the chosen model's classes."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, class_prior: float | None = None) -> FloatArray:
        """Return P(Y | x) in a population with the share `class_prior` of positives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows to score.
        class_prior : float in (0, 1), optional
            The share of positives in the population of the rows. Default: `score_prior_`.
        """
        check_is_fitted(self)
        prior = self.score_prior_ if class_prior is None else class_prior
        return np.asarray(self.best_estimator_.predict_proba(X, class_prior=prior))

    def _template(self) -> Any:
        """Return an estimator with the methods available after `fit`; None: all methods."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


class BagSearchClassifier(DelegatingClassifier):
    """A search on bags; subclasses have the parameter `cv` and define `_train`."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}

    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None) -> Self:
        """Choose on held-out bags and refit the best on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            The proportion of each row's bag; without `bags`, class labels.
        bags : array-like of shape (n_rows,), optional
            The bag of each row.

        Warns
        -----
        SkippedFoldWarning
            If a fold cannot be used to compare candidates.
        ConvergenceWarning, OneClassWarning, NegativeRiskWarning
            These and other warnings of the refit; candidates do not warn.
        """
        emit_notices(self._train(X, y, bags=bags))
        return self

    def _read(
        self, X: Any, y: ArrayLike, bags: Any, scorer: BagScorer
    ) -> tuple[TrainingData, list[Notice]]:
        """Validate rows, proportions and bags, make the folds, set `classes_`."""
        rows = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        check_consistent_length(rows, y)
        self.classes_, strata = read_strata(y, bags, rows_as_bags=True)
        folds, notices = usable_folds(
            self._cv(len(strata.ids)),
            rows,
            strata.row_proportions,
            strata.row_stratum,
            needs_spread=scorer.needs_spread,
        )
        return TrainingData.in_bags(rows, strata, folds), notices

    def _cv(self, n_bags: int) -> Any:  # noqa: ARG002 — for subclasses
        return self.cv

    def _refit(self, X: Any, y: ArrayLike, bags: Any, found: Evaluation) -> list[Notice]:
        """Fit `best_estimator_` on all rows, with the features of the search if it kept them."""
        model = self.best_estimator_
        if isinstance(model, SharedFeaturesClassifier):
            features = found.features.get(model.feature_key())
            return train_quietly(model, X, y, bags=bags, features=features)
        return train_quietly(model, X, y, bags=bags)
