"""Base class of the automatic choices: the weighted mean of the best configurations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from decorrupt._typing import FloatArray
from decorrupt.estimators import LabelAccuracyMixin, check_choice, estimator
from decorrupt.exceptions import quiet, warn_again
from decorrupt.losses import balanced_scores
from decorrupt.model_selection.accuracy import (
    N_VIEWS,
    describe_evidence,
    estimate_accuracy,
    warn_of_evidence,
)
from decorrupt.model_selection.averaged import AveragedClassifier
from decorrupt.model_selection.averaging import (
    MOST_MEMBERS,
    heaviest,
    mixed_held_out,
    result_weights,
)
from decorrupt.model_selection.calibration import (
    CalibratedBagClassifier,
    fit_calibration,
    needs_calibration,
)
from decorrupt.model_selection.candidates import Candidate, has_path
from decorrupt.model_selection.evaluation import evaluate
from decorrupt.model_selection.folded_data import FoldedData, train_on
from decorrupt.model_selection.folds import DEFAULT_FOLDS
from decorrupt.model_selection.grids import check_lists
from decorrupt.model_selection.halving import evaluate_by_halving
from decorrupt.model_selection.leaderboard import Leaderboard
from decorrupt.model_selection.results import Result, is_missing
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.progress import progress, track

ENSEMBLES = ("average", "best")


def _has_probabilities(search: Any) -> bool:
    model = getattr(search, "best_estimator_", None)
    return model is None or bool(model.predict_proba)


@estimator
class AveragingSearch(MetaEstimatorMixin, LabelAccuracyMixin, BaseEstimator):
    """A search whose `best_estimator_` is the average of its best configurations, or one of them.

    Subclasses read the data, decide on the candidates, set `class_prior_` and call `_search`.

    Parameters
    ----------
    reg_strengths : sequence of float or None, default=None
        λ to try; None: 0.1 to 1e-6 in powers of ten, multiplied by the mean of k(x,x), which is 1
        for most kernels and the mean of ‖x‖² for the linear one. With 10,000 rows or more, all are
        divided by 10, with 100,000 or more by 100, and so on.
    kernel_gammas : sequence of float, "scale" or "auto", or None, default=None
        Kernel parameters to try; None: 0.03, 0.3 and 1 times "scale", on principal components 0.3.
        A :class:`decorrupt.Kernel` with a `gamma` is tried with this value only.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    n_jobs : int or None, default=None
        Number of fits in parallel; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Set on every candidate with this parameter; also the seed of folds, weights and samples.
    ensemble : {"average", "best"}, default="average"
        The average, or the one configuration with the best score: one model, which predicts faster,
        but with little data the choice is unstable.

    Attributes
    ----------
    best_estimator_ : AveragedClassifier, or the only member
        The final model.
    estimators_, weights_ : list of estimators, ndarray
        The averaged configurations, refitted on all rows, and their weights, the largest first.
    best_method_, best_params_ : str, dict
        Method and parameters of the configuration with the largest weight.
    accuracy_ : AccuracyEstimate
        The balanced accuracy to expect, from :func:`estimate_accuracy`; `accuracy_.evidence` is
        "strong", "moderate", "weak" or "none".
    held_out_scores_ : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The score of every row when it was held out: log-odds, or log-probabilities, at
        `class_prior_`; NaN for rows never held out.
    n_configurations_ : int
        Number of configurations: methods with a kernel and its parameters, all λ together.
    """

    candidates: Sequence[Any] | None = None
    cv: Any = DEFAULT_FOLDS
    reg_strengths: Sequence[float] | None = None
    kernels: Sequence[Any] | None = None
    kernel_gammas: Sequence[float | str] | None = None
    decision: str = "balanced"
    n_jobs: int | None = None
    random_state: Any = None
    ensemble: str = "average"

    class_prior_: FloatArray = field(init=False)
    default_kernels: ClassVar[tuple[str, ...]]

    def _check_search(self) -> None:
        """Raise ValueError if a parameter of all searches is invalid."""
        check_lists(
            candidates=self.candidates,
            kernels=self.kernels,
            kernel_gammas=self.kernel_gammas,
            reg_strengths=self.reg_strengths,
        )
        check_choice("ensemble", self.ensemble, ENSEMBLES)

    def _search(
        self,
        X: Any,
        data: FoldedData,
        candidates: Sequence[Candidate],
        scorer: BagScorer,
        *,
        baselines: list[dict[str, Any]],
        notes: Sequence[str] = (),
    ) -> None:
        """Compare all configurations, fit the model, and set the attributes of a search.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            The rows as the user gave them.
        data : FoldedData
            The validated rows.
        candidates : sequence of Candidate
            The methods to compare, with the search's parameters set.
        scorer : BagScorer
            The criterion.
        baselines, notes
            What the leaderboard shows besides the methods.
        """
        estimators = {candidate.name: candidate.estimator for candidate in candidates}
        with progress() as bar:
            with bar.expecting(MOST_MEMBERS + N_VIEWS):
                results = self._compare(data, candidates, scorer)
            weights, members = self._choose(results)
            self._judge(members, data, scorer)
            self.leaderboard_ = Leaderboard.of(
                results, weights, members, baselines=baselines, notes=list(notes)
            )
            models = [self._member(estimators[one.method], one, data) for one in members]
            with bar.expecting(N_VIEWS):
                self.best_estimator_ = self._fit_model(models, X, data)
            self.accuracy_ = estimate_accuracy(
                self.best_estimator_, X, data.observed, random_state=self.random_state
            )
        self.leaderboard_.notes.append(describe_evidence(self.accuracy_))
        warn_of_evidence(self.accuracy_)

    def _compare(
        self, data: FoldedData, candidates: Sequence[Candidate], scorer: BagScorer
    ) -> list[Result]:
        """Return the results on all bags; set the number of configurations."""
        kernels = self.default_kernels if self.kernels is None else self.kernels
        grids = (kernels, self.kernel_gammas, self.reg_strengths)
        tried = [
            configuration
            for candidate in candidates
            for configuration in candidate.configurations(data.X, *grids, data.observed.weights)
        ]
        self.n_configurations_ = len(tried)
        compare = partial(evaluate, scorer=scorer, n_jobs=self.n_jobs, calibrate=True)
        return evaluate_by_halving(tried, data, compare, self.random_state)

    def _choose(self, results: Sequence[Result]) -> tuple[FloatArray, list[Result]]:
        """Return the weights of all results, and the members of the model; set their attributes."""
        weights = self._weights(results)
        places = heaviest(weights)
        members = [results[place] for place in places]
        self.weights_ = weights[places] / weights[places].sum()
        self.best_method_, self.best_params_ = members[0].method, members[0].params
        return weights, members

    def _weights(self, results: Sequence[Result]) -> FloatArray:
        if self.ensemble == "average":
            return result_weights(results, self.random_state)
        best = max(range(len(results)), key=lambda place: results[place].score)
        return np.asarray(np.arange(len(results)) == best, dtype=float)

    def _judge(self, members: Sequence[Result], data: FoldedData, scorer: Any) -> None:
        """Set the held-out scores of the members' mixture, and its gain over the constant."""
        self.held_out_gain_ = np.nan
        self.held_out_scores_: Any = None
        if not scorer.takes_scores:
            return
        self.held_out_scores_ = mixed_held_out(members, self.weights_, self.class_prior_)
        rows = np.flatnonzero(~is_missing(self.held_out_scores_))
        tested = data.observed.take(rows)
        balanced = balanced_scores(self.held_out_scores_[rows], self.class_prior_)
        nothing = np.zeros(balanced.shape)
        self.held_out_gain_ = float(
            (scorer.by_bag(balanced, tested) - scorer.by_bag(nothing, tested)) @ tested.sizes
        )

    def _member(self, estimator: Any, result: Result, data: FoldedData) -> Any:
        """Return the estimator of a result, not yet fitted; its scores are log-odds."""
        model = clone(estimator).set_params(**result.params)
        if not needs_calibration(model, by_counts=result.by_bag is not None):
            return model
        seen = np.flatnonzero(~is_missing(result.decisions))
        slope, shift = fit_calibration(result.decisions[seen], data.observed.take(seen))
        return CalibratedBagClassifier(
            model,
            slope=slope,
            shift=shift,
            class_prior=self.class_prior_,
            decision=self.decision,
        )

    def _fit_model(self, models: list[Any], X: Any, data: FoldedData) -> Any:
        """Return the average of the members, or the only one, fitted on all rows."""
        # BLAS has one thread as in the search, see `evaluate`.
        with threadpool_limits(1, user_api="blas"):
            if len(models) > 1:
                model: Any = AveragedClassifier(models, self.weights_, **self._mixing())
                model.fit_observed(X, data.observed, maps=data.maps)
            else:
                (model,) = models
                features = data.maps.get(model.feature_key()) if has_path(model) else None
                fits = (train_on(one, X, data.observed, features=features) for one in models)
                with quiet() as recorded:  # the search has checked the assumptions
                    for _ in track(fits, "fitting the model", 1):
                        pass
                warn_again(recorded, Warning)
        self.estimators_ = list(getattr(model, "estimators_", [model]))
        return model

    def _mixing(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "n_jobs": self.n_jobs,
            "class_prior": self.class_prior_,
        }

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
            each class. Default: `class_prior_`.
        """
        check_is_fitted(self)
        prior = getattr(self, "class_prior_", None) if class_prior is None else class_prior
        return np.asarray(self.best_estimator_.predict_proba(X, class_prior=prior))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
