"""Automatic choice of the method for bags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from decorrupt.model_selection.calibration import CalibratedBagClassifier, fit_calibration
from decorrupt.model_selection.candidates import Candidate, has_path, resolve_candidates
from decorrupt.model_selection.delegating import BagSearchClassifier
from decorrupt.model_selection.evaluation import evaluate
from decorrupt.model_selection.folds import DEFAULT_FOLDS
from decorrupt.model_selection.grids import check_lists, resolve_kernel_gammas
from decorrupt.model_selection.leaderboard import Leaderboard, choose
from decorrupt.model_selection.out_of_fold import TrainingData
from decorrupt.model_selection.results import Result
from decorrupt.model_selection.scorers import get_bag_scorer, pooled_prior
from decorrupt.notices import Notice

DEFAULT_KERNELS = ("linear", "rbf")


class AutoLabelProportionsClassifier(BagSearchClassifier):
    """Compare the candidate methods on held-out bags and refit the best on all rows.

    No labels are used: methods, λ and kernel parameters are compared by their predictions for
    held-out bags. Methods, folds and λ share the kernel factors.

    Parameters
    ----------
    candidates : {"fast", "thorough"} or list, default="fast"
        "fast": mean map, corrected loss and count likelihood. "thorough": also set
        classification, proportion matching, InvCal and alternating ∝SVM. Or a list of method
        names, estimators, (name, estimator) pairs and (name, estimator, grid) triples.
    cv : int or splitter, default=5
        An int is the number of folds of :class:`BagKFold`, fewer if there are fewer bags.
    scoring : str or BagScorer, default="count_log_likelihood"
        The criterion: "count_log_likelihood", "corrected_accuracy", "corrected_risk" or
        "proportion_risk". It is computed from the predictions for all held-out rows together.
    reg_strengths : sequence of float or None
        λ to try; None: 0.1 to 1e-6 in powers of ten, multiplied by the mean of k(x,x), which is 1
        for "rbf" and the mean of ‖x‖² for the linear kernel.
    kernels : sequence of str or callable, default=("linear", "rbf")
        Kernels to try in every method of a preset or given by name; your own estimators keep their
        kernel.
    kernel_gammas : sequence of float, "scale" or "auto", or None
        Kernel parameters to try; None: 0.03, 0.3 and 1 times "scale".
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    n_jobs : int or None
        Number of fits in parallel.
    random_state : int, RandomState or None
        Set on every candidate with this parameter.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen method, refitted on all rows. If its scores are not log-odds, its probabilities
        are calibrated on the counts of held-out bags.
    best_method_, best_params_ : str, dict
        The chosen method and its parameters.
    training_prior_ : float
        The share of positives among the training rows.
    leaderboard_ : Leaderboard
        Method, parameters, score ± standard error and time, the best first. ``print`` it, iterate
        over its rows, or convert it with ``to_frame()``.
    classes_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Notes
    -----
    Each method is compared at its best parameters. Methods whose score is within one standard
    error of the difference from the best are tied with it. Of the tied methods the first in the
    list of candidates is chosen. The presets are sorted by stability: convex objectives come
    first, methods that depend on their start last.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import AutoLabelProportionsClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 320)
    >>> X = rng.normal(size=(320, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(320) // 8
    >>> y = np.bincount(bags, labels)[bags] / 8
    >>> model = AutoLabelProportionsClassifier(random_state=0).fit(X, y, bags=bags)
    >>> bool(model.score(X, labels) > 0.88)
    True
    """

    def __init__(
        self,
        *,
        candidates: str | Sequence[Any] = "fast",
        cv: Any = DEFAULT_FOLDS,
        scoring: Any = "count_log_likelihood",
        reg_strengths: Sequence[float] | None = None,
        kernels: Sequence[str] = DEFAULT_KERNELS,
        kernel_gammas: Sequence[float | str] | None = None,
        decision: str = "balanced",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.candidates = candidates
        self.cv = cv
        self.scoring = scoring
        self.reg_strengths = reg_strengths
        self.kernels = kernels
        self.kernel_gammas = kernel_gammas
        self.decision = decision
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _train(self, X: Any, y: ArrayLike, *, bags: Any = None) -> list[Notice]:
        scorer = get_bag_scorer(self.scoring)
        check_lists(
            kernels=self.kernels,
            kernel_gammas=self.kernel_gammas,
            reg_strengths=self.reg_strengths,
        )
        candidates = {c.name: self._prepared(c) for c in resolve_candidates(self.candidates)}
        data, notices = self._read(X, y, bags, scorer)
        self.training_prior_ = pooled_prior(data.y)
        gammas = resolve_kernel_gammas(self.kernel_gammas, data.X)
        tried = [
            one
            for candidate in candidates.values()
            for one in candidate.configurations(data.X, self.kernels, gammas, self.reg_strengths)
        ]
        found = evaluate(tried, data, scorer, n_jobs=self.n_jobs, calibrate=True)
        winner = choose(found.results, list(candidates))
        self.leaderboard_ = Leaderboard.of(found.results, winner)
        self.best_method_, self.best_params_ = winner.method, winner.params
        model = candidates[winner.method].estimator.set_params(**winner.params)
        self.best_estimator_ = model if has_path(model) else self._calibrated(model, winner, data)
        return notices + self._refit(X, y, bags, found)

    def _prepared(self, candidate: Candidate) -> Candidate:
        estimator = clone(candidate.estimator)
        params = estimator.get_params(deep=False)
        shared = {"random_state": self.random_state, "decision": self.decision}
        estimator.set_params(**{name: shared[name] for name in shared if name in params})
        return replace(candidate, estimator=estimator)

    def _calibrated(
        self, model: Any, winner: Result, data: TrainingData
    ) -> CalibratedBagClassifier:
        """Return the chosen model, not yet fitted, with calibration of its scores to log-odds."""
        seen = np.flatnonzero(~np.isnan(winner.decisions))
        slope, shift = fit_calibration(winner.decisions[seen], data.strata.take(seen))
        return CalibratedBagClassifier(
            model, slope=slope, shift=shift, prior=self.training_prior_, decision=self.decision
        )

    def _cv(self, n_bags: int) -> Any:
        """Return `cv`; an int is limited to the number of bags."""
        is_number = isinstance(self.cv, int | np.integer)
        return min(self.cv, max(n_bags, 2)) if is_number else self.cv

    @property
    def score_prior_(self) -> float:
        """The share of positives that `predict_proba` assumes by default."""
        return self.training_prior_
