"""Classifiers that choose λ and the kernel parameter by themselves, on held-out bags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from decorrupt._typing import FloatArray
from decorrupt.estimators import CorrectedLossClassifier, CountLikelihoodClassifier
from decorrupt.estimators.inputs import read_strata
from decorrupt.estimators.parameters import check_parameters
from decorrupt.estimators.score_classifier import FLOATS
from decorrupt.model_selection.held_out import from_paths
from decorrupt.model_selection.leaderboard import Entry
from decorrupt.model_selection.path_search import (
    DEFAULT_REG_STRENGTHS,
    WITHOUT_GAMMA,
    check_lists,
    held_out_paths,
    resolve_kernel_gammas,
)
from decorrupt.model_selection.results import keep_results
from decorrupt.model_selection.scorers import get_bag_scorer
from decorrupt.model_selection.search import DEFAULT_FOLDS, usable_folds
from decorrupt.notices import Notice, emit_notices, train_quietly
from decorrupt.progress import track
from decorrupt.solvers.count_path import check_starts


def _best_has(name: str) -> Any:
    def check(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", None) or search._template(), name)
        return True

    return check


class DelegatingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that answers with its `best_estimator_`."""

    __metadata_request__fit = {"bags": True}  # noqa: RUF012

    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None) -> Self:
        """Choose on held-out bags, and refit the best on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            The proportion of each row's bag, or without `bags` class labels.
        bags : array-like of shape (n_rows,), optional
            The bag of each row.

        Warns
        -----
        SkippedFoldWarning
            If a fold cannot be used to compare candidates.
        ConvergenceWarning, OneClassWarning, NegativeRiskWarning
            And what else the refit's own `fit` warns of; candidates do not warn.
        """
        emit_notices(self._train(X, y, bags=bags))
        return self

    def _train(self, X: Any, y: ArrayLike, *, bags: Any = None) -> list[Notice]:
        """Fit without warning; return what to warn of."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> FloatArray:
        """Return the chosen model's decision values."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the chosen model's classes."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


