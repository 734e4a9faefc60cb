"""Grid search on bags, without labels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.utils import check_array, indexable
from sklearn.utils.validation import check_is_fitted

from decorrupt.estimators import (
    FLOATS,
    needs_common_classes,
    warn_of_assumption,
)
from decorrupt.model_selection.evaluation import Configuration, evaluate
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.folds import DEFAULT_FOLDS, folds_of_used, usable_folds
from decorrupt.model_selection.results import keep_results
from decorrupt.model_selection.scorers import BagScorer, get_bag_scorer
from decorrupt.observed import Observed, as_observed


class BagGridSearchCV(GridSearchCV):
    """scikit-learn's GridSearchCV for bags: holds out whole bags and needs no labels.

    Parameters
    ----------
    estimator, param_grid, n_jobs
        As in :class:`sklearn.model_selection.GridSearchCV`.
    scoring : str or BagScorer, default="corrected_accuracy"
        "corrected_accuracy", "corrected_risk", "proportion_risk", "count_log_likelihood", or a
        :class:`BagScorer`, also with your own criterion. Criteria that need labels raise
        ValueError.
    refit : bool, default=True
        Whether to fit the best candidate on all rows.
    cv : int or splitter, default=5
        An int is the number of folds of :class:`BagKFold`.
    error_score : "raise" or NaN, default=NaN
        Whether a fit that fails raises its error, or ranks its candidate last with a warning.

    Attributes
    ----------
    best_estimator_ : estimator
        The best candidate, fitted on all rows, if `refit`.
    best_params_, best_index_ : dict, int
        The configuration with the greatest score.
    best_score_, best_score_std_error_ : float
        Its score, computed from the predictions for all held-out rows together, and the standard
        error. The score of the best of many candidates is biased upwards.
    cv_results_ : dict of lists and arrays
        As in scikit-learn's searches, with `pooled_test_score`, by which candidates are ranked,
        and `pooled_test_score_std_error`. Greater scores are better.
    scorer_, n_splits_, refit_time_, classes_, n_features_in_
        As in :class:`sklearn.model_selection.GridSearchCV`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import BagGridSearchCV, CorrectedLossClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(300) // 6
    >>> y = np.bincount(bags, labels)[bags] / 6
    >>> search = BagGridSearchCV(
    ...     CorrectedLossClassifier(random_state=0), {"reg_strength": [0.01, 0.1]}, cv=3
    ... )
    >>> bool(search.fit(X, y, bags=bags).score(X, labels) > 0.85)
    True
    """

    __metadata_request__fit = {"bags": True, "sample_weight": True}  # noqa: RUF012

    estimator: Any
    cv: Any
    scoring: Any
    n_jobs: int | None
    refit: bool
    error_score: Any
    best_estimator_: Any
    best_params_: dict[str, Any]
    scorer_: BagScorer

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = "corrected_accuracy",
        n_jobs: int | None = None,
        refit: bool = True,
        cv: Any = DEFAULT_FOLDS,
        error_score: Any = np.nan,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            error_score=error_score,
        )

    def fit(self, X: Any, y: Any, *, bags: Any = None, sample_weight: Any = None) -> Any:
        """Run the search and refit the best candidate on all rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,) or (n_rows, n_classes), or Observed
            The proportion of each row's bag, or its class shares.
        bags : array-like of shape (n_rows,)
            The bag of each row.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0.

        Warns
        -----
        SkippedFoldWarning
            If a fold cannot be used, see :func:`usable_folds`.
        FitFailedWarning
            If the fit of a candidate failed.
        ConvergenceWarning, OneClassWarning, NegativeRiskWarning
            These and other warnings of the refit; candidates of this library do not warn.
        BagAssumptionWarning
            If the rows of a class clearly differ between bags, and the criterion or the best
            estimator assumes that they do not.
        """
        if bags is None and not isinstance(y, Observed):
            raise ValueError(
                f"{type(self).__name__} needs bags=, the bag of each row; for data with labels use "
                "scikit-learn's search"
            )
        self.scorer_ = get_bag_scorer(self.scoring)
        self.multimetric_ = False
        if not isinstance(y, Observed):
            X, y, bags = indexable(X, y, bags)
        template, noise = _without_noise(self.estimator)
        observed = as_observed(y, bags=bags, count_noise=noise, sample_weight=sample_weight)
        cv = folds_of_used(self.cv, observed.used_rows)
        X, observed = observed.used(X)
        folds = usable_folds(cv, X, observed, needs_spread=self.scorer_.needs_spread)
        self.n_splits_ = len(folds)
        data = FoldedData(X, observed, folds)
        with sklearn.config_context(enable_metadata_routing=True):
            results = evaluate(
                [_configuration(template, params) for params in ParameterGrid(self.param_grid)],
                data,
                self.scorer_,
                n_jobs=self.n_jobs,
                error_score=self.error_score,
            )
            keep_results(self, results, observed, folds, self.scorer_)
            if self.refit:
                began = time.perf_counter()
                model = _configuration(template, self.best_params_).estimator
                self.best_estimator_ = model.fit(X, observed)
                self.refit_time_ = time.perf_counter() - began
                if hasattr(model, "feature_names_in_"):
                    self.feature_names_in_ = model.feature_names_in_
        self._warn_of_criterion(data)
        return self

    def _warn_of_criterion(self, data: FoldedData) -> None:
        """Warn if the criterion needs common class distributions; `fit` of the best did otherwise.

        The columns of a pipeline's last step are checked: those of X may not be numbers.
        """
        model: Any = getattr(self, "best_estimator_", None)
        if model is None or needs_common_classes(model) or not self.scorer_.needs_spread:
            return
        is_pipeline = hasattr(model, "steps") and len(model.steps) > 1
        rows = model[:-1].transform(data.X) if is_pipeline else data.X
        rows = check_array(rows, accept_sparse="csr", dtype=FLOATS)
        final = model[-1] if hasattr(model, "steps") else model
        names = getattr(final, "feature_names_in_", None)
        user = f"scoring={self.scorer_.name!r}"
        warn_of_assumption(model, rows, data.observed, user=user, names=names)

    def get_metadata_routing(self) -> Any:
        """Return the request for `bags`; scikit-learn's method rejects scorers without labels."""
        return self._get_metadata_request()

    def score(self, X: Any, y: Any = None, *, bags: Any = None) -> float:
        """Return the search's criterion on bags; without `bags`, the accuracy on labels y."""
        check_is_fitted(self)
        if bags is None:
            return float(self.best_estimator_.score(X, y))
        with sklearn.config_context(enable_metadata_routing=True):
            return float(self.scorer_(self.best_estimator_, X, y, bags=bags))


def _configuration(template: Any, params: dict[str, Any]) -> Configuration:
    model = clone(template).set_params(**clone(params, safe=False))
    return Configuration("", model, params)


def _without_noise(template: Any) -> tuple[Any, Any]:
    """Return the estimator without its noise of the counts, and the noise, for the Observed."""
    params = template.get_params()
    for name in params:
        if name.split("__")[-1] == "count_noise" and params[name] is not None:
            return clone(template).set_params(**{name: None}), params[name]
    return template, None
