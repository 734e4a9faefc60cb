"""Base classes of the searches: they predict with the best estimator found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from decorrupt._typing import FloatArray
from decorrupt.estimators.bag_assumptions import common_classes_notices, needs_common_classes
from decorrupt.estimators.inputs import read_observations, read_strata
from decorrupt.estimators.score_classifier import FLOATS
from decorrupt.estimators.shared_features import SharedFeaturesClassifier
from decorrupt.model_selection.evaluation import Evaluation
from decorrupt.model_selection.folds import usable_folds
from decorrupt.model_selection.out_of_fold import TrainingData
from decorrupt.model_selection.scorers import BagScorer, get_bag_scorer
from decorrupt.notices import Notice, QuietEstimator, emit_notices, train_quietly


def _has_probabilities(search: Any) -> bool:
    model = getattr(search, "best_estimator_", None) or search._template()
    return model is None or bool(model.predict_proba)


def search_assumption_notices(search: Any, X: Any, y: ArrayLike, bags: Any) -> list[Notice]:
    """Return a notice if the criterion or the best estimator needs common class distributions.

    The columns of a pipeline's last step are checked: those of X may not be numbers.
    """
    model = getattr(search, "best_estimator_", None)
    scorer = get_bag_scorer(search.scoring)
    needs_method = needs_common_classes(model)
    if bags is None or not search.check_assumptions or model is None:
        return []
    if not (scorer.needs_common_classes or needs_method):
        return []
    final = model[-1] if hasattr(model, "steps") else model
    rows = model[:-1].transform(X) if hasattr(model, "steps") and len(model.steps) > 1 else X
    rows = check_array(rows, accept_sparse="csr", dtype=FLOATS)
    user = type(final).__name__ if needs_method else f"scoring={scorer.name!r}"
    names = getattr(final, "feature_names_in_", None)
    return common_classes_notices(rows, read_strata(y, bags)[1], user, names)


class DelegatingClassifier(QuietEstimator, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that predicts with its `best_estimator_`."""

    # Whether labels or proportions of more than two classes are accepted.
    _takes_several_classes: ClassVar[bool] = True

    @property
    def score_prior_(self) -> Any:
        """The share of positives, or the class shares, that `predict_proba` assumes by default."""
        return self.best_estimator_.score_prior_

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
            each class. Default: `score_prior_`.
        """
        check_is_fitted(self)
        prior = self.score_prior_ if class_prior is None else class_prior
        return np.asarray(self.best_estimator_.predict_proba(X, class_prior=prior))

    def _template(self) -> Any:
        """Return an estimator with the methods available after `fit`; None: all methods."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_several_classes
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
        y : array-like of shape (n_rows,) or (n_rows, n_classes)
            The proportion of each row's bag, or its class shares; without `bags`, class labels.
        bags : array-like of shape (n_rows,), optional
            The bag of each row.

        Warns
        -----
        SkippedFoldWarning
            If a fold cannot be used to compare candidates.
        ConvergenceWarning, OneClassWarning, NegativeRiskWarning
            These and other warnings of the refit; candidates do not warn.
        BagAssumptionWarning
            If the rows of a class clearly differ between bags, and the criterion or the chosen
            method assumes that they do not. `check_assumptions=False` switches the check off.
        """
        notices = self._train(X, y, bags=bags)
        emit_notices(search_assumption_notices(self, X, y, bags) + notices)
        return self

    def _read(
        self, X: Any, y: ArrayLike, bags: Any, scorer: BagScorer, **observed: Any
    ) -> tuple[TrainingData, list[Notice]]:
        """Validate rows, proportions and bags, make the folds, set `classes_`.

        `observed` are `upper` and `count_noise` of :func:`read_observations`.
        """
        rows = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        check_consistent_length(rows, y)
        if observed:
            self.classes_, strata, counts = read_observations(y, bags, **observed)
            strata = replace(strata, observed=counts)
        else:
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

    def _refit(
        self, X: Any, y: ArrayLike, bags: Any, found: Evaluation, **fit_params: Any
    ) -> list[Notice]:
        """Fit `best_estimator_` on all rows, with the features of the search if it kept them."""
        model = self.best_estimator_
        if isinstance(model, SharedFeaturesClassifier):
            features = found.features.get(model.feature_key())
            return train_quietly(model, X, y, bags=bags, features=features, **fit_params)
        return train_quietly(model, X, y, bags=bags, **fit_params)
