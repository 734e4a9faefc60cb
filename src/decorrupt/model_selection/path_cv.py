"""Classifiers that choose λ and the kernel parameter by themselves, on held-out bags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from decorrupt.estimators import CorrectedLossClassifier, CountLikelihoodClassifier
from decorrupt.estimators.parameters import check_parameters
from decorrupt.model_selection.delegating import BagSearchClassifier
from decorrupt.model_selection.evaluation import Configuration, evaluate
from decorrupt.model_selection.folds import DEFAULT_FOLDS
from decorrupt.model_selection.grids import (
    DEFAULT_REG_STRENGTHS,
    WITHOUT_GAMMA,
    check_lists,
    resolve_kernel_gammas,
)
from decorrupt.model_selection.results import keep_results
from decorrupt.model_selection.scorers import get_bag_scorer
from decorrupt.notices import Notice
from decorrupt.solvers.count_path import check_starts


class _PathSearchCV(BagSearchClassifier):
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
        data, notices = self._read(X, y, bags, scorer)
        gammas = resolve_kernel_gammas(self.kernel_gammas, data.X)
        if template.kernel in WITHOUT_GAMMA:
            gammas = gammas[:1]
        # Labels leave a likelihood one maximum, regardless of where it is started from.
        variants = [{}] if bags is None else self._variants(template)
        tried = [variant | {"kernel_gamma": gamma} for gamma in gammas for variant in variants]
        found = evaluate(
            [
                Configuration(
                    "", clone(template).set_params(**params), params, tuple(self.reg_strengths)
                )
                for params in tried
            ],
            data,
            scorer,
            n_jobs=self.n_jobs,
        )
        keep_results(self, found.results, data.strata, data.folds, scorer)
        self.best_estimator_ = template.set_params(**self.best_params_)
        return notices + self._refit(X, y, bags, found)

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
