"""Base class of the estimators for noisy labels of several sources."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from decorrupt.estimators.kernel_classifier import KernelClassifier
from decorrupt.exceptions import ContradictedRatesWarning
from decorrupt.features import FeatureMap
from decorrupt.notices import Notice, emit_notices
from decorrupt.observed import (
    Observed,
    as_observed,
    rate_notices,
    refuse_weights,
)


class SourceClassifier(KernelClassifier):
    """Base class of the classifiers trained on labels that are wrong at known rates.

    Subclasses have the parameters `noise_rates` and `source_priors`.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sources": True,
        "noise_rates": True,
        "sample_weight": True,
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sources: Any = None,
        noise_rates: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Train on rows whose labels y were flipped at known rates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            Noisy labels; of two values the larger is the positive class.
        sources : array-like of shape (n_rows,), optional
            The source of each row; any hashable ids. None: one source.
        noise_rates : mapping, data frame, pair or matrix, optional
            Replaces the parameter `noise_rates`. For rates per row, every row is a source:
            ``sources=np.arange(n_rows), noise_rates=dict(enumerate(rates))``.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If a source has no rates, the two rates of a source sum to 1 or more, a matrix is
            singular or not stochastic, or a parameter is invalid.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it converged.
        OneClassWarning
            If the model predicts one class for all training rows.
        ContradictedRatesWarning
            If the shares of noisy labels contradict the rates (χ² at the level 1e-4, and a
            difference of 0.02 or more), or a matrix seems to have its rows in another order.
        UnscaledColumnsWarning
            If distances between rows hardly depend on at least half of the columns.
        NegativeRiskWarning, NonConvexRiskWarning
            Methods with a corrected risk only, see `decorrupt.exceptions`.
        """
        weights = {"sample_weight": sample_weight}
        emit_notices(self.train(X, y, sources=sources, noise_rates=noise_rates, **weights))
        return self

    def train(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sources: Any = None,
        noise_rates: Any = None,
        sample_weight: Any = None,
    ) -> list[Notice]:
        """Fit as `fit` does, and return the warnings instead of emitting them."""
        self._take_notices()  # discard those of an earlier fit that failed
        weights = y.weights if isinstance(y, Observed) else sample_weight
        X = self._read_rows(X, reset=True, sample_weight=weights)
        rates = self.noise_rates if noise_rates is None else noise_rates
        is_estimated = isinstance(rates, str)
        if is_estimated:
            refuse_weights(sample_weight, f"noise_rates={rates!r}")
            rates = self.estimate_rates(X, y, sources, rates)
        known = {"source_priors": self.source_priors, "sample_weight": sample_weight}
        if isinstance(y, Observed):
            observed = as_observed(y, sources=sources, noise_rates=rates, **known)
        else:
            observed = Observed.from_sources(y, sources, rates, **known)
        X, observed = observed.used(X)
        messages = [] if is_estimated else rate_notices(observed)
        notices = [Notice(ContradictedRatesWarning, message) for message in messages]
        return notices + self._train_rows(X, observed)

    def _train_rows(
        self, X: Any, observed: Observed, features: FeatureMap | None = None
    ) -> list[Notice]:
        self._check_classes(observed.n_classes)
        self.keep_sources(observed)
        return super()._train_rows(X, observed, features)

    def keep_sources(self, observed: Observed) -> None:
        """Set what is known about the sources."""
        if "noise_rate_intervals_" not in vars(self):
            self.noise_rate_intervals_: dict[Any, Any] | None = None
        sources = observed.only_sources()
        self.noise_rates_ = sources.rates
        self.source_priors_ = sources.by_source(observed.source_priors)

    def estimate_rates(self, X: Any, y: Any, sources: Any, how: str) -> Any:
        """Return estimated rates by source, or those of all rows if there are no sources."""
        from decorrupt.noise_rates import estimate_noise_rates  # it imports the estimators

        if how != "estimate":
            raise ValueError(
                f"noise_rates={how!r}: give rates by source, rates of all rows, 'estimate' or None"
            )
        estimate = estimate_noise_rates(X, y, sources=sources, random_state=self.random_state)
        self.noise_rate_intervals_ = estimate.intervals
        return estimate.rates if sources is not None else next(iter(estimate.rates.values()))
