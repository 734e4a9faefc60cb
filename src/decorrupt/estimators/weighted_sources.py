"""Kernel logistic regression on noisy labels, and the way back to the true classes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from decorrupt._typing import FloatArray
from decorrupt.corruption import RiskTerms, label_costs
from decorrupt.estimators.class_sources import ClassSources
from decorrupt.estimators.inputs import NoisySources, source_priors
from decorrupt.estimators.log_odds import LogOddsClassifier
from decorrupt.estimators.parameters import check_choice
from decorrupt.estimators.priors import decision_threshold, score_probabilities
from decorrupt.estimators.source_classifier import SourceClassifier
from decorrupt.features import FeatureMap
from decorrupt.losses import get_loss
from decorrupt.risks import CorrectedRisk, ScoreRisk
from decorrupt.risks.multiclass import ClassCorrectedRisk
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL

COSTS = ("equal", "label_dependent")
# Probabilities of the true classes are at least this, so that their logarithms are finite.
SMALLEST_PROBABILITY = 1e-6


class WeightedSourcesClassifier(SourceClassifier, LogOddsClassifier):
    """min_f Σ_j v_j·log(1 + exp(−ỹ_j·f(x_j)))/Σ_j v_j + λ‖f‖², a model of the noisy labels ỹ.

    With equal costs, v = 1, it takes the labels at face value: the ordinary kernel model. Costs
    that depend on source and label are the second method of Natarajan et al. (2013), as in
    :class:`CostWeightedSourcesClassifier`. Either way the model estimates the probabilities q of
    the weighted noisy labels, and the rates give those of the true classes, p ∝ qᵀM⁻¹ with
    M[y, ỹ] = Σ_s F_s·v_s(ỹ)·T_s[y, ỹ], where F_s is the share of source s in the rows. For two
    classes p increases with q, and the balanced decision at equal costs is that of the noisy
    labels: P(Ỹ=1|x) > P(Ỹ=1). Sources must be samples of one population.

    Parameters
    ----------
    costs : {"equal", "label_dependent"}, default="equal"
        "label_dependent", for two classes: with the signal s = 1 − ρ₊ − ρ₋ of a source and
        α = s·τ + ρ₋, rows labelled + have the weight s·(1−α) and rows labelled − the weight s·α.
        τ is the class prior, or ½ if decision="accuracy".
    noise_rates, class_priors, kernel, kernel_gamma, reg_strength, fit_intercept, decision, \
solver, tol, max_iter, random_state
        As in :class:`ForwardSourcesClassifier`. `class_priors` must be the same for all sources,
        and rates per row are not possible.

    Attributes
    ----------
    noisy_mixture_ : ndarray of shape (n_classes, n_classes)
        M.
    noise_rates_, noise_rate_intervals_, class_priors_
        As in :class:`CorruptedSourcesClassifier`.
    score_prior_ : float or ndarray of shape (n_classes,)
        The share of positives, or of each class, among the training rows.
    classes_, decision_threshold_, dual_coef_, landmarks_, feature_coef_, frequencies_, \