class _PathSearchCV(DelegatingClassifier):
    """Choose (kernel_gamma, reg_strength) of a template by a criterion on held-out bags."""

    _template_class: type

    def __init__(
        self,
        estimator: Any = None,
        *,
        reg_strengths: Sequence[float] = DEFAULT_REG_STRENGTHS,
        kernel_gammas: Sequence[float | str] | None = None,
        cv: Any = DEFAULT_FOLDS,
        scoring: Any = "corrected_accuracy",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.reg_strengths = reg_strengths
        self.kernel_gammas = kernel_gammas
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _template(self) -> Any:
        return self._template_class() if self.estimator is None else clone(self.estimator)

    def _variants(self, template: Any) -> list[dict[str, Any]]:  # noqa: ARG002
        """Return what to try beside λ and γ."""
        return [{}]

    def _train(self, X: Any, y: ArrayLike, *, bags: Any = None) -> list[Notice]:
        scorer = get_bag_scorer(self.scoring)
        check_lists(kernel_gammas=self.kernel_gammas, reg_strengths=self.reg_strengths)
        template = self._template()
        self._check_template(template)
        if self.random_state is not None:
            template.set_params(random_state=self.random_state)
        rows = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        check_consistent_length(rows, y)
        self.classes_, strata = read_strata(y, bags, rows_as_bags=True)
        folds, notices = usable_folds(
            self.cv,
            rows,
            strata.row_proportions,
            strata.row_stratum,
            needs_spread=scorer.needs_spread,
        )
        gammas = resolve_kernel_gammas(self.kernel_gammas, rows)
        if template.kernel in WITHOUT_GAMMA:
            gammas = gammas[:1]
        # Labels leave a likelihood one maximum, whatever it is started from.
        variants = [{}] if bags is None else self._variants(template)
        entries: list[Entry] = []
        best, best_features = -np.inf, None
        for gamma in track(gammas, "searching", len(gammas)):
            features = template.set_params(kernel_gamma=gamma)._fit_features(rows)
            all_paths = held_out_paths(
                [clone(template).set_params(**variant) for variant in variants],
                features,
                strata,
                folds,
                self.reg_strengths,
                self.n_jobs,
            )
            for variant, paths in zip(variants, all_paths, strict=True):
                params = variant | {"kernel_gamma": gamma}
                found = from_paths(type(self).__name__, params, paths, strata, self.reg_strengths)
                entries += [Entry.of(one, strata, scorer) for one in found]
            top = max(entry.score for entry in entries)
            if best_features is None or top > best:
                best, best_features = top, features
        keep_results(self, entries, strata, folds, scorer)
        template.set_params(**self.best_params_)._ready_features = best_features
        self.best_estimator_ = template
        return notices + train_quietly(template, X, y, bags=bags)

    def _check_template(self, template: Any) -> None:
        if not isinstance(template, self._template_class):
            raise TypeError(
                f"{type(self).__name__} searches over a {self._template_class.__name__}, and "
                f"estimator is a {type(template).__name__}: for pipelines and other estimators use "
                "BagGridSearchCV"
            )
        check_parameters(template)


class CorrectedLossClassifierCV(_PathSearchCV):
    """:class:`CorrectedLossClassifier` that chooses λ and kernel γ on held-out bags.

    Kernel factors are built once from all rows (they look at X only) and shared by all folds and
    λ; λ paths are warm-started, in single precision and to fewer digits, on the first landmarks
    where a kernel needs more than 1,024. The choice is that of :class:`BagGridSearchCV` on the same
    grid except where two points of it are nearly tied, at a fraction of the cost
    (``benchmarks/bench_search.py``); the refit has every digit and landmark.

    Parameters
    ----------
    estimator : CorrectedLossClassifier or None
        The template with all other parameters; None for the defaults.
    reg_strengths : sequence of float
        λ to try.
    kernel_gammas : sequence of float, "scale" or "auto", or None
        Kernel parameters to try; None: 0.03, 0.3 and 1 times "scale".
    cv : int or splitter, default=5
        An int is the number of folds of :class:`BagKFold`.
    scoring : str or BagScorer, default="corrected_accuracy"
        "corrected_accuracy", "corrected_risk", "proportion_risk" or "count_log_likelihood".
    n_jobs : int or None
        Folds solved at a time.
    random_state : int, RandomState or None
        Set on the template if given.

    Attributes
    ----------
    best_estimator_ : CorrectedLossClassifier
        Refitted on all rows.
    best_params_, best_index_ : dict, int
        The configuration with the greatest score.
    best_score_, best_score_std_error_ : float
        Its score on held-out bags and the standard error: the criterion of the predictions for
        all held-out rows together. The best of many candidates looks better than it is.
    cv_results_ : dict of lists and arrays
        As in scikit-learn's searches, with `pooled_test_score` and `pooled_test_score_std_error`,
        by which candidates are ranked. Greater scores are better.
    classes_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.
    """

    _template_class = CorrectedLossClassifier

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any, class_prior: float | None = None) -> FloatArray:
        """Return the chosen model's probabilities, for its target prior or the one given."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict_proba(X, class_prior=class_prior))


class CountLikelihoodClassifierCV(_PathSearchCV):
    """:class:`CountLikelihoodClassifier` that chooses λ, kernel γ and start on held-out bags.

    Each of the template's `starts` is tried by itself: with few bags every one of them can explain
    the training counts, and only bags held out tell which has found what the counts come from.

    The parameters are those of :class:`CorrectedLossClassifierCV`, the template a
    CountLikelihoodClassifier and the default criterion the held-out count log-likelihood.
    """

    _template_class = CountLikelihoodClassifier

    def __init__(
        self,
        estimator: Any = None,
        *,
        reg_strengths: Sequence[float] = DEFAULT_REG_STRENGTHS,
        kernel_gammas: Sequence[float | str] | None = None,
        cv: Any = DEFAULT_FOLDS,
        scoring: Any = "count_log_likelihood",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            reg_strengths=reg_strengths,
            kernel_gammas=kernel_gammas,
            cv=cv,
            scoring=scoring,
            n_jobs=n_jobs,
            random_state=random_state,
        )

    def _variants(self, template: Any) -> list[dict[str, Any]]:
        check_starts(template.starts)
        return [{"starts": (start,)} for start in template.starts]

    def predict_proba(self, X: Any, class_prior: float | None = None) -> FloatArray:
        """Return the chosen model's probabilities, for the training mixture or the prior given."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict_proba(X, class_prior=class_prior))
