"""The corrected-loss classifier for labelled sources with known noise rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import (
    RiskTerms,
    Strata,
    backward_coefficients,
    class_source_weights,
    combine_classes,
    combine_strata,
    correction_coefficients,
    pooled_proportion,
    resolve_class_prior,
    source_weights,
)
from decorrupt.estimators.class_sources import ClassSources
from decorrupt.estimators.corrected_risk import CorrectedRiskClassifier
from decorrupt.estimators.inputs import NoisySources, source_priors, source_strata
from decorrupt.estimators.priors import BALANCED
from decorrupt.estimators.source_classifier import SourceClassifier
from decorrupt.features import FeatureMap
from decorrupt.losses import get_loss
from decorrupt.risks import CorrectedRisk, ScoreRisk
from decorrupt.risks.multiclass import ClassCorrectedRisk
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL


class CorruptedSourcesClassifier(SourceClassifier, CorrectedRiskClassifier):
    """min_f Σ_i (w_i/n_i)·Σ_j ℓ^ρ_i(f(x_ij), ỹ_ij) + λ‖f‖², from noisy labels of several sources.

    ℓ^ρ is the loss corrected for the source's flip rates (Natarajan et al. 2018), w the weights of
    Scott & Zhang (2019). For several classes ℓ^ρ(f, ỹ) = Σ_y T⁻¹[ỹ, y]·ℓ_y(f) with softmax
    cross-entropy ℓ_y, the backward correction of Patrini et al. (2017), and w_i ∝ 1/c_i² with
    c_i = max_ỹ Σ_y |T_i⁻¹[ỹ, y]|/√n_i. The target risk depends on the given parameters:

    - without `class_priors`: all sources are corruptions of one distribution P, and the target is
      the risk under P (Sec. 2.2). One source is Natarajan's setting; without sources and rates the
      model is an ordinary classifier.
    - with `class_priors`: the sources share only their class-conditional distributions, and the
      target is the balanced risk, or the risk at `target_prior` (Sec. 2.3).
    - with rates per row in `fit`: the noise depends on the features (Remark 2), and all rows have
      the same weight.

    Parameters
    ----------
    noise_rates : mapping, pair, matrix, "estimate" or None, default=None
        {source: (flip_pos, flip_neg)}, one pair for all rows, or None for clean labels. "estimate"
        calls :func:`decorrupt.estimate_noise_rates`; its assumptions must hold. flip_pos is the
        share of true positives labelled negative, flip_neg the share of true negatives labelled
        positive. Several classes have matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y) instead of pairs: {source:
        T}, or one T for all rows, with rows and columns in the sorted order of the classes in y.
        Two classes can be given either way. Rates passed to `fit` take precedence.
    class_priors : mapping, float, vector or None, default=None
        P(Y=1) by source, or one value for all sources; for several classes the share of each
        class. None: all sources have the same prior, estimated from the shares of noisy labels.
    weights : {"optimal", "exact", "size", "uniform"}, default="optimal"
        How sources are weighted if combine="sources", see
        :func:`decorrupt.corruption.source_weights` and, for several classes, :func:`decorrupt.corruption.class_source_weights`. If
        rates vary within a source, only "uniform" is possible: other weights would depend on the
        features and bias the risk. The model then warns and uses uniform weights.
    combine : {"sources", "superbag", "pairs", "sorted_pairs", "matched_pairs", "random_pairs", \
"least_squares"}, default="sources"
        "sources" corrects each source separately and adds the results, as in the paper. The others
        treat each source's positively and negatively labelled rows as two strata with known
        proportions, see :func:`decorrupt.corruption.combine_strata`; without `class_priors` one
        common prior is estimated from the shares of noisy labels. For several classes: "sources" or
        "least_squares".
    target_prior : float in (0, 1), vector, "pooled" or None, default=None
        The share of positives (of each class) in the target population of the risk. None: the
        share in P if combine="sources" and `class_priors` is None, else ½ (the balanced risk, all
        classes equally frequent). "pooled": the share among all training rows, computed from rates
        and priors.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the target
        population, see `target_prior`.
    loss, kernel, kernel_gamma, reg_strength, convex, risk_correction, fit_intercept, solver, \
