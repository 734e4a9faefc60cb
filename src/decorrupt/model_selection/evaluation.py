"""Cross-validation of all searches: fit on all folds, pool the held-out predictions, score them.

Configurations with a λ path use features that are computed once per kernel from all rows (they
depend on X only) and shared by folds and methods. Paths are warm-started, with fewer features and
lower precision than the refit. All other configurations are fitted separately.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import FitFailedWarning
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from decorrupt._typing import FloatArray
from decorrupt.exceptions import quiet, warn
from decorrupt.features import FeatureMap
from decorrupt.losses import balanced_scores, score_shape
from decorrupt.model_selection.calibration import cross_calibrate, needs_calibration
from decorrupt.model_selection.criteria import weighted_mean
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.results import Result, is_missing
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.progress import track

# Tolerance of a path's objectives per row; the refit uses the estimator's tolerance.
SELECTION_OBJECTIVE_TOL = 1e-5


@dataclass(frozen=True)
class Configuration:
    """A method with parameters.

    Attributes
    ----------
    method : str
        Its name in the leaderboard.
    estimator : estimator
        The estimator to clone, with `params` set.
    params : dict
        The parameters set on it.
    reg_strengths : tuple of float or None
        λ of one path over shared features, for a :class:`~decorrupt.estimators.KernelClassifier`;
        None: one fit.
    """

    method: str
    estimator: Any
    params: dict[str, Any]
    reg_strengths: tuple[float, ...] | None = None

    def results_params(self) -> list[dict[str, Any]]:
        """Return the parameters of each of its results."""
        if self.reg_strengths is None:
            return [self.params]
        return [self.params | {"reg_strength": float(value)} for value in self.reg_strengths]


@dataclass(frozen=True)
class _FoldPredictions:
    """Predictions for a fold's held-out rows, λ along the second axis, or the error of the fit."""

    decisions: FloatArray | float
    scores: FloatArray | float
    seconds: float
    failure: str = ""


@dataclass
class _Evaluator:
    """Data and settings that all fits of one evaluation share."""

    data: FoldedData
    scorer: BagScorer
    n_jobs: int | None
    calibrate: bool
    error_score: Any
    failures: list[str] = field(default_factory=list)

    def fit_separately(self, batch: Sequence[Configuration]) -> list[Result]:
        """Return the results of configurations without a path."""
        jobs = [delayed(self._fit_fold)(one, fold) for one in batch for fold in self.folds]
        return self._results(batch, self._run(jobs))

    def fit_paths(self, batch: Sequence[Configuration], features: FeatureMap) -> list[Result]:
        """Return the results of configurations with λ paths over one feature map."""
        # Reading the features takes most of the time; single precision halves it.
        features = features.coarse()
        matrix = features.matrix.astype(np.float32)
        jobs = [delayed(self._fit_path)(one, matrix, fold) for one in batch for fold in self.folds]
        # Threads share the features, and BLAS and numpy release the lock. BLAS gets one thread per
        # job: its products are small here, and more threads would only wait for each other.
        with threadpool_limits(1, user_api="blas"):
            found = self._run(jobs, prefer="threads")
        return self._results(batch, found)

    def _run(self, jobs: list[Any], **options: Any) -> list[_FoldPredictions]:
        found = Parallel(n_jobs=self.n_jobs, return_as="generator", **options)(jobs)
        return list(track(found, "fitting folds", len(jobs)))

    @property
    def folds(self) -> range:
        """The numbers of the folds."""
        return range(len(self.data.folds))

    def _fit_fold(self, configuration: Configuration, fold: int) -> _FoldPredictions:
        began = time.perf_counter()
        try:
            model = self.data.fit_fold(configuration.estimator, fold)
        except Exception as error:
            if isinstance(self.error_score, str):
                raise
            message = f"{type(error).__name__}: {error}"
            return _FoldPredictions(np.nan, np.nan, time.perf_counter() - began, message)
        seconds = time.perf_counter() - began
        X = self.data.test_rows(model, fold)
        if self.calibrate or not self.scorer.takes_scores:
            decisions = np.asarray(model.decision_function(X))
            return _FoldPredictions(decisions[:, None], np.nan, seconds)
        prior = self.data.training[fold].inner_prior
        scores = self.scorer.predictions(model, X, prior)
        return _FoldPredictions(np.nan, scores[:, None], seconds)

    def _fit_path(self, configuration: Configuration, matrix: Any, fold: int) -> _FoldPredictions:
        began = time.perf_counter()
        train, test = self.data.folds[fold]
        # A path that did not converge is scored on held-out rows like any other.
        path = configuration.estimator.fit_path(
            matrix[train],
            self.data.training[fold],
            configuration.reg_strengths,
            objective_tol=SELECTION_OBJECTIVE_TOL,
        )
        raw = path.scores(matrix[test])
        scores = balanced_scores(raw, path.class_prior)
        seconds = time.perf_counter() - began
        return _FoldPredictions(raw - path.threshold, scores, seconds)

    def _results(
        self,
        batch: Sequence[Configuration],
        predicted: Sequence[_FoldPredictions],
    ) -> list[Result]:
        n_folds, found = len(self.data.folds), []
        for k, one in enumerate(batch):
            found += self._pooled(one, predicted[k * n_folds : (k + 1) * n_folds])
        return found

    def _pooled(
        self, configuration: Configuration, predicted: Sequence[_FoldPredictions]
    ) -> list[Result]:
        """Return results with the predictions of all folds in row order; NaN if a fit failed."""
        all_params = configuration.results_params()
        observed = self.data.observed
        shape = (len(observed.row_bag), len(all_params), *score_shape(observed.n_classes))
        decisions, scores = np.full(shape, np.nan), np.full(shape, np.nan)
        failures = [one.failure for one in predicted if one.failure]
        self.failures += failures
        if not failures:
            for (_, test), one in zip(self.data.folds, predicted, strict=True):
                decisions[test], scores[test] = one.decisions, one.scores
        seconds = np.array([one.seconds for one in predicted]) / len(all_params)
        if (
            self.calibrate
            and self.scorer.takes_scores
            and needs_calibration(configuration.estimator)
        ):
            for place in range(len(all_params)):
                scores[:, place] = cross_calibrate(decisions[:, place], observed, self.data.folds)
        return [
            self._scored(configuration.method, params, seconds, decisions[:, r], scores[:, r])
            for r, params in enumerate(all_params)
        ]

    def _scored(
        self,
        method: str,
        params: dict[str, Any],
        seconds: FloatArray,
        decisions: FloatArray,
        scores: FloatArray,
    ) -> Result:
        predictions = scores if self.scorer.takes_scores else decisions
        rows = np.flatnonzero(~is_missing(predictions))
        tested, by_bag = self.data.observed, None
        if len(rows) < len(tested.row_bag):
            tested = tested.take(rows)
        if not len(rows):
            score: tuple[float, float] = (-np.inf, np.nan)
        elif self.scorer.takes_scores:
            by_bag = self.scorer.by_bag(predictions[rows], tested)
            score = weighted_mean(by_bag, tested.sizes)
        else:
            score = self.scorer.score(predictions[rows], tested)
        return Result(method, params, *score, by_bag, tested.sizes, seconds, decisions, scores)


