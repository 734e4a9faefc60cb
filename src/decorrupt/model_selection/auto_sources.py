"""Automatic choice of the method for noisy labels of several sources."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from decorrupt.estimators import (
    DECISIONS,
    CorruptedSourcesClassifier,
    ForwardSourcesClassifier,
    check_choice,
    estimator,
    validated_rows,
    warn_of_rates,
)
from decorrupt.model_selection.averaging_search import AveragingSearch
from decorrupt.model_selection.candidates import Candidate
from decorrupt.model_selection.folded_data import FoldedData
from decorrupt.model_selection.folds import folds_of_used, source_folds
from decorrupt.model_selection.scorers import NoisyLabelScorer
from decorrupt.noise_rates import estimate_noise_rates
from decorrupt.observed import Observed, as_observed, refuse_weights

SOURCE_CANDIDATES = ("corrected", "forward")
SOURCE_KERNELS = ("linear", "rbf")


@estimator
class AutoSourcesClassifier(AveragingSearch):
    """The automatic choice for noisy labels: an average of what explains held-out labels best.

    P(Y=c|x) = Σ_k weight_k·P_k(Y=c|x): the average of the best configurations on held-out rows.

    No true labels are used. A configuration is a method, a kernel and a λ; it is scored by the
    likelihood of held-out noisy labels, Σ_j log Σ_y P(y|x_j)·T_s[y, ỹ_j], with T_s the noise rates
    of the row's source. The weights are those of pseudo-Bayesian model averaging, with a bootstrap
    over rows (Yao et al. 2018). The heaviest, at most 8, are refitted on all rows.

    Parameters
    ----------
    candidates : sequence of {"corrected", "forward"} or None
        :class:`CorruptedSourcesClassifier` and :class:`ForwardSourcesClassifier`; None: both.
    cv : int or splitter, default=5
        An int is the number of folds of :class:`WithinBagKFold`, which splits every source.
    kernels : sequence of str, callable or Kernel, or None
        Kernels to try; None: "linear" and "rbf".

    Attributes
    ----------
    leaderboard_ : Leaderboard
        Method, parameters, weight, score ± standard error and time, the largest weight first. The
        score is the mean log-likelihood per held-out row, at the given or estimated rates.
    held_out_gain_ : float
        The log-likelihood of all held-out labels under the average, minus that under the shares of
        the labels alone.
    noise_rates_, source_priors_
        As in :class:`CorruptedSourcesClassifier`.
    noise_rate_estimate_ : NoiseRateEstimate or None
        The estimate, if the rates were estimated.
    class_prior_ : ndarray of shape (n_classes,)
        The share of each class among the training rows, computed from the priors.
    classes_, n_features_in_, feature_names_in_
        As in :class:`CorruptedSourcesClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import AutoSourcesClassifier
    >>> from decorrupt.corruption import corrupt_labels
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

    default_kernels: ClassVar[tuple[str, ...]] = SOURCE_KERNELS
    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sources": True,
        "noise_rates": True,
        "source_priors": True,
        "sample_weight": True,
    }

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sources: Any = None,
        noise_rates: Any = None,
        source_priors: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Compare configurations on held-out rows and refit the best on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), or Observed
            Noisy labels; of two values the larger is the positive class.
        sources : array-like of shape (n_rows,), optional
            The source of each row; any hashable ids. None: one source.
        noise_rates : mapping, data frame, pair, matrix or "estimate", optional
            {source: (flip_pos, flip_neg)}, a data frame with the columns source, flip_pos and
            flip_neg, one pair for all rows, "estimate" for :func:`estimate_noise_rates`, or None
            for clean labels; for several classes matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y) instead of pairs.
        source_priors : mapping, float or vector, optional
            P(Y=1) by source, or one value for all sources; for several classes the share of each
            class. None: estimated from the shares of noisy labels.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0.

        Warns
        -----
        ConvergenceWarning, OneClassWarning, NegativeRiskWarning, UninformativeRatesWarning
            Warnings of the refit or of the estimation of the rates; candidates do not warn.
        ContradictedRatesWarning, UnscaledColumnsWarning
            As in :meth:`CorruptedSourcesClassifier.fit`.
        WeakEvidenceWarning
            If the model explains held-out labels hardly better than their shares alone.
        """
        self._check_search()
        for name in self.candidates or ():
            check_choice("candidate", name, SOURCE_CANDIDATES)
        check_choice("decision", self.decision, DECISIONS)
        known = {"sources": sources, "sample_weight": sample_weight, "source_priors": source_priors}
        rows = validated_rows(self, X)
        self.noise_rate_estimate_: Any = None
        if isinstance(noise_rates, str):
            noise_rates = self._estimated(rows, y, noise_rates, sources, sample_weight)
        read = as_observed if isinstance(y, Observed) else Observed.from_sources
        observed = read(y, noise_rates=noise_rates, **known)
        named = observed.only_sources()
        cv = folds_of_used(self.cv, observed.used_rows)
        X, _ = observed.used(X)
        rows, observed = observed.used(rows)
        self.classes_, self.class_prior_ = observed.classes, observed.class_prior
        self.source_priors_ = named.by_source(observed.source_priors)
        self.noise_rates_: dict[Any, Any] = named.rates
        folds = source_folds(observed, cv, self.random_state)
        candidates = [self._candidate(name) for name in self.candidates or SOURCE_CANDIDATES]
        data = FoldedData(rows, observed, folds)
        if self.noise_rate_estimate_ is None:
            warn_of_rates(observed)
        self._search(X, data, candidates, NoisyLabelScorer(), baselines=[])
        return self

    def _estimated(self, X: Any, y: Any, how: str, sources: Any, sample_weight: Any) -> Any:
        """Return estimated rates by source, or those of all rows if there are no sources."""
        check_choice("noise_rates", how, ("estimate",))
        refuse_weights(sample_weight, "noise_rates='estimate'")
        estimate = estimate_noise_rates(X, y, sources=sources, random_state=self.random_state)
        self.noise_rate_estimate_ = estimate
        return estimate.rates if sources is not None else next(iter(estimate.rates.values()))

    def _candidate(self, name: str) -> Candidate:
        common: dict[str, Any] = {"decision": self.decision, "random_state": self.random_state}
        if name == "forward":
            return Candidate(name, ForwardSourcesClassifier(**common), any_kernel=True)
        target = 0.5 if self.decision == "balanced" else "pooled"
        model = CorruptedSourcesClassifier(**common, class_prior=target)
        return Candidate(name, model, any_kernel=True)