tol, max_iter, random_state
        As in :class:`CorrectedLossClassifier`. Several classes need loss="logistic" (softmax
        cross-entropy) and no `risk_correction`.

    Attributes
    ----------
    noise_rates_ : dict or None
        {source: (flip_pos, flip_neg)}, or {source: T} for several classes, the rates used; None if
        they vary within a source.
    noise_rate_intervals_ : dict or None
        {source: {"flip_pos": (low, high), "flip_neg": (low, high)}}, if rates were estimated; for
        several classes {source: array of shape (n_classes, n_classes, 2)}.
    class_priors_ : dict
        {source: P(Y=1)}, or {source: share of each class}, given or estimated.
    source_weights_ : dict or None
        {source: w_i} if combine="sources", else None.
    classes_, diagnostics_, score_prior_, decision_threshold_, dual_coef_, landmarks_, \
feature_coef_, frequencies_, frequency_centre_, projection_, coef_, intercept_, kernel_gamma_, \
reg_strength_, kernel_rank_, kernel_error_, n_iter_, solver_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import CorruptedSourcesClassifier
    >>> from decorrupt.corruption import corrupt_labels
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 600)                  # not used in training
    >>> X = rng.normal(size=(600, 2)) + 2 * labels[:, None]
    >>> sources = np.where(np.arange(600) < 300, "nurse", "rule")
    >>> rates = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}
    >>> noisy = labels.copy()
    >>> for source, pair in rates.items():
    ...     rows = sources == source
    ...     noisy[rows] = corrupt_labels(labels[rows], pair, random_state=0)
    >>> model = CorruptedSourcesClassifier(noise_rates=rates, reg_strength=0.01, random_state=0)
    >>> bool(model.fit(X, noisy, sources=sources).score(X, labels) > 0.85)
    True
    """

    def __init__(
        self,
        *,
        noise_rates: Any = None,
        class_priors: Any = None,
        weights: str = "optimal",
        combine: str = "sources",
        loss: Any = "logistic",
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        target_prior: float | str | None = None,
        decision: str = "balanced",
        convex: str = "check",
        risk_correction: str | None = None,
        fit_intercept: bool = True,
        solver: Any = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
    ) -> None:
        self.noise_rates = noise_rates
        self.class_priors = class_priors
        self.weights = weights
        self.combine = combine
        self.loss = loss
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.target_prior = target_prior
        self.decision = decision
        self.convex = convex
        self.risk_correction = risk_correction
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_several_classes(self, n_classes: int) -> None:  # noqa: ARG002
        self._check_class_options(combine=("sources", "least_squares"))

    def _risk(self, noisy: NoisySources | ClassSources) -> ScoreRisk:
        terms = self._terms(noisy)
        if isinstance(terms, RiskTerms):
            return CorrectedRisk(terms, get_loss(self.loss), self.risk_correction)
        return ClassCorrectedRisk(terms)

    def _fit_noisy(
        self, X: Any, features: FeatureMap, noisy: NoisySources | ClassSources
    ) -> FloatArray:
        strata = source_strata(noisy, self._read_priors(noisy))
        terms = self._terms(noisy)
        if isinstance(terms, RiskTerms):
            return self._fit_terms(X, features, terms, strata, {}, "strata")
        return self._fit_classes(X, features, ClassCorrectedRisk(terms), strata, "strata")

    def _terms(self, noisy: NoisySources | ClassSources) -> RiskTerms | FloatArray:
        """Return two coefficients per row, or for several classes one column per class."""
        priors = source_priors(self.class_priors, noisy)
        if isinstance(noisy, ClassSources):
            if self.combine == "sources":
                return self._coef_by_source(noisy, priors)
            return self._coef_by_strata(noisy, source_strata(noisy, priors))
        if self.combine == "sources":
            return self._terms_by_source(noisy, priors)
        return self._terms_by_strata(noisy, source_strata(noisy, priors))

    def _read_priors(self, noisy: NoisySources | ClassSources) -> FloatArray:
        priors = super()._read_priors(noisy)
        weights = self._source_weights(noisy) if self.combine == "sources" else None
        self.source_weights_: dict[Any, float] | None = None
        if weights is not None:
            self.source_weights_ = noisy.by_source(weights)
        elif self.combine == "sources" and self.weights != "uniform":
            self._note(
                UserWarning,
                f"noise_rates vary within a source, so weights={self.weights!r} is not used: "
                "such weights would depend on the features and bias the risk. All rows have "
                "the same weight; set weights='uniform' to avoid this warning",
            )
        return priors

    def _score_prior(self, noisy: NoisySources | ClassSources) -> Any:
        return self._target_prior(noisy.sizes, source_priors(self.class_priors, noisy))

    def _target_prior(self, sizes: NDArray[np.intp], priors: FloatArray) -> Any:
        target = self.target_prior
        if target is None:
            is_common_source = self.combine == "sources" and self.class_priors is None
            target = "pooled" if is_common_source else BALANCED
        if priors.ndim == 2:
            return resolve_class_prior(target, sizes.astype(float), priors)
        if isinstance(target, str) and target == "pooled":
            return pooled_proportion(sizes, priors)
        if isinstance(target, str) or np.ndim(target) or not 0 < target < 1:
            raise ValueError(
                f"target_prior={self.target_prior!r}: give a number strictly between 0 and 1, "
                "'pooled' or None"
            )
        return float(target)

    def _coef_by_source(self, noisy: ClassSources, priors: FloatArray) -> FloatArray:
        """Return (w_s/n_s)·T_s⁻¹[ỹ, y]·π(y)/π_s(y), one column per class y."""
        coef = backward_coefficients(noisy.matrices, noisy.row_matrix, noisy.noisy_class)
        costs = (self._score_prior(noisy) / priors)[noisy.row_source]
        return np.asarray(self._row_weights(noisy)[:, None] * coef * costs)

    def _terms_by_source(self, noisy: NoisySources, priors: FloatArray) -> RiskTerms:
        """Return w_i/n_i times the coefficients of the corrected, cost-sensitive loss."""
        coef_pos, coef_neg = correction_coefficients(noisy.is_pos, *noisy.rates.T)
        # Costs change each source's prior to the target prior; they are 1 if the two are equal.
        row_prior, target = priors[noisy.row_source], self._score_prior(noisy)
        coef_pos = coef_pos * target / row_prior
        coef_neg = coef_neg * (1 - target) / (1 - row_prior)
        row_weight = self._row_weights(noisy)
        return RiskTerms(row_weight * coef_pos, row_weight * coef_neg)

    def _row_weights(self, noisy: NoisySources | ClassSources) -> FloatArray:
        """Return w_i/n_i for each row."""
        weights = self._source_weights(noisy)
        if weights is None:
            return np.full(len(noisy.row_source), 1 / len(noisy.row_source))
        return np.asarray((weights / noisy.sizes)[noisy.row_source])

    def _source_weights(self, noisy: NoisySources | ClassSources) -> FloatArray | None:
        """Return w_i; None if rates vary within a source."""
        if noisy.rates_vary_within_source:
            return None
        given = None if self.class_priors is None else source_priors(self.class_priors, noisy)
        options: dict[str, Any] = {"class_priors": given, "scheme": self.weights}
        if isinstance(noisy, ClassSources):
            return class_source_weights(noisy.sizes, noisy.source_rates, **options)
        return source_weights(noisy.sizes, *noisy.source_rates.T, **options)

    def _refuse_varying_rates(self, noisy: NoisySources | ClassSources) -> None:
        if noisy.rates_vary_within_source:
            raise ValueError(
                f"combine={self.combine!r} needs one pair of noise rates per source, or one "
                "matrix; rates that vary within a source need combine='sources'"
            )

    def _coef_by_strata(self, noisy: ClassSources, strata: Strata) -> FloatArray:
        self._refuse_varying_rates(noisy)
        combination = combine_classes(
            strata.sizes, strata.proportions, target_prior=self._score_prior(noisy)
        )
        return combination.row_coef(strata)

    def _terms_by_strata(self, noisy: NoisySources, strata: Strata) -> RiskTerms:
        self._refuse_varying_rates(noisy)
        combination = combine_strata(
            strata.sizes,
            strata.proportions,
            method=self.combine,
            target_prior=self._score_prior(noisy),
            convex="project" if self.convex == "project" else None,
            random_state=self.random_state,
        )
        return combination.row_terms(strata)
