"""scikit-learn's searches for data in bags: whole bags are held out, no labels are needed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    ParameterSampler,
    RandomizedSearchCV,
)
from sklearn.utils import indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.inputs import read_strata
from decorrupt.exceptions import SkippedFoldWarning
from decorrupt.model_selection.held_out import HeldOut
from decorrupt.model_selection.leaderboard import Entry
from decorrupt.model_selection.results import keep_results
from decorrupt.model_selection.scorers import BagScorer, get_bag_scorer, pooled_prior
from decorrupt.model_selection.splitters import BagKFold, BagSplitter, Fold
from decorrupt.notices import Notice, emit_notices, train_quietly
from decorrupt.progress import track

DEFAULT_FOLDS = 5


def usable_folds(
    cv: Any, X: Any, y: ArrayLike, bags: Any, *, needs_spread: bool
) -> tuple[list[Fold], list[Notice]]:
    """Return the folds of `cv` (an int makes a BagKFold) on which the criterion can be computed.

    A fold is left out, for all candidates alike, if its training bags all have one proportion, or
    its held-out bags do and the criterion needs differences. The second value has a notice of a
    SkippedFoldWarning then, which names them.
    """
    if cv is None or isinstance(cv, int | np.integer):
        cv = BagKFold(DEFAULT_FOLDS if cv is None else int(cv))
    if hasattr(cv, "split"):
        routed = "bags" if isinstance(cv, BagSplitter) else "groups"
        folds = list(cv.split(X, y, **{routed: bags}))
    else:
        folds = list(cv)
    y = np.asarray(y, dtype=float)
    useless = {}
    for k, (train, test) in enumerate(folds):
        if np.ptp(y[train]) == 0:
            useless[k] = "training bags"  # nothing can be learned from them
        elif needs_spread and np.ptp(y[test]) == 0:
            useless[k] = "held-out bags"
    if not useless:
        return folds, []
    if len(useless) == len(folds):
        raise ValueError(
            f"in every fold the {useless[0]} all have one proportion, so that candidates cannot be "
            "compared: use fewer folds, or scoring='count_log_likelihood'"
        )
    named = "; ".join(
        f"fold {k}, whose {part} all have one proportion" for k, part in useless.items()
    )
    notice = Notice(SkippedFoldWarning, f"left out of the selection: {named}")
    return [fold for k, fold in enumerate(folds) if k not in useless], [notice]


class _BagSearch:
    """What the grid and the randomised search share, put before scikit-learn's class.

    Its `fit` takes the place of scikit-learn's, which keeps a number per fold: the predictions of
    all held-out rows are needed to score them together.
    """

    __metadata_request__fit = {"bags": True}  # noqa: RUF012

    estimator: Any
    cv: Any
    scoring: Any
    n_jobs: int | None
    refit: bool
    error_score: Any
    best_estimator_: Any
    best_params_: dict[str, Any]
    scorer_: BagScorer

    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None) -> Any:
        """Run the search on rows X in `bags` with proportions y, and refit the best.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            The proportion of each row's bag.
        bags : array-like of shape (n_rows,)
            The bag of each row.

        Warns
        -----
        SkippedFoldWarning
            If a fold cannot be used, see :func:`usable_folds`.
        FitFailedWarning
            If a candidate could not be fitted.
        ConvergenceWarning, OneClassWarning, NegativeRiskWarning
            And what else the refit's own `fit` warns of; candidates of this library do not warn.
        """
        emit_notices(self._train(X, y, bags=bags))
        return self

    def _train(self, X: Any, y: ArrayLike, *, bags: Any = None) -> list[Notice]:
        if bags is None:
            raise ValueError(
                f"{type(self).__name__} needs bags=, the bag of each row; for data with labels use "
                "scikit-learn's search"
            )
        self.scorer_ = get_bag_scorer(self.scoring)
        self.multimetric_ = False
        X, y, bags = indexable(X, y, bags)
        _, strata = read_strata(y, bags)
        folds, notices = usable_folds(self.cv, X, y, bags, needs_spread=self.scorer_.needs_spread)
        self.n_splits_ = len(folds)
        with sklearn.config_context(enable_metadata_routing=True):
            held_out, failed = self._evaluate(X, strata, folds)
            notices += failed
            entries = [Entry.of(one, strata, self.scorer_) for one in held_out]
            keep_results(self, entries, strata, folds, self.scorer_)
            if self.refit:
                began = time.perf_counter()
                model = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
                notices += train_quietly(model, X, y, bags=bags)
                self.best_estimator_ = model
                self.refit_time_ = time.perf_counter() - began
                if hasattr(model, "feature_names_in_"):
                    self.feature_names_in_ = model.feature_names_in_
        return notices

    def get_metadata_routing(self) -> Any:
        """Return that fit takes bags; scikit-learn's own method reads scorers that need labels."""
        return self._get_metadata_request()  # type: ignore[attr-defined]

    def _evaluate(
        self, X: Any, strata: Strata, folds: list[Fold]
    ) -> tuple[list[HeldOut], list[Notice]]:
        """Fit every candidate on every fold; some at a time, so that a bar can tell how far."""
        candidates = list(self._candidates())
        # Enough at a time to keep all workers busy.
        step = 4 * effective_n_jobs(self.n_jobs)
        starts = range(0, len(candidates), step)
        found: list[HeldOut] = []
        failures: list[str] = []
        for start in track(starts, "searching", len(starts)):
            some = candidates[start : start + step]
            results = Parallel(n_jobs=self.n_jobs)(
                delayed(_fit_and_predict)(
                    clone(self.estimator), params, X, strata, fold, self.scorer_, self.error_score
                )
                for params in some
                for fold in folds
            )
            for k, params in enumerate(some):
                own = results[k * len(folds) : (k + 1) * len(folds)]
                failures += [result.failure for result in own if result.failure]
                found.append(_pool(params, own, strata, folds))
        return found, _failure_notices(failures, len(candidates) * len(folds))

    def _candidates(self) -> Any:
        raise NotImplementedError

    def score(self, X: Any, y: Any = None, *, bags: Any = None) -> float:
        """Return the search's criterion on bags, or without `bags` the accuracy on labels y."""
        check_is_fitted(self)
        if bags is None:
            return float(self.best_estimator_.score(X, y))
        with sklearn.config_context(enable_metadata_routing=True):
            return float(self.scorer_(self.best_estimator_, X, y, bags=bags))


