"""Kernel logistic regression on noisy labels, and the way back to the true classes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import label_costs
from decorrupt.estimators.decisions import decision_threshold
from decorrupt.estimators.parameters import check_choice
from decorrupt.estimators.source_classifier import SourceClassifier, sources_of
from decorrupt.losses import class_loss, only_two_classes, probabilities, scores_of
from decorrupt.observed import NoisySources, Observed
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, Problem

COSTS = ("equal", "label_dependent")
# Probabilities of the true classes are at least this, so that their logarithms are finite.
SMALLEST_PROBABILITY = 1e-6


class WeightedSourcesClassifier(SourceClassifier):
    """Kernel logistic regression on noisy labels, converted to the true classes after training.

    It minimises Σ_j v_j·log(1 + exp(−ỹ_j·f(x_j)))/Σ_j v_j + λ‖f‖², a model of the noisy labels ỹ.
    With equal costs, v = 1, it takes the labels at face value: the ordinary kernel model. Costs
    that depend on source and label are the second method of Natarajan et al. (2013), as in
    :class:`CostWeightedSourcesClassifier`.

    Either way the model estimates the probabilities q of the weighted noisy labels, and the rates
    give those of the true classes, p ∝ qᵀM⁻¹ with M[y, ỹ] = Σ_s F_s·v_s(ỹ)·T_s[y, ỹ], where F_s is
    the share of source s in the rows. For two classes p increases with q, and the balanced decision
    at equal costs is that of the noisy labels: P(Ỹ=1|x) > P(Ỹ=1). Sources must be samples of one
    population.

    Parameters
    ----------
    costs : {"equal", "label_dependent"}, default="equal"
        "label_dependent", for two classes: with the signal s = 1 − ρ₊ − ρ₋ of a source and α = s·τ
        + ρ₋, rows labelled + have the weight s·(1−α) and rows labelled − the weight s·α. τ is the
        class prior, or ½ if decision="accuracy".
    noise_rates : mapping, data frame, pair, matrix, "estimate" or None, default=None
        {source: (flip_pos, flip_neg)}, a data frame with the columns source (or indexed by source),
        flip_pos and flip_neg, one pair for all rows, or None for clean labels. "estimate" calls
        :func:`decorrupt.estimate_noise_rates`; its assumptions must hold. flip_pos is the share of
        true positives labelled negative, flip_neg the share of true negatives labelled positive.
        Several classes have matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y) instead of pairs: {source:
        T}, or one T for all rows, with rows and columns in the sorted order of the classes in y.
        Two classes can be given either way. Rates passed to `fit` take precedence; they must not
        vary within a source.
    source_priors : mapping, float, vector or None, default=None
        P(Y=1), the same for all sources; for several classes the share of each class. None:
        estimated from the shares of noisy labels.
    kernel : str, callable or Kernel, default="rbf"
        rbf, exponential, laplacian, polynomial, linear, precomputed, knn, pca_rbf, pca8_rbf,
        pca_knn, or a callable that takes two matrices and returns the kernel of all their rows. A
        :class:`decorrupt.Kernel` also sets the rarely changed options: the polynomial's degree, the
        rank or number of features, the memory they may take.
    kernel_gamma : float, "scale" or "auto", default="scale"
        The kernel's width parameter. "scale" is 1/(n_columns·Var X), where Var X is the mean of the
        columns' variances; "auto" is 1/n_columns. The principal components are scaled to the total
        variance of X, so it has the same meaning for them; the knn kernels do not use it. It cannot
        be set if the :class:`decorrupt.Kernel` given as `kernel` has a `gamma`.
    reg_strength : float or "auto", default="auto"
        λ, at least 0; the penalty is λ‖f‖², without a factor ½. "auto" is s/(2·C·n), a Gaussian
        prior on the log-odds with the variance C = 3: n is the number of rows, s the mean of k(x,
        x), 1 for the rbf kernel.
    fit_intercept : bool, default=True
        Whether to add an unpenalised constant to the score.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    solver : {"auto", "newton", "lbfgs"}, default="auto"
        How the objective is minimised. "auto" is Newton's method for few coefficients and rows, and
        L-BFGS otherwise. Several classes need "auto" or "lbfgs".
    tol : float, default=1e-6
        The norm of the gradient at which the solver stops.
    max_iter : int, default=1000
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the kernel's random pivots or random features, and of estimated noise rates.

    Attributes
    ----------
    noisy_mixture_ : ndarray of shape (n_classes, n_classes)
        M.
    noise_rates_ : dict or None
        {source: (flip_pos, flip_neg)}, or {source: T} for several classes, the rates used; None if
        they vary within a source.
    noise_rate_intervals_ : dict or None
        {source: {"flip_pos": (0, high), "flip_neg": (0, high)}}, if rates were estimated; empty
        for several classes.
    source_priors_ : dict
        {source: P(Y=1)}, or {source: share of each class}, given or estimated.
    classes_ : ndarray of shape (n_classes,)
        The labels in sorted order. Of two classes the second is the positive class.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows, computed from `source_priors_`.
    decision_threshold_ : float or ndarray of shape (n_classes,)
        What `predict` subtracts from the raw scores.
    coef_ : ndarray of shape (n_columns,) or (n_classes, n_columns)
        f(x) = ⟨coef_, x⟩ + intercept_ (kernel="linear"), the score of the noisy labels.
    intercept_ : float or ndarray of shape (n_classes,)
        0 without `fit_intercept`.
    dual_coef_, landmarks_ : ndarray
        f(x) = Σ_m dual_coef_[m]·k(x, landmarks_[m]) + intercept_ (other kernels). For the knn
        kernels, f(x) is the weighted mean of dual_coef_ of the 10 nearest landmarks, plus
        intercept_.
    feature_coef_, frequencies_, frequency_centre_ : ndarray
        f(x) = ⟨feature_coef_, z(x)⟩ + intercept_ (random features), where z(x) are the cosines and
        sines of ⟨frequencies_[m], x − frequency_centre_⟩, divided by √m.
    projection_ : ndarray of shape (n_columns, n_components)
        x·projection_ are the coordinates of a pca kernel, and `landmarks_` or `frequencies_` are
        those of the coordinates.
    kernel_gamma_, reg_strength_ : float
        The kernel parameter and λ as numbers.
    kernel_rank_ : int
        Number of columns of the feature matrix.
    kernel_error_ : float
        Error of the kernel approximation: trace(K − ZZᵀ)/trace(K) for landmarks, 0 for
        kernel="linear"; the root mean squared error over a sample of pairs of rows for random
        features; the share of trace(ZZᵀ) that a rank below 101 leaves out for knn.
    n_iter_ : int
        Number of solver iterations.
    solver_ : str
        The solver that was used.
    n_features_in_, feature_names_in_
        Columns seen in fit.

    See Also
    --------
    CostWeightedSourcesClassifier : The same costs with any learner.
    ForwardSourcesClassifier : Models the true classes directly, and takes sources of different
        populations.
    AutoSourcesClassifier : Compares the methods for sources on held-out rows and averages them.

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
        source_priors: Any = None,
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
        self.source_priors = source_priors
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.fit_intercept = fit_intercept
        self.decision = decision
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_classes(self, n_classes: int) -> None:
        if self.costs == "label_dependent":
            only_two_classes(n_classes, "costs='label_dependent'", "set costs='equal'")

    def keep_sources(self, noisy: NoisySources) -> None:
        """Set what is known about the sources, and the mixture of their labels."""
        check_choice("costs", self.costs, COSTS)
        noisy.check_one_population()
        super().keep_sources(noisy)
        self.noisy_mixture_ = noisy_mixture(noisy, label_weights(noisy, self.costs, self.decision))

    def problem(self, observed: Observed) -> Problem:
        """Return weighted logistic regression on the noisy labels, and the way to the true ones."""
        noisy = sources_of(observed)
        weights = label_weights(noisy, self.costs, self.decision)
        coef = weights[noisy.row_source] * np.eye(noisy.n_classes)[noisy.noisy_class]
        if noisy.weights is not None:
            coef = coef * noisy.weights[:, None]
        risk = CorrectedRisk(coef / coef.sum(), class_loss("logistic", noisy.n_classes))
        return Problem(risk, link=partial(true_class_scores, mixture=noisy_mixture(noisy, weights)))

    def _score(self, X: Any) -> FloatArray:
        return true_class_scores(super()._score(X), self.noisy_mixture_)


def label_weights(noisy: NoisySources, costs: str, decision: str) -> FloatArray:
    """Return the weights of noisy labels, one row per source and one column per label."""
    if costs == "equal":
        return np.ones((len(noisy.ids), noisy.n_classes))
    threshold = np.array([decision_threshold(decision, noisy.class_prior)])
    return label_costs(noisy.source_matrices, float(probabilities(threshold)[0, 1]))


def noisy_mixture(noisy: NoisySources, weights: FloatArray) -> FloatArray:
    """Return M[y, ỹ] = Σ_s share_s·weight_s(ỹ)·T_s[y, ỹ], over the sources s."""
    shares = (noisy.sizes / noisy.sizes.sum())[:, None] * weights
    return np.asarray(np.einsum("sn,syn->yn", shares, noisy.source_matrices))


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
