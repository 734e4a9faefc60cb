"""Automatic choice of the method for noisy labels of several sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, validate_data

from decorrupt.corruption import pooled_proportion
from decorrupt.estimators import CorruptedSourcesClassifier, ForwardSourcesClassifier
from decorrupt.estimators.class_sources import ClassSources
from decorrupt.estimators.inputs import (
    NoisySources,
    read_class_labels,
    read_noisy_labels,
    source_priors,
    source_strata,
)
from decorrupt.estimators.parameters import check_choice
from decorrupt.estimators.priors import DECISIONS
from decorrupt.estimators.score_classifier import FLOATS
from decorrupt.model_selection.delegating import DelegatingClassifier
from decorrupt.model_selection.evaluation import Configuration, evaluate
from decorrupt.model_selection.folds import DEFAULT_FOLDS, source_folds
from decorrupt.model_selection.grids import check_lists, kernel_settings, resolve_kernel_gammas
from decorrupt.model_selection.leaderboard import Leaderboard, choose
from decorrupt.model_selection.out_of_fold import TrainingData
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.noise_rates import estimate_noise_rates
from decorrupt.noise_rates.rate_error import RateError
from decorrupt.notices import Notice, emit_notices, train_quietly
from decorrupt.progress import log_step

SOURCE_CANDIDATES = ("corrected", "forward")
SOURCE_KERNELS = ("rbf",)
SOURCE_REG_STRENGTHS = (1e-1, 1e-2, 1e-3, 1e-4)
# Multiples of kernel_gamma="scale".
SOURCE_GAMMA_FACTORS = (0.1, 1.0)
SCORER = BagScorer("corrected_accuracy")


class AutoSourcesClassifier(DelegatingClassifier):
    """Compare the candidate methods on held-out rows with noisy labels and refit the best.

    No true labels are used: candidates are compared by the corrected accuracy on held-out rows,
    an unbiased estimate of the balanced accuracy (for several classes, of the mean of their
    recalls) if the noise rates are correct.

    Parameters
    ----------
    candidates : sequence of {"corrected", "forward"}
        :class:`CorruptedSourcesClassifier` and :class:`ForwardSourcesClassifier`; if scores are
        equal, the first is chosen.
    noise_rates : mapping, pair, matrix, "estimate" or None, default=None
        {source: (flip_pos, flip_neg)}, one pair for all rows, "estimate" for
        :func:`estimate_noise_rates`, or None for clean labels; for several classes matrices
        T[y, ỹ] = P(Ỹ=ỹ | Y=y) instead of pairs. Rates passed to `fit` take precedence.
    class_priors : mapping, float, vector or None, default=None
        P(Y=1) by source, or one value for all sources; for several classes the share of each
        class. None: estimated from the shares of noisy labels.
    cv : int or splitter, default=5
        An int is the number of folds of :class:`WithinBagKFold`, which splits every source.
    reg_strengths : sequence of float or None
        λ to try; None: 0.1 to 1e-4 in powers of ten.
    kernels : sequence of str or callable, default=("rbf",)
        Kernels to try.
    kernel_gammas : sequence of float, "scale" or "auto", or None
        Kernel parameters to try; None: 0.1 and 1 times "scale".
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows. Candidates are always compared by the balanced error.
    n_jobs : int or None
        Number of fits in parallel.
    random_state : int, RandomState or None
        Seed of folds, candidates and the estimation of noise rates.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen method, refitted on all rows.
    best_method_, best_params_ : str, dict
        The chosen method and its parameters.
    leaderboard_ : Leaderboard
        Method, parameters, score ± standard error and time, the best first. The standard errors
        include the uncertainty of estimated rates.
    noise_rates_, class_priors_
        As in :class:`CorruptedSourcesClassifier`.
    noise_rate_estimate_ : NoiseRateEstimate, ClassNoiseEstimate or None
        The estimate, if the rates were estimated.
    training_prior_ : float or ndarray of shape (n_classes,)
        The share of positives, or of each class, among the training rows, computed from the priors.
    classes_, n_features_in_, feature_names_in_
        As in :class:`CorruptedSourcesClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import AutoSourcesClassifier, corrupt_labels
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 300)                       # not used in training
    >>> X = rng.normal(size=(300, 2)) + 2 * labels[:, None]
    >>> sources = np.where(np.arange(300) < 150, "nurse", "rule")
    >>> rates = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}
    >>> noisy = corrupt_labels(labels, [rates[source] for source in sources], random_state=0)
    >>> model = AutoSourcesClassifier(cv=3, reg_strengths=[0.1, 0.01], random_state=0)
    >>> model = model.fit(X, noisy, sources=sources, noise_rates=rates)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sources": True, "noise_rates": True}

    def __init__(
        self,
        *,
        candidates: Sequence[str] = SOURCE_CANDIDATES,
        noise_rates: Any = None,
        class_priors: Any = None,
        cv: Any = DEFAULT_FOLDS,
        reg_strengths: Sequence[float] | None = None,
        kernels: Sequence[Any] = SOURCE_KERNELS,
        kernel_gammas: Sequence[float | str] | None = None,
        decision: str = "balanced",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.candidates = candidates
        self.noise_rates = noise_rates
        self.class_priors = class_priors
        self.cv = cv
        self.reg_strengths = reg_strengths
        self.kernels = kernels
        self.kernel_gammas = kernel_gammas
        self.decision = decision
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, *, sources: Any = None, noise_rates: Any = None) -> Self:
        """Choose the method on held-out rows and refit it on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            Noisy labels; of two values the larger is the positive class.
        sources : array-like of shape (n_rows,), optional
            The source of each row; any hashable ids. None: one source.
        noise_rates : mapping, pair, matrix, array or "estimate", optional
            Replaces the parameter `noise_rates`; an array can give the rates of each row, see
            :meth:`CorruptedSourcesClassifier.fit`.

        Warns
        -----
        ConvergenceWarning, OneClassWarning, NegativeRiskWarning, UninformativeRatesWarning
            Warnings of the refit or of the estimation of the rates; candidates do not warn.
        """
        emit_notices(self._train(X, y, sources=sources, noise_rates=noise_rates))
        return self

    def _train(
        self, X: Any, y: ArrayLike, *, sources: Any = None, noise_rates: Any = None
    ) -> list[Notice]:
        check_lists(
            candidates=self.candidates,
            kernels=self.kernels,
            kernel_gammas=self.kernel_gammas,
            reg_strengths=self.reg_strengths,
        )
        for name in self.candidates:
            check_choice("candidate", name, SOURCE_CANDIDATES)
        check_choice("decision", self.decision, DECISIONS)
        rows = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        check_consistent_length(rows, y)
        self.classes_, codes = read_class_labels(y)
        noisy = self._read_noise(rows, codes, sources, noise_rates)
        estimate = self.noise_rate_estimate_
        covariance = None if estimate is None else estimate.covariance
        own = {"sources": noisy.ids[noisy.row_source], "noise_rates": noisy.rates}
        strata = source_strata(noisy, source_priors(self.class_priors, noisy))
        folds = source_folds(strata, self.cv, self.random_state)
        found = evaluate(
            self._configurations(rows),
            TrainingData(rows, np.asarray(y), own, strata, folds),
            SCORER,
            n_jobs=self.n_jobs,
            rate_error=RateError.of(noisy, self.class_priors, covariance),
        )
        winner = choose(found.results)
        weights = [float(result is winner) for result in found.results]
        self.leaderboard_ = Leaderboard.of(found.results, weights, [winner], rule="the best score")
        self.best_method_, self.best_params_ = winner.method, winner.params
        self.best_estimator_ = self._method(winner.method, self.decision)
        self.best_estimator_.set_params(**winner.params)
        return train_quietly(self.best_estimator_, X, y, **own)

    def _read_noise(
        self, X: Any, codes: NDArray[np.int_], sources: Any, noise_rates: Any
    ) -> NoisySources | ClassSources:
        """Return sources and rates, estimated if requested; set the attributes about them."""
        rates = self.noise_rates if noise_rates is None else noise_rates
        self.noise_rate_estimate_: Any = None
        if isinstance(rates, str):
            check_choice("noise_rates", rates, ("estimate",))
            estimate = estimate_noise_rates(
                X, self.classes_[codes], sources=sources, random_state=self.random_state
            )
            log_step("estimated the noise rates")
            self.noise_rate_estimate_ = estimate
            rates = estimate.rates if sources is not None else next(iter(estimate.rates.values()))
        noisy = read_noisy_labels(codes, self.classes_, sources, rates)
        priors = source_priors(self.class_priors, noisy)
        self.class_priors_ = noisy.by_source(priors)
        self.noise_rates_: dict[Any, Any] | None = noisy.rates_by_source
        self.training_prior_ = pooled_proportion(noisy.sizes, priors)
        return noisy

    def _configurations(self, X: Any) -> list[Configuration]:
        """Return the configurations to compare, the smoothest models first."""
        gammas = resolve_kernel_gammas(self.kernel_gammas, X, SOURCE_GAMMA_FACTORS)
        grid = [
            setting | {"reg_strength": reg_strength}
            for setting in kernel_settings(self.kernels, gammas)
            for reg_strength in self.reg_strengths or SOURCE_REG_STRENGTHS
        ]
        return [
            Configuration(name, self._method(name, "balanced").set_params(**params), params)
            for name in self.candidates
            for params in grid
        ]

    def _method(self, method: str, decision: str) -> Any:
        common: dict[str, Any] = {
            "class_priors": self.class_priors,
            "decision": decision,
            "random_state": self.random_state,
        }
        if method == "forward":
            return ForwardSourcesClassifier(**common)
        target = 0.5 if decision == "balanced" else "pooled"
        return CorruptedSourcesClassifier(**common, target_prior=target, convex="ignore")

    @property
    def score_prior_(self) -> Any:
        """The share of positives, or the class shares, that `predict_proba` assumes by default."""
        return self.training_prior_