@dataclass(frozen=True)
class _FoldResult:
    """What a candidate predicts for a fold's held-out rows, or why it could not be fitted."""

    predictions: FloatArray | None
    seconds: float
    failure: str = ""


def _fit_and_predict(
    estimator: Any,
    params: dict[str, Any],
    X: Any,
    strata: Strata,
    fold: Fold,
    scorer: BagScorer,
    error_score: Any,
) -> _FoldResult:
    began = time.perf_counter()
    train, test = fold
    y = strata.row_proportions
    estimator.set_params(**clone(params, safe=False))
    X_train, y_train = _safe_split(estimator, X, y, train)
    X_test, _ = _safe_split(estimator, X, y, test, train)
    try:
        train_quietly(estimator, X_train, y_train, bags=strata.row_stratum[train])
    except Exception as error:
        if isinstance(error_score, str):
            raise
        return _FoldResult(None, time.perf_counter() - began, f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - began
    return _FoldResult(scorer.predictions(estimator, X_test, pooled_prior(y_train)), seconds)


def _pool(
    params: dict[str, Any], results: list[_FoldResult], strata: Strata, folds: list[Fold]
) -> HeldOut:
    """Put the folds' predictions in the rows' order; a candidate that failed once has none."""
    pooled = np.full(len(strata.row_stratum), np.nan)
    if not any(result.failure for result in results):
        for (_, test), result in zip(folds, results, strict=True):
            pooled[test] = result.predictions
    seconds = np.array([result.seconds for result in results])
    return HeldOut("", params, pooled, pooled, seconds)


def _failure_notices(failures: list[str], n_fits: int) -> list[Notice]:
    if not failures:
        return []
    said = f"{len(failures)} of {n_fits} fits failed, the first with {failures[0]}"
    if len(failures) == n_fits:
        raise ValueError(said)
    advice = f"{said}. Their candidates come last; error_score='raise' shows where"
    return [Notice(FitFailedWarning, advice)]


class BagGridSearchCV(_BagSearch, GridSearchCV):
    """scikit-learn's GridSearchCV for bags: whole bags are held out, no label is needed.

    Parameters
    ----------
    estimator, param_grid, n_jobs
        As in :class:`sklearn.model_selection.GridSearchCV`.
    scoring : str or BagScorer, default="corrected_accuracy"
        "corrected_accuracy", "corrected_risk", "proportion_risk", "count_log_likelihood", or a
        :class:`BagScorer`, which can also hold a criterion of one's own. Criteria that need labels
        are refused.
    refit : bool, default=True
        Whether to fit the best candidate on all rows.
    cv : int or splitter, default=5
        An int is the number of folds of :class:`BagKFold`.
    error_score : "raise" or NaN, default=NaN
        Whether a candidate that cannot be fitted ends the search, or comes last with a warning.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted on all rows, if `refit`.
    best_params_, best_index_, best_score_, best_score_std_error_, cv_results_
        As in :class:`CorrectedLossClassifierCV`.
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

    def _candidates(self) -> Any:
        return ParameterGrid(self.param_grid)


class BagRandomizedSearchCV(_BagSearch, RandomizedSearchCV):
    """scikit-learn's RandomizedSearchCV for bags: whole bags are held out, no label is needed.

    The parameters are those of :class:`sklearn.model_selection.RandomizedSearchCV`, with `scoring`
    and `cv` as in :class:`BagGridSearchCV`.
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        scoring: Any = "corrected_accuracy",
        n_jobs: int | None = None,
        refit: bool = True,
        cv: Any = DEFAULT_FOLDS,
        random_state: Any = None,
        error_score: Any = np.nan,
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_iter=n_iter,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            random_state=random_state,
            error_score=error_score,
        )

    def _candidates(self) -> Any:
        return ParameterSampler(
            self.param_distributions, self.n_iter, random_state=self.random_state
        )
