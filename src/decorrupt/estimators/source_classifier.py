"""Base class of the estimators for noisy labels of several sources."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.corruption import pooled_proportion
from decorrupt.estimators.class_sources import ClassSources
from decorrupt.estimators.inputs import (
    NoisySources,
    read_class_labels,
    read_noisy_labels,
    source_priors,
)
from decorrupt.estimators.shared_features import PathClassifier
from decorrupt.features import FeatureMap
from decorrupt.notices import Notice, emit_notices
from decorrupt.risks import ScoreRisk
from decorrupt.solvers import Objective, SolverResult, solve_path


class SourceClassifier(PathClassifier):
    """A classifier trained on labels flipped at known rates.

    Subclasses have the parameters `noise_rates` and `class_priors`, and define `_risk` and
    `_fit_noisy`.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sources": True, "noise_rates": True}

    def fit(self, X: Any, y: ArrayLike, *, sources: Any = None, noise_rates: Any = None) -> Self:
        """Train on rows whose labels y were flipped at known rates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            Noisy labels; of two values the larger is the positive class.
        sources : array-like of shape (n_rows,), optional
            The source of each row; any hashable ids. None: one source.
        noise_rates : mapping, pair, matrix or array, optional
            Replaces the parameter `noise_rates`. An array of shape (n_rows, 2) gives one pair of
            rates per row; for several classes, one of shape (n_rows, n_classes, n_classes) gives
            one matrix per row.

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
        NegativeRiskWarning, NonConvexRiskWarning
            Methods with a corrected risk only, see `decorrupt.exceptions`.
        """
        emit_notices(self._train(X, y, sources=sources, noise_rates=noise_rates))
        return self

    def _train(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sources: Any = None,
        noise_rates: Any = None,
        features: FeatureMap | None = None,
    ) -> list[Notice]:
        """Fit and return the warnings instead of emitting them; searches call it in threads."""
        self._take_notices()  # discard those of an earlier fit that failed
        X = self._read_rows(X, reset=True)
        check_consistent_length(X, y)
        self.classes_, codes = read_class_labels(y)
        if len(self.classes_) > 2:
            self._check_several_classes(len(self.classes_))
        rates = self.noise_rates if noise_rates is None else noise_rates
        self.noise_rate_intervals_: dict[Any, Any] | None = None
        if isinstance(rates, str):
            rates = self._estimate(X, self.classes_[codes], sources, rates)
        noisy = read_noisy_labels(codes, self.classes_, sources, rates)
        self.noise_rates_ = noisy.rates_by_source
        features = self.fit_feature_map(X) if features is None else features
        self._note_one_class(self._fit_noisy(X, features, noisy))
        return self._take_notices()

    def _estimate(self, X: Any, y: NDArray[Any], sources: Any, how: str) -> Any:
        """Return estimated rates by source, or those of all rows if there are no sources."""
        from decorrupt.noise_rates import estimate_noise_rates  # it imports the estimators

        if how != "estimate":
            raise ValueError(
                f"noise_rates={how!r}: give rates by source, rates of all rows, 'estimate' or None"
            )
        estimate = estimate_noise_rates(X, y, sources=sources, random_state=self.random_state)
        self.noise_rate_intervals_ = estimate.intervals
        return estimate.rates if sources is not None else next(iter(estimate.rates.values()))

    def _read_priors(self, noisy: NoisySources | ClassSources) -> FloatArray:
        """Return the class shares of each source; set the attributes that follow from them."""
        priors = source_priors(self.class_priors, noisy)
        self.class_priors_ = noisy.by_source(priors)
        self.score_prior_ = self._score_prior(noisy)
        self.decision_threshold_ = self._threshold(self.score_prior_)
        return priors

    def _score_prior(self, noisy: NoisySources | ClassSources) -> Any:
        return pooled_proportion(noisy.sizes, source_priors(self.class_priors, noisy))

    def _path(
        self,
        matrix: Any,
        noisy: NoisySources | ClassSources,
        reg_strengths: Sequence[float],
        options: dict[str, Any],
    ) -> list[SolverResult]:
        objective = Objective(
            matrix, self._risk(noisy), reg_strengths[0], self.fit_intercept, noisy.n_classes
        )
        start = self._start(objective.rank, self._score_prior(noisy))
        return solve_path(objective, reg_strengths, start=start, **options)

    def _start(self, rank: int, prior: Any) -> FloatArray | None:  # noqa: ARG002
        """Return the coefficients at which the solver starts; None for zero."""
        return None

    @abstractmethod
    def _fit_noisy(
        self, X: Any, features: FeatureMap, noisy: NoisySources | ClassSources
    ) -> FloatArray:
        """Train on validated rows and their features; return the rows' raw scores."""

    @abstractmethod
    def _risk(self, noisy: NoisySources | ClassSources) -> ScoreRisk:
        """Return the risk to minimise; the model is unchanged."""
