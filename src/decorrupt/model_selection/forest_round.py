"""One EM round with a forest on top of a classifier for bags."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, validate_data

from decorrupt._typing import FloatArray
from decorrupt.estimators.inputs import read_strata
from decorrupt.estimators.score_classifier import FLOATS
from decorrupt.meta.classifier import AnyLearnerClassifier
from decorrupt.meta.em_rounds import SoftLearner, run_round
from decorrupt.meta.folds import bag_folds, seed
from decorrupt.meta.observed import ObservedLabels
from decorrupt.meta.soft_labels import soft_scores
from decorrupt.model_selection.out_of_fold import TrainingData, out_of_fold
from decorrupt.notices import Notice, emit_notices, train_quietly

N_TREES = 100
LEAST_ROWS_PER_LEAF = 3
# Trees of more rows take longer and are hardly better: each gets a sample.
MOST_ROWS_PER_TREE = 4096
BLEND = 0.5
# Probabilities of the start are clipped to this distance from 0 and 1.
SUREST = 1e-9


class ForestRoundClassifier(MetaEstimatorMixin, AnyLearnerClassifier):
    """½·(log-odds of the start) + ½·(log-odds of a forest fitted to its label posteriors).

    One round of EM, see :class:`EMClassifier`, from any classifier for bags: the posteriors are
    those at the start's held-out scores. The forest (extra trees) is calibrated on held-out bags.

    Parameters
    ----------
    start : estimator
        A classifier for bags with `predict_proba(X, class_prior=…)`; `fit` fits a clone.
    prior : float or ndarray of shape (n_classes,)
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
    classes_, score_prior_, decision_threshold_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`; `score_prior_` is `prior`.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}

    def __init__(
        self,
        start: Any,
        *,
        prior: Any = 0.5,
        cv: int = 5,
        decision: str = "balanced",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.start = start
        self.prior = prior
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
        emit_notices(self._train(X, y, bags=bags))
        return self

    def _train(self, X: Any, y: ArrayLike, *, bags: Any = None) -> list[Notice]:
        rows = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        classes, strata = read_strata(y, bags, rows_as_bags=True)
        random = check_random_state(self.random_state)
        folds = bag_folds(ObservedLabels(classes, strata, strata.observed), self.cv, random)
        data = TrainingData.in_bags(rows, strata, folds)
        held_out = out_of_fold(self.start, data, class_prior=self.prior, n_jobs=self.n_jobs)
        start = clone(self.start)
        notices = train_quietly(start, X, y, bags=bags)
        self.take_fitted(start, data, _scores(held_out.probabilities))
        return notices

    def take_fitted(self, start: Any, data: TrainingData, held_out: FloatArray) -> None:
        """Fit the forest on top of a fitted start whose held-out scores are known."""
        self.start_, self.classes_ = start, start.classes_
        self.n_features_in_ = data.X.shape[1]
        self._set_prior(self.prior)
        random = check_random_state(self.random_state)
        strata = data.strata
        observed = ObservedLabels(self.classes_, strata, strata.observed)
        forest = _forest(data.X.shape[0], self.n_jobs, seed(random))
        learner = SoftLearner(forest, len(self.classes_))
        found = run_round(
            learner,
            data.X,
            observed,
            held_out,
            held_out,
            folds=bag_folds(observed, self.cv, random),
            blend=BLEND,
            calibrate=True,
        )
        self.slope_, self.shift_ = found.slope, found.shift
        self.held_out_scores_ = found.scores
        self.forest_ = learner.fit(data.X, found.posterior)

    def _score(self, X: Any) -> FloatArray:
        # The start was fitted with the names of the columns, and the forest without.
        rows = check_array(X, accept_sparse="csr", dtype=FLOATS)
        forest = self.slope_ * soft_scores(self.forest_, rows, len(self.classes_)) + self.shift_
        start = self.start_.predict_proba(X, class_prior=self.prior)
        start = _scores(start if len(self.classes_) > 2 else start[:, 1])
        return np.asarray(BLEND * forest + (1 - BLEND) * start)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _scores(probabilities: FloatArray) -> FloatArray:
    """Return log-odds of P(Y=1|x), or log-probabilities of the columns."""
    inside = np.clip(probabilities, SUREST, 1 - SUREST)
    return np.asarray(logit(inside) if inside.ndim == 1 else np.log(inside))


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
