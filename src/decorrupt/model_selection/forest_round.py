"""One EM round with a forest on top of a classifier for bags."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from decorrupt._typing import FloatArray
from decorrupt.estimators import FLOATS, ScoreClassifier, validated_rows
from decorrupt.losses import scores_of_probabilities
from decorrupt.meta import SoftLearner, bag_folds, run_round, seed, soft_scores
from decorrupt.model_selection.folded_data import FoldedData, train_on
from decorrupt.model_selection.out_of_fold import out_of_fold
from decorrupt.notices import Notice, emit_notices
from decorrupt.observed import Observed, read_observed, resolve_class_prior
from decorrupt.progress import progress, track
from decorrupt.risks import LabelLikelihood

N_FOLDS = 5
N_TREES = 100
LEAST_ROWS_PER_LEAF = 3
# Trees of more rows take longer and are hardly better: each gets a sample.
MOST_ROWS_PER_TREE = 4096
BLEND = 0.5
# Probabilities of the start are clipped to this distance from 0 and 1.
SUREST = 1e-9


class ForestRoundClassifier(MetaEstimatorMixin, ScoreClassifier):
    """½·(log-odds of the start) + ½·(log-odds of a forest fitted to its label posteriors).

    One round of EM, see :class:`EMClassifier`, from any classifier for bags: the posteriors are
    those at the start's held-out scores. The forest (extra trees) is calibrated on held-out bags.

    Parameters
    ----------
    start : estimator
        A classifier for bags with `predict_proba(X, class_prior=…)`; `fit` fits a clone.
    class_prior : float or ndarray of shape (n_classes,)
        The share of positives, or the class shares, among the training rows.
    cv : int, default=5
        Number of folds of whole bags.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in that population.
    n_jobs : int or None
        Fits in parallel.
    random_state : int, RandomState or None
        Seed of folds and forest.

    Attributes
    ----------
    start_, forest_ : estimators
        The fitted start, and the forest fitted to the posteriors of all rows.
    slope_, shift_ : float, float or ndarray of shape (n_classes,)
        The calibration of the forest's log-odds.
    held_out_scores_ : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The scores of every training row when it was held out.
    classes_, class_prior_, decision_threshold_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}

    def __init__(
        self,
        start: Any,
        *,
        class_prior: Any = 0.5,
        cv: int = N_FOLDS,
        decision: str = "balanced",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.start = start
        self.class_prior = class_prior
        self.cv = cv
        self.decision = decision
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, *, bags: Any = None) -> Self:
        """Fit the start on folds and on all rows, then the forest.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,) or (n_rows, n_classes)
            The proportion of each row's bag, or its class shares; without `bags`, class labels.
        bags : array-like of shape (n_rows,), optional
            The bag of each row.
        """
        emit_notices(self.train(X, y, bags=bags))
        return self

    def train(self, X: Any, y: ArrayLike, **fit_params: Any) -> list[Notice]:
        """Fit as `fit` does, and return the warnings instead of emitting them."""
        return self.train_observed(X, read_observed(y, **fit_params))

    def train_observed(self, X: Any, observed: Observed) -> list[Notice]:
        """Fit rows of which it is known what is observed, and return the warnings as notices."""
        rows = validated_rows(self, X)
        folds = bag_folds(observed, self.cv, check_random_state(self.random_state))
        data = FoldedData(rows, observed, folds)
        held_out = out_of_fold(self.start, data, class_prior=self.class_prior, n_jobs=self.n_jobs)
        start = clone(self.start)
        notices = train_on(start, X, observed)
        self.take_fitted(start, data, scores_of_probabilities(held_out.probabilities, SUREST))
        return notices

    def take_fitted(self, start: Any, data: FoldedData, held_out: FloatArray) -> None:
        """Fit the forest on top of a fitted start whose held-out scores are known."""
        self.start_, self.classes_ = start, start.classes_
        self.n_features_in_ = data.X.shape[1]
        observed = data.observed
        self.set_class_prior(resolve_class_prior(self.class_prior, observed.inner_prior))
        random = check_random_state(self.random_state)
        learner = SoftLearner(
            _forest(data.X.shape[0], self.n_jobs, seed(random)), observed.n_classes
        )
        with progress() as bar:
            with bar.expecting(1):
                found = run_round(
                    learner,
                    data.X,
                    LabelLikelihood(observed),
                    held_out,
                    held_out,
                    folds=bag_folds(observed, self.cv, random),
                    blend=BLEND,
                    calibrate=True,
                )
            for posterior in track([found.posterior], "fitting the forest", 1):
                self.forest_ = learner.fit(data.X, posterior)
        self.slope_, self.shift_ = found.slope, found.shift
        self.held_out_scores_ = found.scores

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        validated_rows(self, X, reset=reset)
        return X  # the start was fitted with the names of the columns

    def _score(self, X: Any) -> FloatArray:
        rows = check_array(X, accept_sparse="csr", dtype=FLOATS)
        forest = self.slope_ * soft_scores(self.forest_, rows, len(self.classes_)) + self.shift_
        start = self.start_.predict_proba(X, class_prior=self.class_prior_)
        return np.asarray(BLEND * forest + (1 - BLEND) * scores_of_probabilities(start, SUREST))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _forest(n_rows: int, n_jobs: int | None, random_state: int) -> ExtraTreesRegressor:
    return ExtraTreesRegressor(
        N_TREES,
        min_samples_leaf=LEAST_ROWS_PER_LEAF,
        max_features=1 / 3,
        bootstrap=True,
        max_samples=min(1.0, MOST_ROWS_PER_TREE / n_rows),
        n_jobs=n_jobs,
        random_state=random_state,
    )
