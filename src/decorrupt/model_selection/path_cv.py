"""Classifiers with built-in choice of λ and kernel_gamma on held-out bags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from decorrupt.corruption import Strata
from decorrupt.estimators import CorrectedLossClassifier, CountLikelihoodClassifier
from decorrupt.estimators.parameters import check_parameters
from decorrupt.features import WITHOUT_GAMMA, kernel_name
from decorrupt.model_selection.delegating import BagSearchClassifier
from decorrupt.model_selection.evaluation import Configuration, evaluate
from decorrupt.model_selection.folds import DEFAULT_FOLDS
from decorrupt.model_selection.grids import (
    DEFAULT_REG_STRENGTHS,
    check_lists,
    resolve_kernel_gammas,
)
from decorrupt.model_selection.results import keep_results
from decorrupt.model_selection.scorers import get_bag_scorer
from decorrupt.notices import Notice
from decorrupt.solvers.count_path import starts_to_try


class _PathSearchCV(BagSearchClassifier):
    """Choose kernel_gamma and reg_strength of an estimator by a criterion on held-out bags."""

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
        check_assumptions: bool = True,
    ) -> None:
        self.estimator = estimator
        self.reg_strengths = reg_strengths
        self.kernel_gammas = kernel_gammas
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.check_assumptions = check_assumptions

    def _template(self) -> Any:
        return self._template_class() if self.estimator is None else clone(self.estimator)

    def _variants(self, template: Any, strata: Strata) -> list[dict[str, Any]]:  # noqa: ARG002
        """Return parameters to try in addition to λ and kernel_gamma."""
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
        if kernel_name(template.kernel) in WITHOUT_GAMMA:
            gammas = gammas[:1]
        # With labels the likelihood has one maximum, regardless of the start.
        variants = [{}] if bags is None else self._variants(template, data.strata)
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
                f"{type(self).__name__} needs estimator to be a {self._template_class.__name__}, "
                f"got a {type(template).__name__}: for pipelines and other estimators use "
                "BagGridSearchCV"
            )
        check_parameters(template)


class CorrectedLossClassifierCV(_PathSearchCV):
    """:class:`CorrectedLossClassifier` with choice of λ and kernel_gamma on held-out bags.

    Kernel factors are computed once from all rows (they depend on X only) and shared by all folds
    and λ. λ paths are warm-started, in single precision and with a larger tolerance; a kernel that
    needs more than 1,024 landmarks uses only the first ones. The choice is the same as that of
    :class:`BagGridSearchCV` on the same grid, unless two configurations are nearly tied, at a
    fraction of the cost (``benchmarks/bench_search.py``). The refit uses full precision and all
    landmarks.

    Parameters
    ----------
    estimator : CorrectedLossClassifier or None
        The estimator with all other parameters; None for the defaults.
    reg_strengths : sequence of float
        λ to try.
    kernel_gammas : sequence of float, "scale" or "auto", or None
        Kernel parameters to try; None: 0.03, 0.3 and 1 times "scale".
    cv : int or splitter, default=5
        An int is the number of folds of :class:`BagKFold`.
    scoring : str or BagScorer, default="corrected_accuracy"
        "corrected_accuracy", "corrected_risk", "proportion_risk" or "count_log_likelihood".
    n_jobs : int or None
        Number of fits in parallel.
    random_state : int, RandomState or None
        Set on the estimator if not None.
    check_assumptions : bool, default=True
        Whether `fit` warns if the rows of a class clearly differ between bags, and the criterion
        or the chosen method assumes that they do not.

    Attributes
    ----------
    best_estimator_ : CorrectedLossClassifier
        Refitted on all rows.
    best_params_, best_index_ : dict, int
        The configuration with the greatest score.
    best_score_, best_score_std_error_ : float
        Its score, computed from the predictions for all held-out rows together, and the standard
        error. The score of the best of many candidates is biased upwards.
    cv_results_ : dict of lists and arrays
        As in scikit-learn's searches, with `pooled_test_score`, by which candidates are ranked,
        and `pooled_test_score_std_error`. Greater scores are better.
    classes_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.
    """

    _template_class = CorrectedLossClassifier


class CountLikelihoodClassifierCV(_PathSearchCV):
    """:class:`CountLikelihoodClassifier` with choice of λ, kernel_gamma and start.

    Each of the estimator's `starts` is tried separately on held-out bags: with few bags every
    start can fit the training counts, and only held-out bags show which one generalises.

    The parameters are those of :class:`CorrectedLossClassifierCV`, but `estimator` is a
    CountLikelihoodClassifier and the default criterion is the held-out count log-likelihood.
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
        check_assumptions: bool = True,
    ) -> None:
        super().__init__(
            estimator,
            reg_strengths=reg_strengths,
            kernel_gammas=kernel_gammas,
            cv=cv,
            scoring=scoring,
            n_jobs=n_jobs,
            random_state=random_state,
            check_assumptions=check_assumptions,
        )

    def _variants(self, template: Any, strata: Strata) -> list[dict[str, Any]]:
        starts = starts_to_try(template.starts, several_classes=strata.n_classes is not None)
        return [{"starts": (start,)} for start in starts]
