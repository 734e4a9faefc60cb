"""Label-dependent costs: any learner with weights, on noisy labels of several sources."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state, get_tags

from decorrupt._typing import FloatArray
from decorrupt.corruption import label_costs
from decorrupt.estimators import (
    DECISIONS,
    ScoreClassifier,
    SourceFitMixin,
    check_choice,
    check_parameters,
    decision_threshold,
    estimator,
)
from decorrupt.features import FeatureMap
from decorrupt.losses import only_two_classes, probabilities, scores_of
from decorrupt.meta.em import seeded
from decorrupt.meta.soft_labels import check_learner, learner_rows, soft_scores, weight_name
from decorrupt.observed import Observed

COSTS = ("equal", "label_dependent")
# Probabilities of the true classes are at least this, so that their logarithms are finite.
SMALLEST_PROBABILITY = 1e-6


@estimator
class CostWeightedSourcesClassifier(MetaEstimatorMixin, SourceFitMixin, ScoreClassifier):
    """Any scikit-learn classifier, trained on noisy labels with weights that undo the noise.

    With label-dependent costs a row labelled + has the weight s(1−α), a row labelled − the weight
    s·α, where s = 1 − ρ₊ − ρ₋ and α = s·τ + ρ₋: the second method of Natarajan et al. (2013), for
    several sources. The learner's decision is then right for the clean labels. All weights are
    non-negative, so every classifier with `sample_weight` and `predict_proba` can be used.

    The learner estimates the probabilities q of the weighted noisy labels, and the rates give those
    of the true classes, p ∝ qᵀM⁻¹ with M[y, ỹ] = Σ_s F_s·v_s(ỹ)·T_s[y, ỹ], where F_s is the share
    of source s in the rows and v_s the weights. Sources must be samples of one population.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A classifier with `sample_weight` and `predict_proba`, or a pipeline that ends with one.
        None: a random forest with 100 trees and at least 3 rows per leaf.
    costs : {"label_dependent", "equal"}, default="label_dependent"
        The weights of the noisy labels; "equal" for a plain model of the noisy labels, the only
        choice for several classes.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error (τ is the class prior) or the error in
        the population of the training rows (τ = ½).
    random_state : int, RandomState or None, default=None
        Seed of an estimator without its own seed, and of estimated noise rates.
    sample_weight_name : str or None, default=None
        The argument of the estimator's `fit` that takes the weights; None: "sample_weight", or for
        a pipeline that of its last step.

    Attributes
    ----------
    estimator_ : classifier
        The fitted learner of the weighted noisy labels.
    noisy_mixture_ : ndarray of shape (n_classes, n_classes)
        M, with which `predict_proba` returns to the true classes.
    noise_rates_ : dict
        {source: (flip_pos, flip_neg)}, or {source: T} for several classes, the rates used.
    noise_rate_intervals_ : dict or None
        {source: {"flip_pos": (0, high), "flip_neg": (0, high)}}, if rates were estimated; empty
        for several classes.
    source_priors_ : dict
        {source: P(Y=1)}, or {source: share of each class}, given or estimated.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows.
    classes_ : ndarray of shape (n_classes,)
        The labels in sorted order. Of two classes the second is the positive class.
    decision_threshold_ : float or ndarray of shape (n_classes,)
        What `predict` subtracts from the log-odds.
    n_features_in_, feature_names_in_
        Columns seen in fit.

    See Also
    --------
    CorruptedSourcesClassifier : A kernel model with an unbiased correction of the loss.
    EMClassifier : Any learner, fitted to the posteriors of the labels.
    AutoSourcesClassifier : Compares the methods for sources on held-out rows and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from decorrupt import CostWeightedSourcesClassifier
    >>> from decorrupt.corruption import corrupt_labels
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 600)                  # not used in training
    >>> X = rng.normal(size=(600, 2)) + 2 * labels[:, None]
    >>> sources = np.where(np.arange(600) < 300, "nurse", "rule")
    >>> rates = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}
    >>> noisy = corrupt_labels(labels, [rates[source] for source in sources], random_state=0)
    >>> model = CostWeightedSourcesClassifier(LogisticRegression())
    >>> model = model.fit(X, noisy, sources=sources, noise_rates=rates)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    estimator: Any = field(default=None, kw_only=False)
    costs: str = "label_dependent"
    decision: str = "balanced"
    random_state: Any = None
    sample_weight_name: str | None = None

    def _learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return RandomForestClassifier(100, min_samples_leaf=3)

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        if reset:
            check_parameters(self)
            check_choice("decision", self.decision, DECISIONS)
            check_choice("costs", self.costs, COSTS)
            check_learner(self._learner(), self.sample_weight_name, regressors=False)
        missing = get_tags(self._learner()).input_tags.allow_nan
        return learner_rows(self, X, reset=reset, takes_missing_values=missing)

    def _fit_observed(self, X: Any, observed: Observed, features: FeatureMap | None) -> Self:  # noqa: ARG002
        X, observed = observed.used(X)
        if np.ptp(observed.source_priors, axis=0).any():
            raise ValueError(
                "source_priors differ between sources: a model of the labels of all sources "
                "together needs samples of one population. Choose CorruptedSourcesClassifier or "
                "ForwardSourcesClassifier"
            )
        if self.costs == "label_dependent":
            only_two_classes(observed.n_classes, "costs='label_dependent'", "set costs='equal'")
        self.classes_ = observed.classes
        self.set_class_prior(observed.class_prior)
        self.keep_sources(observed)
        sources, weights = (
            observed.only_sources(),
            label_weights(observed, self.costs, self.decision),
        )
        self.noisy_mixture_ = noisy_mixture(observed, weights)
        by_row = weights[sources.row_source, sources.noisy_class]
        if observed.weights is not None:
            by_row = by_row * observed.weights
        estimator = seeded(self._learner(), check_random_state(self.random_state))
        named = {weight_name(estimator, self.sample_weight_name): by_row}
        self.estimator_ = estimator.fit(X, sources.noisy_class, **named)
        return self

    def _score(self, X: Any) -> FloatArray:
        scores = soft_scores(self.estimator_, X, len(self.classes_))
        return true_class_scores(scores, self.noisy_mixture_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._learner())
        tags.classifier_tags.multi_class = self.costs != "label_dependent"
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        return tags


def label_weights(observed: Observed, costs: str, decision: str) -> FloatArray:
    """Return the weights of noisy labels, one row per source and one column per label."""
    if costs == "equal":
        return np.ones_like(observed.label_counts)
    threshold = np.array([decision_threshold(decision, observed.class_prior)])
    return label_costs(observed.only_sources().matrices, float(probabilities(threshold)[0, 1]))


def noisy_mixture(observed: Observed, weights: FloatArray) -> FloatArray:
    """Return M[y, ỹ] = Σ_s share_s·weight_s(ỹ)·T_s[y, ỹ], over the sources s."""
    sizes = observed.source_sizes
    shares = (sizes / sizes.sum())[:, None] * weights
    return np.asarray(np.einsum("sn,syn->yn", shares, observed.only_sources().matrices))


def true_class_scores(scores: FloatArray, mixture: FloatArray) -> FloatArray:
    """Return the scores of p ∝ qᵀM⁻¹, from the scores of the noisy labels.

    M is `mixture`, of shape (n_classes, n_classes).
    """
    clean = probabilities(scores) @ np.linalg.inv(mixture)
    clean = np.maximum(clean / clean.sum(axis=1, keepdims=True), SMALLEST_PROBABILITY)
    return np.asarray(scores_of(np.log(clean)), dtype=scores.dtype)
