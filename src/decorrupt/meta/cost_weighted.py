"""Label-dependent costs: any learner with weights on noisy labels of several sources."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import check_random_state, get_tags

from decorrupt._typing import FloatArray
from decorrupt.estimators import (
    COSTS,
    DECISIONS,
    WeightedSourcesClassifier,
    check_choice,
    label_weights,
    noisy_mixture,
    true_class_scores,
)
from decorrupt.losses import only_two_classes
from decorrupt.meta.classifier import AnyLearnerClassifier
from decorrupt.meta.em import seeded
from decorrupt.meta.soft_labels import check_learner, soft_scores, weight_name
from decorrupt.notices import Notice, emit_notices
from decorrupt.observed import (
    NoisySources,
    rate_notices,
    read_labels,
    read_sources,
    without_weightless,
)


class CostWeightedSourcesClassifier(MetaEstimatorMixin, AnyLearnerClassifier):
    """Any scikit-learn classifier, trained on noisy labels with weights that undo the noise.

    With label-dependent costs a row labelled + has the weight s(1−α), a row labelled − the weight
    s·α, where s = 1 − ρ₊ − ρ₋ and α = s·τ + ρ₋: the second method of Natarajan et al. (2013), for
    several sources. The learner's decision is then right for the clean labels. All weights are
    non-negative, so every classifier with `sample_weight` and `predict_proba` can be used. Its
    probabilities q of the weighted noisy labels become those of the true classes by p ∝ qᵀM⁻¹,
    where M[y, ỹ] is the weighted share of the noisy label ỹ among rows of class y. Sources must be
    samples of one population.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A classifier with `sample_weight` and `predict_proba`, or a pipeline that ends with one.
        None: kernel logistic regression with the default penalty.
    costs : {"label_dependent", "equal"}, default="label_dependent"
        The weights of the noisy labels; "equal" for a plain model of the noisy labels, the only
        choice for several classes.
    noise_rates : mapping, data frame, pair or None, default=None
        {source: (flip_pos, flip_neg)}, a data frame with the columns source, flip_pos and flip_neg,
        one pair for all rows, or None for clean labels. Rates passed to `fit` take precedence.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error (τ is the class prior) or the error in
        the population of the training rows (τ = ½).
    random_state : int, RandomState or None
        Seed of an estimator without its own seed.
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
        {source: (flip_pos, flip_neg)}, the rates used.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows, estimated from the noisy labels.
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
    >>> model = CostWeightedSourcesClassifier(LogisticRegression(), noise_rates=rates)
    >>> bool(model.fit(X, noisy, sources=sources).score(X, labels) > 0.85)
    True
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "sources": True,
        "noise_rates": True,
        "sample_weight": True,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        costs: str = "label_dependent",
        noise_rates: Any = None,
        decision: str = "balanced",
        random_state: Any = None,
        sample_weight_name: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.noise_rates = noise_rates
        self.decision = decision
        self.random_state = random_state
        self.sample_weight_name = sample_weight_name

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
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            Noisy labels; of two values the larger is the positive class.
        sources : array-like of shape (n_rows,), optional
            The source of each row; any hashable ids. None: one source.
        noise_rates : mapping or pair, optional
            Replaces the parameter `noise_rates`.
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row represents, at least 0.

        Raises
        ------
        ValueError
            If a source has no rates, its two rates sum to 1 or more, or the estimator has no
            weights or probabilities.

        Warns
        -----
        ContradictedRatesWarning
            If the shares of noisy labels contradict the rates.
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
        check_choice("decision", self.decision, DECISIONS)
        check_choice("costs", self.costs, COSTS)
        if self.estimator is not None:
            check_learner(self.estimator, self.sample_weight_name, regressors=False)
        X = self._read_rows(X, reset=True)
        rates = self.noise_rates if noise_rates is None else noise_rates
        known = {"sample_weight": sample_weight, "sources": sources, "rates": rates}
        X, y, known = without_weightless(X, y, **known)
        self.classes_, codes = read_labels(y)
        if self.costs == "label_dependent":
            only_two_classes(len(self.classes_), "costs='label_dependent'", "set costs='equal'")
        noisy = read_sources(
            codes,
            self.classes_,
            known["sources"],
            known["rates"],
            sample_weight=known["sample_weight"],
        )
        noisy.check_one_population()
        self.noise_rates_ = noisy.rates_by_source
        self.set_class_prior(noisy.class_prior)
        weights = label_weights(noisy, self.costs, self.decision)
        self.noisy_mixture_ = noisy_mixture(noisy, weights)
        notices = rate_notices(noisy)
        if self.estimator is None:
            return notices + self._fit_kernel(X, noisy)
        by_row = weights[noisy.row_source, noisy.noisy_class]
        self._fit_learner(X, noisy, by_row if noisy.weights is None else by_row * noisy.weights)
        return notices + self._take_notices()

    def _fit_kernel(self, X: Any, noisy: NoisySources) -> list[Notice]:
        self.estimator_ = WeightedSourcesClassifier(
            costs=self.costs, decision=self.decision, random_state=self.random_state
        )
        return self.estimator_.train_observed(X, noisy.observed())

    def _fit_learner(self, X: Any, noisy: NoisySources, weights: FloatArray) -> None:
        estimator = seeded(self.estimator, check_random_state(self.random_state))
        named = {weight_name(estimator, self.sample_weight_name): weights}
        self.estimator_ = estimator.fit(X, noisy.noisy_class, **named)

    def _score(self, X: Any) -> FloatArray:
        if self.estimator is None:
            return np.asarray(self.estimator_.raw_scores(X))
        scores = soft_scores(self.estimator_, X, len(self.classes_))
        return true_class_scores(scores, self.noisy_mixture_)

    def _takes_missing_values(self) -> bool:
        return self.estimator is not None and bool(get_tags(self.estimator).input_tags.allow_nan)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator or WeightedSourcesClassifier())
        tags.classifier_tags.multi_class = self.costs == "equal"
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        return tags
