"""Forward correction: maximum likelihood of noisy labels from sources with known rates."""

from __future__ import annotations

from typing import Any

from decorrupt.estimators.source_classifier import SourceClassifier
from decorrupt.observed import Observed
from decorrupt.risks import noisy_label_risk
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, Problem, prior_start


class ForwardSourcesClassifier(SourceClassifier):
    """Kernel classifier that makes the noisy labels of several sources most likely.

    It minimises −(1/n)·Σ_j log P_i(ỹ_j | x_j) + λ‖f‖² over rows j of all sources i. σ(f) is
    P(Y=1|x) among the training rows of all sources together; for several classes softmax(f)_c is
    P(Y=c|x), and the penalty is 2λ‖f‖². The class prior π_i of a source gives P_i(y|x) ∝
    P(y|x)·π_i(y)/π(y), and its flip rates T_i give P_i(ỹ|x) = Σ_y T_i(y, ỹ)·P_i(y|x).

    The objective is bounded below and weights the sources by their information; there are no
    weights to choose. It assumes that the model can represent P(Y=1|x); the corrected loss of
    :class:`CorruptedSourcesClassifier` is unbiased without this assumption. It is not convex; the
    solver starts from the score of the prior. With one source and without priors it is the forward
    correction of Patrini et al. (2017).

    Parameters
    ----------
    noise_rates : mapping, data frame, pair, matrix, "estimate" or None, default=None
        {source: (flip_pos, flip_neg)}, a data frame with the columns source (or indexed by source),
        flip_pos and flip_neg, one pair for all rows, or None for clean labels. "estimate" calls
        :func:`decorrupt.estimate_noise_rates`; its assumptions must hold. flip_pos is the share of
        true positives labelled negative, flip_neg the share of true negatives labelled positive.
        Several classes have matrices T[y, ỹ] = P(Ỹ=ỹ | Y=y) instead of pairs: {source:
        T}, or one T for all rows, with rows and columns in the sorted order of the classes in y.
        Two classes can be given either way. Rates passed to `fit` take precedence.
    source_priors : mapping, float, vector or None, default=None
        P(Y=1) by source, or one value for all sources; for several classes the share of each class.
        None: all sources are samples of one population, and its prior is estimated from the shares
        of noisy labels; it is used for the balanced decision only.
    kernel : str, callable or Kernel, default="rbf"
        rbf, exponential, laplacian, polynomial, linear, precomputed, knn, pca_rbf, pca8_rbf,
        pca_knn, or a callable that takes two matrices and returns the kernel of all their rows. A
        :class:`decorrupt.Kernel` also sets the rarely changed options: the polynomial's degree, the
        rank, and the memory that the features may take.
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
    match_prior : bool, default=True
        Whether to shift the intercept after training so that the mean probabilities of the training
        rows are their known class shares. Without it the probabilities of a penalised fit are often
        far off: the penalty moves the scores to where the sigmoid is steepest.
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
        Seed of the kernel's random pivots, and of estimated noise rates.

    Attributes
    ----------
    noise_rates_ : dict
        {source: (flip_pos, flip_neg)}, or {source: T} for several classes, the rates used.
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
        f(x) = ⟨coef_, x⟩ + intercept_ (kernel="linear").
    intercept_ : float or ndarray of shape (n_classes,)
        0 without `fit_intercept`.
    dual_coef_, landmarks_ : ndarray
        f(x) = Σ_m dual_coef_[m]·k(x, landmarks_[m]) + intercept_ (other kernels). For the knn
        kernels, f(x) is the weighted mean of dual_coef_ of the 10 nearest landmarks, plus
        intercept_.
    projection_ : ndarray of shape (n_columns, n_components)
        x·projection_ are the coordinates of a pca kernel, and `landmarks_` are coordinates.
    kernel_gamma_, reg_strength_ : float
        The kernel parameter and λ as numbers.
    kernel_rank_ : int
        Number of columns of the feature matrix.
    kernel_error_ : float
        Error of the kernel approximation: trace(K − ZZᵀ)/trace(K) for landmarks, 0 for
        kernel="linear"; the share of trace(ZZᵀ) that a rank below 101 leaves out for knn.
    n_iter_ : int
        Number of solver iterations.
    solver_ : str
        The solver that was used.
    n_features_in_, feature_names_in_
        Columns seen in fit.

    See Also
    --------
    CorruptedSourcesClassifier : Unbiased for any model, with a corrected loss.
    CostWeightedSourcesClassifier : Any learner with weights for noisy labels.
    AutoSourcesClassifier : Compares the methods for sources on held-out rows and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import ForwardSourcesClassifier
    >>> from decorrupt.corruption import corrupt_labels
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 600)                  # not used in training
    >>> X = rng.normal(size=(600, 2)) + 2 * labels[:, None]
    >>> sources = np.where(np.arange(600) < 300, "nurse", "rule")
    >>> rates = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}
    >>> noisy = corrupt_labels(labels, [rates[source] for source in sources], random_state=0)
    >>> model = ForwardSourcesClassifier(noise_rates=rates, reg_strength=0.01, random_state=0)
    >>> bool(model.fit(X, noisy, sources=sources).score(X, labels) > 0.85)
    True
    """

    def __init__(
        self,
        *,
        noise_rates: Any = None,
        source_priors: Any = None,
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        fit_intercept: bool = True,
        match_prior: bool = True,
        decision: str = "balanced",
        solver: Any = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
    ) -> None:
        self.noise_rates = noise_rates
        self.source_priors = source_priors
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.fit_intercept = fit_intercept
        self.match_prior = match_prior
        self.decision = decision
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def problem(self, observed: Observed) -> Problem:
        """Return the likelihood of the noisy labels."""
        prior = observed.class_prior
        return Problem(
            noisy_label_risk(observed, prior),
            prior_start(prior),
            match_prior=prior if self.match_prior else None,
            weights=observed.weights,
        )
