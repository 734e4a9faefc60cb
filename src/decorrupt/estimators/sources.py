"""The `fit` of the estimators for noisy labels of several sources."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from decorrupt.exceptions import ContradictedRatesWarning, warn
from decorrupt.features import FeatureMap
from decorrupt.observed import Observed, as_observed, rate_notices, refuse_weights


class SourceFitMixin:
    """`fit` on labels that are wrong at known rates, or on an `Observed` of such labels.

    Attributes
    ----------
    noise_rates_ : dict
        {source: (flip_pos, flip_neg)}, or {source: T} for several classes, the rates used.
    noise_rate_intervals_ : dict or None
        {source: {"flip_pos": (0, high), "flip_neg": (0, high)}}, if rates were estimated, which is
        possible for two classes.
    source_priors_ : dict
        {source: P(Y=1)}, or {source: share of each class}, given or estimated.
    """

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
        """Train on rows whose labels y were flipped at known rates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), or Observed
            Noisy labels; of two values the larger is the positive class.
        sources : array-like of shape (n_rows,), optional
            The source of each row; any hashable ids. None: one source.
        noise_rates : mapping, data frame, pair, matrix, "estimate" or None
            {source: (flip_pos, flip_neg)}, a data frame with the columns source (or indexed by
            source), flip_pos and flip_neg, one pair for all rows, or None for clean labels.
            "estimate" calls :func:`decorrupt.estimate_noise_rates`; its assumptions must hold.
            flip_pos is the share of true positives labelled negative, flip_neg the share of true
            negatives labelled positive. Several classes have matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y)
            instead of pairs: {source: T}, or one T for all rows, with rows and columns in the
            sorted order of the classes in y. Two classes can be given either way. For rates per
            row, every row is a source: ``sources=np.arange(n_rows),
            noise_rates=dict(enumerate(rates))``.
        source_priors : mapping, float, vector or None
            P(Y=1) by source, or one value for all sources; for several classes the share of each
            class. None: all sources have the same prior, estimated from the shares of noisy labels.
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
        X = self._read_rows(X, reset=True)  # type: ignore[attr-defined]
        known = {"sources": sources, "source_priors": source_priors, "sample_weight": sample_weight}
        is_estimated = isinstance(noise_rates, str)
        if is_estimated:
            noise_rates = self.estimate_rates(X, y, noise_rates, sources, sample_weight)
        read = as_observed if isinstance(y, Observed) else Observed.from_sources
        X, observed = self._used(X, read(y, noise_rates=noise_rates, **known))  # type: ignore[attr-defined]
        if not is_estimated:
            warn_of_rates(observed)
        return self._fit_observed(X, observed, None)

    def _fit_observed(self, X: Any, observed: Observed, features: FeatureMap | None) -> Self:
        self.keep_sources(observed)
        return super()._fit_observed(X, observed, features)  # type: ignore[misc, no-any-return]

    def keep_sources(self, observed: Observed) -> None:
        """Set what is known about the sources."""
        if "noise_rate_intervals_" not in vars(self):
            self.noise_rate_intervals_: dict[Any, Any] | None = None
        sources = observed.only_sources()
        self.noise_rates_ = sources.rates
        self.source_priors_ = sources.by_source(observed.source_priors)

    def estimate_rates(self, X: Any, y: Any, how: str, sources: Any, sample_weight: Any) -> Any:
        """Return estimated rates by source, or those of all rows if there are no sources."""
        from decorrupt.noise_rates import estimate_noise_rates  # it imports the estimators

        if how != "estimate":
            raise ValueError(
                f"noise_rates={how!r}: give rates by source, rates of all rows, 'estimate' or None"
            )
        refuse_weights(sample_weight, f"noise_rates={how!r}")
        estimate = estimate_noise_rates(
            X,
            y,
            sources=sources,
            random_state=self.random_state,  # type: ignore[attr-defined]
        )
        self.noise_rate_intervals_ = estimate.intervals
        return estimate.rates if sources is not None else next(iter(estimate.rates.values()))


def warn_of_rates(observed: Observed) -> None:
    """Warn if the noisy labels contradict the stated rates."""
    for message in rate_notices(observed):
        warn(message, ContradictedRatesWarning)
