"""Base class of the automatic choices: the weighted mean of the best configurations."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from decorrupt._typing import FloatArray
from decorrupt.estimators import check_choice, check_positive
from decorrupt.exceptions import TimeBudgetWarning
from decorrupt.losses import balanced_scores
from decorrupt.model_selection.accuracy import N_VIEWS, estimate_observed_accuracy
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
from decorrupt.model_selection.delegating import DelegatingClassifier
from decorrupt.model_selection.evaluation import evaluate
from decorrupt.model_selection.evidence import describe_evidence, evidence_notices
from decorrupt.model_selection.fold_models import FoldFits, FoldModel
from decorrupt.model_selection.folded_data import FoldedData, train_on
from decorrupt.model_selection.grids import check_lists
from decorrupt.model_selection.halving import evaluate_by_halving
from decorrupt.model_selection.leaderboard import Leaderboard
from decorrupt.model_selection.results import Result, is_missing
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.notices import Notice
from decorrupt.progress import progress, track

ENSEMBLES = ("average", "best")
# Of a time budget; the rest is for the refits.
COMPARISON_SHARE = 0.6
# A refit takes longer than a fold of the search: all rows, all features, double precision, and λ
# are not warm-started.
REFIT_COST = 5.0


# Not saved in model files: it contains what was known about every training row.
FOLD_FITS = "_fold_fits"


class AveragingSearch(DelegatingClassifier):
    """A search whose `best_estimator_` is the average of its best configurations, or one of them.

    Subclasses have the parameters `kernels`, `kernel_gammas`, `reg_strengths`, `decision`,
    `ensemble`, `time_budget`, `n_jobs` and `random_state`. They read the data, decide on the
    candidates, set `class_prior_` and call `_search`.
    """

    class_prior_: FloatArray

    def _check_search(self) -> None:
        """Raise ValueError if a parameter of all searches is invalid."""
        check_lists(
            kernels=self.kernels,
            kernel_gammas=self.kernel_gammas,
            reg_strengths=self.reg_strengths,
        )
        check_choice("ensemble", self.ensemble, ENSEMBLES)
        if self.time_budget is not None:
            check_positive("time_budget", self.time_budget)

    def _search(
        self,
        X: Any,
        data: FoldedData,
        candidates: Sequence[Candidate],
        scorer: BagScorer,
        *,
        began: float,
        baselines: list[dict[str, Any]],
        notes: Sequence[str] = (),
    ) -> list[Notice]:
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
        began : float
            When the fit began, for the time budget.
        baselines, notes
            What the leaderboard shows besides the methods.
        """
        deadline = began + (self.time_budget or np.inf)
        estimators = {candidate.name: candidate.estimator for candidate in candidates}
        with progress() as bar:
            with bar.expecting(MOST_MEMBERS + N_VIEWS):
                results = self._compare(data, candidates, scorer, began)
            weights, members = self._choose(results, deadline)
            notices = self._budget_notices()
            self._judge(members, data, scorer)
            self.leaderboard_ = Leaderboard.of(
                results,
                weights,
                members,
                baselines=baselines,
                notes=[*notes, *self._budget_notes()],
            )
            models = [self._member(estimators[one.method], one, data) for one in members]
            with bar.expecting(N_VIEWS):
                self.best_estimator_, own = self._fit_model(models, X, data)
            fits = [one.path_fits for one in members]
            self._fold_fits = FoldFits(self.best_estimator_, fits, data.observed, data.folds)
            self.accuracy_ = estimate_observed_accuracy(
                self.best_estimator_, X, data.observed, random_state=self.random_state
            )
        self.leaderboard_.notes.append(describe_evidence(self.accuracy_))
        return notices + own + evidence_notices(self.accuracy_)

    def fold_models(self, X: Any) -> list[FoldModel]:
        """Return the model of every fold of the comparison, and the rows that it has not seen.

        A model of a fold is the average of the same configurations as the final model. They are
        for :func:`bag_permutation_importance`. They are not saved in model files.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The training rows.

        Raises
        ------
        ValueError
            If the search was not fitted in this process.
        """
        if FOLD_FITS not in vars(self):
            raise ValueError("models of folds are not saved in files: fit the search again")
        return self._fold_fits.models(X, class_prior=self.class_prior_, n_jobs=self.n_jobs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != FOLD_FITS}

    def _compare(
        self, data: FoldedData, candidates: Sequence[Candidate], scorer: BagScorer, began: float
    ) -> list[Result]:
        """Return the results on all bags; set the numbers of configurations."""
        grids = (self.kernels, self.kernel_gammas, self.reg_strengths)
        n_classes = data.observed.n_classes
        tried = [
            configuration
            for candidate in candidates
            for configuration in candidate.configurations(
                data.X, *grids, n_classes, data.observed.weights
            )
        ]
        compare = partial(
            evaluate,
            scorer=scorer,
            n_jobs=self.n_jobs,
            calibrate=True,
            deadline=began + COMPARISON_SHARE * (self.time_budget or np.inf),
        )
        found = evaluate_by_halving(tried, data, compare, self.random_state)
        self.n_configurations_, self.n_compared_ = len(tried), len(found.compared)
        return found.results

    def _budget_notes(self) -> list[str]:
        if self.n_compared_ == self.n_configurations_:
            return []
        return [
            f"{self.n_compared_} of {self.n_configurations_} configurations were compared within "
            f"time_budget={self.time_budget:g} seconds"
        ]

    def _budget_notices(self) -> list[Notice]:
        if 2 * self.n_compared_ >= self.n_configurations_:
            return []
        (note,) = self._budget_notes()
        advice = "another may be better: raise time_budget, or list fewer kernels or candidates"
        return [Notice(TimeBudgetWarning, f"only {note}; {advice}")]

    def _choose(
        self, results: Sequence[Result], deadline: float
    ) -> tuple[FloatArray, list[Result]]:
        """Return the weights of all results, and the members of the model; set their attributes."""
        weights = self._weights(results)
        places = self._affordable(heaviest(weights), results, deadline)
        members = [results[place] for place in places]
        self.weights_ = weights[places] / weights[places].sum()
        self.best_method_, self.best_params_ = members[0].method, members[0].params
        return weights, members

    def _weights(self, results: Sequence[Result]) -> FloatArray:
        if self.ensemble == "average":
            return result_weights(results, self.random_state)
        best = max(range(len(results)), key=lambda place: results[place].score)
        return np.asarray(np.arange(len(results)) == best, dtype=float)

    @staticmethod
    def _affordable(
        places: NDArray[np.intp], results: Sequence[Result], deadline: float
    ) -> NDArray[np.intp]:
        """Return as many of the places as can probably be refitted in time, at least one."""
        seconds = [REFIT_COST * results[place].fold_seconds.mean() for place in places]
        in_time = time.monotonic() + np.cumsum(seconds) < deadline
        return places[: max(1, int(in_time.sum()))]

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

    def _fit_model(self, models: list[Any], X: Any, data: FoldedData) -> tuple[Any, list[Notice]]:
        """Return the average of the members, or the only one, fitted on all rows."""
        # BLAS has one thread as in the search, see `evaluate`.
        with threadpool_limits(1, user_api="blas"):
            if len(models) > 1:
                model: Any = AveragedClassifier(models, self.weights_, **self._mixing())
                notices = model.train_observed(X, data.observed, maps=data.maps)
            else:
                (model,) = models
                features = data.maps.get(model.feature_key()) if has_path(model) else None
                fits = (train_on(one, X, data.observed, features=features) for one in models)
                (notices,) = track(fits, "fitting the model", 1)
        self.estimators_ = list(getattr(model, "estimators_", [model]))
        return model, notices

    def _mixing(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "n_jobs": self.n_jobs,
            "class_prior": self.class_prior_,
        }