def evaluate(
    configurations: Sequence[Configuration],
    data: FoldedData,
    scorer: BagScorer,
    *,
    n_jobs: int | None = None,
    calibrate: bool = False,
    error_score: Any = "raise",
) -> list[Result]:
    """Return every configuration's score on held-out rows.

    Parameters
    ----------
    configurations : sequence of Configuration
        Configurations to compare; those with λ paths over the same features are solved together.
    data : FoldedData
        Rows, what is known about their labels, and folds.
    scorer : BagScorer
        The criterion.
    n_jobs : int, optional
        Number of fits in parallel.
    calibrate : bool
        Whether the log-odds of separate fits are computed from their decision values, each fold
        calibrated on the other folds, instead of the model's probabilities.
    error_score : "raise" or NaN
        Whether a fit that fails raises its error, or gives its configuration the score −∞.

    Raises
    ------
    ValueError
        If every fit fails.
    """
    evaluator = _Evaluator(data, scorer, n_jobs, calibrate, error_score)
    results: list[Result] = []
    batches = _batches(configurations, n_jobs)
    with quiet():
        for batch in track(batches, "comparing configurations", len(batches)):
            if batch[0].reg_strengths is None:
                results += evaluator.fit_separately(batch)
                continue
            results += evaluator.fit_paths(batch, data.feature_map(batch[0].estimator))
    n_fits = len(configurations) * len(data.folds)
    _check_failures(evaluator.failures, n_fits)
    return results


def _batches(
    configurations: Sequence[Configuration], n_jobs: int | None
) -> list[list[Configuration]]:
    """Return configurations to fit together: paths with equal features, others in groups."""
    # Large enough to keep all workers busy, small enough for a progress bar to move.
    step = 4 * effective_n_jobs(n_jobs)
    batches: dict[Any, list[Configuration]] = {}
    n_separate = 0
    for one in configurations:
        if one.reg_strengths is None:
            key: Any = n_separate // step
            n_separate += 1
        else:
            key = one.estimator.feature_key()
        batches.setdefault(key, []).append(one)
    return list(batches.values())


def _check_failures(failures: list[str], n_fits: int) -> None:
    """Warn of fits that failed; raise ValueError if all did."""
    if not failures:
        return
    summary = f"{len(failures)} of {n_fits} fits failed, the first with {failures[0]}"
    if len(failures) == n_fits:
        raise ValueError(summary)
    advice = f"{summary}. Their candidates are ranked last; error_score='raise' raises the error"
    warn(advice, FitFailedWarning)
