"""Base class of the automatic choices: the weighted mean of the best configurations."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.parameters import check_choice, check_positive
from decorrupt.estimators.priors import log_prior
from decorrupt.model_selection.averaged import AveragedClassifier
from decorrupt.model_selection.averaging import heaviest, mixed_held_out, result_weights
from decorrupt.model_selection.delegating import DelegatingClassifier
from decorrupt.model_selection.evidence import BAG_EVIDENCE, Evidence
from decorrupt.model_selection.results import Result, is_missing
from decorrupt.notices import Notice, train_quietly

ENSEMBLES = ("average", "best")
# Of a time budget; the rest is for the refits.
COMPARISON_SHARE = 0.6
# A refit takes longer than a fold of the search: all rows, all features, double precision, and λ
# are not warm-started.
REFIT_COST = 5.0


class AveragingSearch(DelegatingClassifier):
    """A search whose `best_estimator_` is the average of its best configurations, or one of them.

    Subclasses have the parameters `decision`, `ensemble`, `time_budget`, `n_jobs` and
    `random_state`, and set `training_prior_`.
    """

    _evidence: ClassVar[Evidence] = BAG_EVIDENCE

    def _check_ensemble(self) -> None:
        check_choice("ensemble", self.ensemble, ENSEMBLES)
        if self.time_budget is not None:
            check_positive("time_budget", self.time_budget)

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

    def _judge(self, members: Sequence[Result], strata: Strata, scorer: Any) -> list[Notice]:
        """Set the held-out scores of the members' mixture, and its gain over the constant."""
        self.gain_in_nats_ = np.nan
        self.held_out_scores_: Any = None
        if not scorer.takes_log_odds:
            return []
        self.held_out_scores_ = mixed_held_out(members, self.weights_, self.training_prior_)
        rows = np.flatnonzero(~is_missing(self.held_out_scores_))
        tested = strata.take(rows)
        balanced = self.held_out_scores_[rows] - log_prior(self.training_prior_)
        nothing = np.zeros(balanced.shape)
        self.gain_in_nats_ = float(
            (scorer.by_bag(balanced, tested) - scorer.by_bag(nothing, tested)) @ tested.sizes
        )
        return self._evidence.notices(self.gain_in_nats_)

    def _fit_model(
        self, models: list[Any], X: Any, y: ArrayLike, **fit_params: Any
    ) -> tuple[Any, list[Notice]]:
        """Return the average of the members, or the only one, fitted on all rows."""
        model: Any = models[0]
        if len(models) > 1:
            model = AveragedClassifier(models, self.weights_, **self._mixing())
        with threadpool_limits(1, user_api="blas"):  # as in the search, see `evaluate`
            notices = train_quietly(model, X, y, **fit_params)
        self.estimators_ = list(getattr(model, "estimators_", [model]))
        return model, notices

    def _mixing(self) -> dict[str, Any]:
        return {"decision": self.decision, "n_jobs": self.n_jobs, "prior": self.training_prior_}

    @property
    def score_prior_(self) -> Any:
        """The share of positives, or the class shares, that `predict_proba` assumes by default."""
        return self.training_prior_