frequency_centre_, coef_, intercept_, kernel_gamma_, kernel_rank_, kernel_error_, n_iter_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`; the coefficients are those of f, the score of the
        noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.corruption import corrupt_labels
    >>> from decorrupt.estimators import WeightedSourcesClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 600)                  # not used in training
    >>> X = rng.normal(size=(600, 2)) + 2 * labels[:, None]
    >>> sources = np.where(np.arange(600) < 300, "nurse", "rule")
    >>> rates = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}
    >>> noisy = corrupt_labels(labels, [rates[source] for source in sources], random_state=0)
    >>> model = WeightedSourcesClassifier(noise_rates=rates, reg_strength=0.01, random_state=0)
    >>> bool(model.fit(X, noisy, sources=sources).score(X, labels) > 0.85)
    True
    """

    def __init__(
        self,
        *,
        costs: str = "equal",
        noise_rates: Any = None,
        class_priors: Any = None,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        fit_intercept: bool = True,
        decision: str = "balanced",
        solver: Any = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.noise_rates = noise_rates
        self.class_priors = class_priors
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.fit_intercept = fit_intercept
        self.decision = decision
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_several_classes(self, n_classes: int) -> None:
        if self.costs == "label_dependent":
            raise ValueError(
                f"Only binary classification is supported by costs='label_dependent', and y has "
                f"{n_classes} classes: set costs='equal'"
            )

    def _fit_noisy(
        self, X: Any, features: FeatureMap, noisy: NoisySources | ClassSources
    ) -> FloatArray:
        check_choice("costs", self.costs, COSTS)
        check_one_population(noisy, source_priors(self.class_priors, noisy))
        self._read_priors(noisy)
        self.noisy_mixture_ = self._noisy_mixture(noisy)
        self._set_reg_strength(X, features, features.matrix.shape[0])
        result, scores = self._fit_scores(X, features, self._risk(noisy))
        self._note_unconverged(result)
        return true_class_scores(scores, self.noisy_mixture_)

    def _risk(self, noisy: NoisySources | ClassSources) -> ScoreRisk:
        by_label = self._label_weights(noisy)[noisy.row_source]
        if isinstance(noisy, ClassSources):
            coef = by_label * np.eye(noisy.n_classes)[noisy.noisy_class]
            return ClassCorrectedRisk(coef / coef.sum())
        coef_neg, coef_pos = (by_label * np.eye(2)[noisy.is_pos.astype(int)]).T
        total = coef_neg.sum() + coef_pos.sum()
        return CorrectedRisk(RiskTerms(coef_pos / total, coef_neg / total), get_loss("logistic"))

    def _link(self, noisy: NoisySources | ClassSources) -> Callable[[FloatArray], FloatArray]:
        return partial(true_class_scores, mixture=self._noisy_mixture(noisy))

    def _label_weights(self, noisy: NoisySources | ClassSources) -> FloatArray:
        """Return v, one row per source and one column per noisy label."""
        if self.costs == "equal" or isinstance(noisy, ClassSources):
            return np.ones((len(noisy.ids), noisy.n_classes or 2))
        threshold = float(expit(decision_threshold(self.decision, self._score_prior(noisy))))
        if_pos, if_neg = label_costs(noisy.source_rates, threshold)
        return np.column_stack([if_neg, if_pos])

    def _noisy_mixture(self, noisy: NoisySources | ClassSources) -> FloatArray:
        weights = (noisy.sizes / noisy.sizes.sum())[:, None] * self._label_weights(noisy)
        return np.asarray(np.einsum("sn,syn->yn", weights, _matrices(noisy)))

    def _score(self, X: Any) -> FloatArray:
        return true_class_scores(super()._score(X), self.noisy_mixture_)


def _matrices(noisy: NoisySources | ClassSources) -> FloatArray:
    """Return T of each source."""
    if isinstance(noisy, ClassSources):
        return noisy.source_rates
    flip_pos, flip_neg = noisy.source_rates.T
    by_class = [[1 - flip_neg, flip_neg], [flip_pos, 1 - flip_pos]]
    return np.moveaxis(np.array(by_class), 2, 0)


def check_one_population(noisy: NoisySources | ClassSources, priors: FloatArray) -> None:
    """Raise ValueError if class priors differ between sources, or rates within a source."""
    if noisy.rates_vary_within_source:
        raise ValueError(
            "noise_rates differ within a source: give one pair of rates (or one matrix) per "
            "source, and rows with other rates a source of their own"
        )
    if np.ptp(priors, axis=0).any():
        raise ValueError(
            "class_priors differ between sources: a model of the labels of all sources together "
            "needs samples of one population. Choose CorruptedSourcesClassifier or "
            "ForwardSourcesClassifier"
        )


def true_class_scores(scores: FloatArray, mixture: FloatArray) -> FloatArray:
    """Return log-odds, or log-probabilities, of p ∝ qᵀM⁻¹, from the scores of the noisy labels.

    Parameters
    ----------
    scores : ndarray of any shape, for several classes (…, n_classes)
        q = σ(f), or softmax(f).
    mixture : ndarray of shape (n_classes, n_classes)
        M.
    """
    two = len(mixture) == 2
    scores = np.asarray(scores)
    if two:
        noisy = np.stack([expit(-scores), expit(scores)], axis=-1)
    else:
        noisy = score_probabilities(scores.reshape(-1, len(mixture))).reshape(scores.shape)
    clean = noisy @ np.linalg.inv(mixture)
    clean = np.maximum(clean / clean.sum(axis=-1, keepdims=True), SMALLEST_PROBABILITY)
    found = np.log(clean)
    if two:
        found = found[..., 1] - found[..., 0]
    return np.asarray(found, dtype=scores.dtype)
