"""The classifier a newcomer should use: it tries the methods and keeps what held-out bags like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.inputs import read_strata
from decorrupt.estimators.score_classifier import FLOATS
from decorrupt.model_selection.calibration import CalibratedBagClassifier, fit_calibration
from decorrupt.model_selection.candidates import Candidate, resolve_candidates
from decorrupt.model_selection.held_out import HeldOut, Trial, evaluate_grid, evaluate_paths
from decorrupt.model_selection.leaderboard import Entry, Leaderboard, choose
from decorrupt.model_selection.path_cv import DelegatingClassifier
from decorrupt.model_selection.path_search import (
    check_lists,
    resolve_kernel_gammas,
)
from decorrupt.model_selection.scorers import get_bag_scorer, pooled_prior
from decorrupt.model_selection.search import DEFAULT_FOLDS, usable_folds
from decorrupt.notices import Notice, train_quietly
from decorrupt.progress import track

DEFAULT_KERNELS = ("linear", "rbf")


class AutoLabelProportionsClassifier(DelegatingClassifier):
    """Fit every candidate method, choose by held-out bags, refit the winner on all rows.

    No label is seen: methods, λ and kernel parameter are compared by what they say about bags left
    out of their training. Kernel factors are shared between methods, folds and λ.

    Parameters
    ----------
    candidates : {"fast", "thorough"} or list, default="fast"
        "fast": mean map, corrected loss and count likelihood. "thorough": also set
        classification, proportion matching, InvCal and alternating ∝SVM. Or a list of names,
        estimators, (name, estimator) and (name, estimator, grid).
    cv : int or splitter, default=5
        An int is the number of folds of :class:`BagKFold`, fewer if there are fewer bags.
    scoring : str or BagScorer, default="count_log_likelihood"
        The criterion: "count_log_likelihood", "corrected_accuracy", "corrected_risk" or
        "proportion_risk", of the predictions for all held-out rows together.
    reg_strengths : sequence of float or None
        λ to try; None: 0.1 to 1e-6 in powers of ten, multiplied by the mean of k(x,x), which is 1
        for "rbf" and the mean of ‖x‖² for the linear kernel.
    kernels : sequence of str or callable, default=("linear", "rbf")
        Kernels to try in every method of a preset or given by name; estimators of one's own keep
        theirs.
    kernel_gammas : sequence of float, "scale" or "auto", or None
        Kernel parameters to try; None: 0.03, 0.3 and 1 times "scale".
    decision : {"balanced", "accuracy"}, default="balanced"
        What `predict` is best at: the balanced error, or the error in the training mixture.
    n_jobs : int or None
        Fits at a time.
    random_state : int, RandomState or None
        Handed to every candidate that has one.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen method, refitted on all rows; with probabilities calibrated on held-out bag
        counts where its own scores are not log-odds.
    best_method_, best_params_ : str, dict
        What was chosen.
    training_prior_ : float
        The share of positives among the training rows.
    leaderboard_ : Leaderboard
        Method, parameters, score ± standard error and time, the best first; ``print`` it.
    classes_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Notes
    -----
    The choice: each method is taken at its best parameters. Those whose score falls short of the
    best by less than one standard error of the difference count as tied with it, and of the tied
    the most stable wins: the one earliest in the list of candidates, whose presets begin with
    convex objectives and end with those that depend on their start.

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
        candidates = [self._prepared(c) for c in resolve_candidates(self.candidates)]
        rows = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        check_consistent_length(rows, y)
        self.classes_, strata = read_strata(y, bags, rows_as_bags=True)
        folds, notices = usable_folds(
            _at_most(self.cv, len(strata.ids)),
            rows,
            strata.row_proportions,
            strata.row_stratum,
            needs_spread=scorer.needs_spread,
        )
        self.training_prior_ = pooled_prior(strata.row_proportions)
        held_out = self._evaluate(candidates, rows, strata, folds)
        entries = [Entry.of(one, strata, scorer) for one in held_out]
        self.leaderboard_ = Leaderboard.of(entries, [c.name for c in candidates])
        winner = choose(entries, [c.name for c in candidates])
        self.best_method_, self.best_params_ = winner.method, winner.params
        by_name = {candidate.name: candidate for candidate in candidates}
        self.best_estimator_ = self._to_refit(by_name[winner.method], winner.held_out, strata)
        return notices + train_quietly(self.best_estimator_, X, y, bags=bags)

    def _prepared(self, candidate: Candidate) -> Candidate:
        estimator = clone(candidate.estimator)
        params = estimator.get_params(deep=False)
        shared = {"random_state": self.random_state, "decision": self.decision}
        estimator.set_params(**{name: shared[name] for name in shared if name in params})
        return replace(candidate, estimator=estimator)

    def _evaluate(
        self, candidates: list[Candidate], X: Any, strata: Strata, folds: Any
    ) -> list[HeldOut]:
        gammas = resolve_kernel_gammas(self.kernel_gammas, X)
        groups: dict[str, list[Trial]] = {}
        for candidate in candidates:
            for setting in candidate.kernel_settings(self.kernels, gammas):
                trial = Trial(candidate, setting)
                groups.setdefault(trial.needs, []).append(trial)
        found: list[HeldOut] = []
        for trials in track(groups.values(), "trying methods", len(groups)):
            if trials[0].candidate.has_path:
                found += evaluate_paths(trials, X, strata, folds, self.reg_strengths, self.n_jobs)
            else:
                found += evaluate_grid(trials[0], X, strata, folds, self.n_jobs)
        return found

    def _to_refit(self, candidate: Candidate, held_out: HeldOut, strata: Strata) -> Any:
        """Return the chosen model to be fitted, calibrated where its scores are not log-odds."""
        model = candidate.estimator.set_params(**held_out.params)
        if candidate.has_path:
            return model
        seen = np.flatnonzero(~np.isnan(held_out.decisions))
        slope, shift = fit_calibration(held_out.decisions[seen], strata.take(seen))
        return CalibratedBagClassifier(
            model, slope=slope, shift=shift, prior=self.training_prior_, decision=self.decision
        )

    def predict_proba(self, X: Any, class_prior: float | None = None) -> FloatArray:
        """Return P(Y | x) for a population with a stated share of positives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows to score.
        class_prior : float in (0, 1), optional
            The share of positives in the population the rows come from; by default that of the
            training rows.
        """
        check_is_fitted(self)
        prior = self.training_prior_ if class_prior is None else class_prior
        return np.asarray(self.best_estimator_.predict_proba(X, class_prior=prior))


def _at_most(cv: Any, n_bags: int) -> Any:
    """Return an int `cv` no greater than the number of bags; a splitter as it is."""
    return min(cv, max(n_bags, 2)) if isinstance(cv, int | np.integer) else cv
