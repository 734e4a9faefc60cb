"""scikit-learn's searches for data in bags: routing opened, whole bags left out, no labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import sklearn
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    ParameterSampler,
    RandomizedSearchCV,
)
from sklearn.utils.validation import check_is_fitted

from decorrupt.exceptions import SkippedFoldWarning
from decorrupt.model_selection.scorers import BAG_SCORERS, NEED_SPREAD
from decorrupt.model_selection.splitters import BagKFold, BagSplitter, Fold
from decorrupt.progress import track

DEFAULT_FOLDS = 5


def usable_folds(cv: Any, X: Any, y: ArrayLike, bags: Any, *, needs_spread: bool) -> list[Fold]:
    """Return the folds of `cv` (an int makes a BagKFold) on which the criterion can be computed.

    Warns
    -----
    SkippedFoldWarning
        If the training bags of a fold all have one proportion, or the held-out bags do and the
        criterion lives on differences; the fold is named and left out, for all candidates alike.
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
        return folds
    if len(useless) == len(folds):
        raise ValueError(
            f"in every fold the {useless[0]} all have one proportion, so that candidates cannot be "
            "compared: use fewer folds, or scoring='count_log_likelihood'"
        )
    named = "; ".join(
        f"fold {k}, whose {part} all have one proportion" for k, part in useless.items()
    )
    warnings.warn(f"left out of the selection: {named}", SkippedFoldWarning, stacklevel=3)
    return [fold for k, fold in enumerate(folds) if k not in useless]


class _BagSearch:
    """What the grid and the randomised search share, put before scikit-learn's class."""

    __metadata_request__fit = {"bags": True}  # noqa: RUF012

    cv: Any
    scoring: Any
    n_jobs: int | None
    best_estimator_: Any
    scorer_: Any

    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None, **params: Any) -> Any:
        """Run the search on rows X in `bags` with proportions y, and refit the best.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            The proportion of each row's bag.
        bags : array-like of shape (n_rows,)
            The bag of each row.
        **params
            Further metadata for the estimator.
        """
        if bags is None:
            raise ValueError(
                f"{type(self).__name__} needs bags=, the bag of each row; for data with labels use "
                "scikit-learn's search"
            )
        with self._label_free(X, y, bags):
            return super().fit(X, y, bags=bags, **params)  # type: ignore[misc]

    @contextmanager
    def _label_free(self, X: Any, y: ArrayLike, bags: Any) -> Iterator[None]:
        """Put folds of whole bags and a scorer in the parameters' place while fitting."""
        given = {"cv": self.cv, "scoring": self.scoring}
        names = [given["scoring"]] if isinstance(given["scoring"], str) else []
        spread = any(name in NEED_SPREAD for name in names)
        try:
            self.cv = usable_folds(given["cv"], X, y, bags, needs_spread=spread)
            self.scoring = BAG_SCORERS.get(names[0], names[0]) if names else given["scoring"]
            with sklearn.config_context(enable_metadata_routing=True):
                yield
        finally:
            for name, value in given.items():
                setattr(self, name, value)

    def _run_search(self, evaluate_candidates: Any) -> None:
        """Evaluate some candidates at a time, so that a bar can tell how far it is."""
        candidates = list(self._candidates())
        # Enough at a time to keep all workers busy.
        hand = 4 * effective_n_jobs(self.n_jobs)
        starts = range(0, len(candidates), hand)
        for start in track(starts, "searching", len(starts)):
            evaluate_candidates(candidates[start : start + hand])

    def _candidates(self) -> Any:
        raise NotImplementedError

    def score(self, X: Any, y: ArrayLike | None = None, *, bags: Any = None) -> float:
        """Return the search's criterion on bags, or without `bags` the accuracy on labels y."""
        check_is_fitted(self)
        if bags is None:
            return float(self.best_estimator_.score(X, y))
        with sklearn.config_context(enable_metadata_routing=True):
            return float(self.scorer_(self.best_estimator_, X, y, bags=bags))


class BagGridSearchCV(_BagSearch, GridSearchCV):
    """scikit-learn's GridSearchCV for bags: whole bags are held out, no label is needed.

    Parameters
    ----------
    estimator, param_grid, n_jobs, refit, verbose, pre_dispatch, error_score, return_train_score
        As in :class:`sklearn.model_selection.GridSearchCV`.
    scoring : str or scorer, default="corrected_accuracy"
        "corrected_accuracy", "corrected_risk", "proportion_risk", "count_log_likelihood", or any
        scorer that takes `bags`.
    cv : int or splitter, default=5
        An int is the number of folds of :class:`BagKFold`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import BagGridSearchCV, LabelProportionsClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(300) // 6
    >>> y = np.bincount(bags, labels)[bags] / 6
    >>> search = BagGridSearchCV(
    ...     LabelProportionsClassifier(random_state=0), {"reg_strength": [0.01, 0.1]}, cv=3
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
        verbose: int = 0,
        pre_dispatch: str = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
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
        verbose: int = 0,
        pre_dispatch: str = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_iter=n_iter,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _candidates(self) -> Any:
        return ParameterSampler(
            self.param_distributions, self.n_iter, random_state=self.random_state
        )
