"""Set classification (Uᵐ): learn from the classification of rows into bags."""

from __future__ import annotations

from typing import Any

from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.observed import Observed
from decorrupt.risks import set_risk
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, Problem, prior_start


class SetClassifier(BagClassifier):
    """Kernel classifier that learns the classes by predicting which bag each row is in.

    It minimises −(1/n)·Σ_j log P(bag(j) | x_j) + λ‖f‖². With g = σ(f(x)) = P(Y=1|x) among the
    training rows, whose share of positives is γ̄,

        P(bag = k | x) = (n_k/n)·[ (p_k/γ̄)·g + ((1−p_k)/(1−γ̄))·(1−g) ],

    the set classification of Lu et al. (2021), *Binary classification from multiple unlabeled
    datasets via surrogate set classification*. For several classes the sum is over all of them,
    with softmax(f) and the penalty 2λ‖f‖². It works with any number and size of bags and is bounded
    below. It assumes that bags differ only in their proportions: rows of one class have the same
    distribution in all bags. It is not convex unless every bag is pure; the solver starts from the
    score of the prior.

    Parameters
    ----------
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
        Seed of the kernel's random pivots or random features.
    check_assumptions : bool, default=True
        Whether `fit` warns if the rows of a class clearly differ between bags.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        After training on bags: the column names of y, or 0, 1, …; otherwise the labels. Of two
        classes the second is the positive class.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares among the training rows.
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
    CorrectedLossClassifier : Makes the same assumption, and is unbiased for any model.
    CountLikelihoodClassifier : Does not assume that the rows of a class look the same in every bag.
    AutoLabelProportionsClassifier : Compares the methods on held-out bags and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import SetClassifier, bag_targets
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = SetClassifier(reg_strength=0.01, random_state=0)
    >>> model = model.fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    needs_common_classes = True

    def __init__(
        self,
        *,
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
        check_assumptions: bool = True,
    ) -> None:
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
        self.check_assumptions = check_assumptions

    def problem(self, observed: Observed) -> Problem:
        """Return the likelihood of the rows' bags."""
        return Problem(
            set_risk(observed),
            prior_start(observed.class_prior),
            match_prior=observed.class_prior if self.match_prior else None,
            weights=observed.weights,
        )
