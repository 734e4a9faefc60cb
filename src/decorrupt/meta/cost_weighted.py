"""Label-dependent costs: any learner with weights on noisy labels of several sources."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import check_random_state, get_tags

from decorrupt._typing import FloatArray
from decorrupt.corruption import label_costs
from decorrupt.estimators import (
    DECISIONS,
    SourceClassifier,
    check_choice,
    decision_threshold,
)
from decorrupt.features import FeatureMap
from decorrupt.losses import class_loss, only_two_classes, probabilities, scores_of
from decorrupt.meta.em import seeded
from decorrupt.meta.soft_labels import check_learner, learner_rows, soft_scores, weight_name
from decorrupt.notices import Notice
from decorrupt.observed import Observed
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, Problem

COSTS = ("equal", "label_dependent")
# Probabilities of the true classes are at least this, so that their logarithms are finite.
SMALLEST_PROBABILITY = 1e-6


class CostWeightedSourcesClassifier(MetaEstimatorMixin, SourceClassifier):
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
        None: kernel logistic regression, the minimum of Σ_j v_j·log(1 + exp(−ỹ_j·f(x_j)))/Σ_j v_j +
        λ‖f‖². `kernel`, `kernel_gamma`, `reg_strength`, `tol` and `max_iter` are for this learner.
    costs : {"label_dependent", "equal"}, default="label_dependent"
        The weights of the noisy labels; "equal" for a plain model of the noisy labels, the only
        choice for several classes.
    noise_rates : mapping, data frame, pair, matrix, "estimate" or None, default=None
        {source: (flip_pos, flip_neg)}, a data frame with the columns source, flip_pos and flip_neg,
        one pair for all rows, or None for clean labels; "estimate" calls
        :func:`decorrupt.estimate_noise_rates`. Several classes have matrices T[y, ỹ] =
        P(Ỹ=ỹ | Y=y) instead of pairs. Rates passed to `fit` take precedence.
    source_priors : float, vector or None, default=None
        P(Y=1), the same for all sources; for several classes the share of each class. None:
        estimated from the shares of noisy labels.
    kernel : str, callable or Kernel, default="rbf"
        The kernel, see :class:`CorruptedSourcesClassifier`.
    kernel_gamma : float, "scale" or "auto", default="scale"
        The kernel's width parameter.
    reg_strength : float or "auto", default="auto"
        λ, at least 0; "auto" is s/(2·C·n), a Gaussian prior on the log-odds with the variance
        C = 3: n is the number of rows, s the mean of k(x, x), 1 for the rbf kernel.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error (τ is the class prior) or the error in
        the population of the training rows (τ = ½).
    tol : float, default=1e-6
        The norm of the gradient at which the solver stops.
    max_iter : int, default=1000
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of an estimator without its own seed, of the kernel's random pivots or random features,
        and of estimated noise rates.
    sample_weight_name : str or None, default=None
        The argument of the estimator's `fit` that takes the weights; None: "sample_weight", or for
        a pipeline that of its last step.

    Attributes
    ----------
    estimator_ : classifier
        The fitted learner of the weighted noisy labels, if `estimator` is not None.
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
    kernel_gamma_, reg_strength_, kernel_rank_, kernel_error_, n_iter_, solver_
        Of kernel logistic regression, see :class:`CorruptedSourcesClassifier`.
    coef_, intercept_, dual_coef_, landmarks_, feature_coef_, frequencies_, frequency_centre_, \
projection_
        The score of the noisy labels of kernel logistic regression, see
        :class:`CorruptedSourcesClassifier`.
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

    # Of the kernel logistic regression; learners with more settings are given as `estimator`.
    fit_intercept = True
    solver = "auto"

    def __init__(
        self,
        estimator: Any = None,
        *,
        costs: str = "label_dependent",
        noise_rates: Any = None,
        source_priors: Any = None,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        decision: str = "balanced",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
        sample_weight_name: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.noise_rates = noise_rates
        self.source_priors = source_priors
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.decision = decision
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.sample_weight_name = sample_weight_name

    @property
    def has_path(self) -> bool:
        """Whether a λ path replaces separate fits: for kernel logistic regression."""
        return self.estimator is None

    def check(self) -> None:
        """Raise ValueError if a parameter is invalid regardless of the data."""
        super().check()
        check_choice("decision", self.decision, DECISIONS)
        check_choice("costs", self.costs, COSTS)
        if self.estimator is not None:
            check_learner(self.estimator, self.sample_weight_name, regressors=False)

    def _check_classes(self, n_classes: int) -> None:
        if self.costs == "label_dependent":
            only_two_classes(n_classes, "costs='label_dependent'", "set costs='equal'")

    def keep_sources(self, observed: Observed) -> None:
        """Set what is known about the sources, and the mixture of their labels."""
        observed.check_one_population()
        super().keep_sources(observed)
        weights = label_weights(observed, self.costs, self.decision)
        self.noisy_mixture_ = noisy_mixture(observed, weights)

    def problem(self, observed: Observed) -> Problem:
        """Return weighted logistic regression on the noisy labels, and the way to the true ones."""
        sources, n_classes = observed.only_sources(), observed.n_classes
        coef = self._row_weights(observed)[:, None] * np.eye(n_classes)[sources.noisy_class]
        risk = CorrectedRisk(coef / coef.sum(), class_loss("logistic", n_classes))
        mixture = noisy_mixture(observed, label_weights(observed, self.costs, self.decision))
        return Problem(risk, link=partial(true_class_scores, mixture=mixture))

    def _row_weights(self, observed: Observed) -> FloatArray:
        """Return the weight of each row's noisy label, times how many rows it represents."""
        sources, weights = observed.only_sources(), observed.weights
        by_row = label_weights(observed, self.costs, self.decision)[
            sources.row_source, sources.noisy_class
        ]
        return np.asarray(by_row if weights is None else by_row * weights)

    def _read_rows(self, X: Any, *, reset: bool, sample_weight: Any = None) -> Any:
        if self.estimator is None:
            return super()._read_rows(X, reset=reset, sample_weight=sample_weight)
        if reset:
            self.check()
            self._forget_fit()
        missing = get_tags(self.estimator).input_tags.allow_nan
        return learner_rows(self, X, reset=reset, takes_missing_values=missing)

    def _train_rows(
        self, X: Any, observed: Observed, features: FeatureMap | None = None
    ) -> list[Notice]:
        if self.estimator is None:
            return super()._train_rows(X, observed, features)
        sources = observed.only_sources()
        self.keep_observed(observed)
        self.keep_sources(observed)
        estimator = seeded(self.estimator, check_random_state(self.random_state))
        named = {weight_name(estimator, self.sample_weight_name): self._row_weights(observed)}
        self.estimator_ = estimator.fit(X, sources.noisy_class, **named)
        return self._take_notices()

    def _score(self, X: Any) -> FloatArray:
        if self.estimator is None:
            scores = super()._score(X)
        else:
            scores = soft_scores(self.estimator_, X, len(self.classes_))
        return true_class_scores(scores, self.noisy_mixture_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            own = get_tags(self.estimator)
            tags.input_tags.sparse = own.input_tags.sparse
            tags.input_tags.allow_nan = own.input_tags.allow_nan
            tags.input_tags.pairwise = False
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

    Parameters
    ----------
    scores : ndarray of any shape, for several classes (…, n_classes)
        q = σ(f), or softmax(f).
    mixture : ndarray of shape (n_classes, n_classes)
        M.
    """
    scores = np.asarray(scores)
    n_classes = len(mixture)
    shape = scores.shape if n_classes == 2 else scores.shape[:-1]
    flat = scores.reshape(-1, *scores.shape[len(shape) :])
    clean = probabilities(flat) @ np.linalg.inv(mixture)
    clean = np.maximum(clean / clean.sum(axis=-1, keepdims=True), SMALLEST_PROBABILITY)
    return np.asarray(scores_of(np.log(clean)).reshape(scores.shape), dtype=scores.dtype)
