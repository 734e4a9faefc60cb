"""Label-dependent costs: any learner with weights on noisy labels of several sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import MetaEstimatorMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.corruption import label_costs
from decorrupt.estimators.inputs import (
    NoisySources,
    read_labels,
    read_noisy_labels,
    source_priors,
)
from decorrupt.estimators.parameters import check_choice
from decorrupt.estimators.priors import DECISIONS
from decorrupt.meta.classifier import AnyLearnerClassifier
from decorrupt.meta.em import seeded
from decorrupt.meta.soft_labels import check_learner, soft_scores, weight_name
from decorrupt.notices import Notice, emit_notices


@dataclass(frozen=True)
class CostWeights:
    """Weights of noisy labels, and the way back from the learner's probabilities.

    With the threshold τ, the flip rates (ρ₊, ρ₋) and the signal s = 1 − ρ₊ − ρ₋ of a source,
    α = s·τ + ρ₋ is P(Ỹ=1|x) where P(Y=1|x) = τ. Rows labelled + get the weight s·(1−α), rows
    labelled − the weight s·α. A learner of the weighted rows estimates q(x), and q > ½ exactly
    where P(Y=1|x) > τ.

    Attributes
    ----------
    if_pos, if_neg : ndarray of shape (n_sources,)
        The weight of a row labelled + or −.
    pos_base, pos_signal, neg_base, neg_signal : float
        With F the sources' shares of the rows: A = ΣF·if_pos·ρ₋, B = ΣF·if_pos·s,
        C = ΣF·if_neg·(1−ρ₋), D = ΣF·if_neg·s.
    """

    if_pos: FloatArray
    if_neg: FloatArray
    pos_base: float
    pos_signal: float
    neg_base: float
    neg_signal: float

    @classmethod
    def of(cls, rates: FloatArray, shares: FloatArray, threshold: float) -> CostWeights:
        """Return the weights of sources with these rates and shares of the rows.

        Parameters
        ----------
        rates : ndarray of shape (n_sources, 2)
            (ρ₊, ρ₋).
        shares : ndarray of shape (n_sources,)
            F.
        threshold : float
            τ, strictly between 0 and 1.
        """
        flip_pos, flip_neg = rates.T
        signal = 1 - flip_pos - flip_neg
        if_pos, if_neg = label_costs(rates, threshold)
        return cls(
            if_pos,
            if_neg,
            float(shares @ (if_pos * flip_neg)),
            float(shares @ (if_pos * signal)),
            float(shares @ (if_neg * (1 - flip_neg))),
            float(shares @ (if_neg * signal)),
        )

    def clean_probability(self, weighted: FloatArray) -> FloatArray:
        """Return P(Y=1|x) = (o·C − A)/(B + o·D), o = q/(1−q), in [0, 1], from q."""
        rest = 1 - weighted
        top = weighted * self.neg_base - rest * self.pos_base
        return np.asarray(
            np.clip(top / (rest * self.pos_signal + weighted * self.neg_signal), 0, 1)
        )


class CostWeightedSourcesClassifier(MetaEstimatorMixin, AnyLearnerClassifier):
    """Fit any learner to noisy labels with weights s(1−α) and s·α, α = s·τ + ρ₋.

    The second method of Natarajan et al. (2013), for several sources: costs of the two noisy labels
    are such that the learner's decision is right for the clean labels, see :class:`CostWeights`.
    All weights are non-negative, so every classifier with `sample_weight` and `predict_proba` can
    be used. Sources must be samples of one population. For two classes.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A classifier with `sample_weight` and `predict_proba`, or a pipeline that ends with one.
        None: a random forest with 100 trees and at least 3 rows per leaf.
    noise_rates : mapping, pair or None, default=None
        {source: (flip_pos, flip_neg)}, one pair for all rows, or None for clean labels. Rates
        passed to `fit` take precedence.
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
    weights_ : dict
        {source: (weight of +, weight of −)}.
    recovery_ : tuple of float
        A, B, C and D of :class:`CostWeights`, with which `predict_proba` returns to P(Y=1|x).
    noise_rates_ : dict
        {source: (flip_pos, flip_neg)}, the rates used.
    score_prior_ : float
        The share of positives among the training rows, estimated from the noisy labels.
    classes_, decision_threshold_, n_features_in_, feature_names_in_
        As in :class:`CorruptedSourcesClassifier`.

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

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sources": True, "noise_rates": True}

    def __init__(
        self,
        estimator: Any = None,
        *,
        noise_rates: Any = None,
        decision: str = "balanced",
        random_state: Any = None,
        sample_weight_name: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.noise_rates = noise_rates
        self.decision = decision
        self.random_state = random_state
        self.sample_weight_name = sample_weight_name

    def fit(self, X: Any, y: ArrayLike, *, sources: Any = None, noise_rates: Any = None) -> Self:
        """Train on rows whose labels y were flipped at known rates.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            Noisy labels with two values; the larger is the positive class.
        sources : array-like of shape (n_rows,), optional
            The source of each row; any hashable ids. None: one source.
        noise_rates : mapping or pair, optional
            Replaces the parameter `noise_rates`.

        Raises
        ------
        ValueError
            If a source has no rates, its two rates sum to 1 or more, or the estimator has no
            weights or probabilities.
        """
        emit_notices(self._train(X, y, sources=sources, noise_rates=noise_rates))
        return self

    def _train(
        self, X: Any, y: ArrayLike, *, sources: Any = None, noise_rates: Any = None
    ) -> list[Notice]:
        check_choice("decision", self.decision, DECISIONS)
        check_learner(self._learner(), self.sample_weight_name, regressors=False)
        estimator = seeded(self._learner(), check_random_state(self.random_state))
        X = self._read_rows(X, reset=True)
        check_consistent_length(X, y)
        self.classes_, labels = read_labels(y)
        rates = self.noise_rates if noise_rates is None else noise_rates
        codes = (labels > 0).astype(np.intp)
        noisy = read_noisy_labels(codes, self.classes_, sources, rates)
        assert isinstance(noisy, NoisySources)  # noqa: S101 — two classes
        self._fit_weighted(X, noisy, estimator)
        return self._take_notices()

    def _learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return RandomForestClassifier(100, min_samples_leaf=3)

    def _fit_weighted(self, X: Any, noisy: NoisySources, estimator: Any) -> None:
        if noisy.rates_vary_within_source:
            raise ValueError(
                "noise_rates differ within a source: give one pair of rates per source, and rows "
                "with other rates a source of their own"
            )
        self._set_prior(float(source_priors(None, noisy)[0]))
        threshold = float(expit(self.decision_threshold_))
        shares = noisy.sizes / noisy.sizes.sum()
        costs = CostWeights.of(noisy.source_rates, shares, threshold)
        self.noise_rates_ = noisy.rates_by_source
        pairs = np.column_stack([costs.if_pos, costs.if_neg])
        self.weights_ = noisy.by_source(pairs)
        self.recovery_ = (costs.pos_base, costs.pos_signal, costs.neg_base, costs.neg_signal)
        weights = np.where(noisy.is_pos, pairs[noisy.row_source, 0], pairs[noisy.row_source, 1])
        named = {weight_name(estimator, self.sample_weight_name): weights}
        codes: NDArray[np.intp] = noisy.is_pos.astype(np.intp)
        self.estimator_ = estimator.fit(X, codes, **named)

    def _score(self, X: Any) -> FloatArray:
        weighted = expit(soft_scores(self.estimator_, X, 2))
        costs = CostWeights(np.empty(0), np.empty(0), *self.recovery_)
        margin = 1e-6  # finite log-odds
        return np.asarray(logit(np.clip(costs.clean_probability(weighted), margin, 1 - margin)))

    def _takes_missing_values(self) -> bool:
        return bool(get_tags(self._learner()).input_tags.allow_nan)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._learner())
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        return tags
