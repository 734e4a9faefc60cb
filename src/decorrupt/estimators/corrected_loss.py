"""The corrected-loss classifier for bags with known label proportions."""

from __future__ import annotations

from typing import Any

from decorrupt._typing import FloatArray
from decorrupt.corruption import combine_bags, row_coefficients
from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.estimators.corrected_risk import CorrectedRiskClassifier
from decorrupt.observed import Observed, resolve_class_prior
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, Problem


class CorrectedLossClassifier(CorrectedRiskClassifier, BagClassifier):
    """Kernel classifier that estimates the usual training loss from the proportions of bags.

    It minimises Σ_k a_k·mean_k ℓ(f,1) + b_k·mean_k ℓ(f,−1) + λ‖f‖² over bags k. The sum is an
    unbiased estimate of the risk π·E₊ℓ(f,1) + (1−π)·E₋ℓ(f,−1); `combine` chooses the coefficients a
    and b. With the default π = ½ it is the balanced risk of Scott & Zhang (2019), Secs. 3 and 4.
    The sum is a noisy estimate, so its scores are not log-odds, and there is no `predict_proba`:
    :class:`AutoLabelProportionsClassifier` with candidates=["corrected_loss"] calibrates them.

    For several classes the loss is softmax cross-entropy, ℓ_c(f) = log Σ exp(f) − f_c, and the bags
    are combined by least squares; other losses and solvers are for two classes. The penalty is then
    2λ‖f‖², which for two classes is λ‖f‖² of the log-odds.

    Parameters
    ----------
    loss : str, default="logistic"
        One of `decorrupt.losses.LOSSES`: logistic, squared, huber, sigmoid.
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
        λ; the penalty is λ‖f‖², without a factor ½. "auto" is s/(2·C·n), a Gaussian prior on f(x)
        with the variance C = 3: n is the effective sample size (4V for combine="superbag", see
        `diagnostics_`), s the mean of k(x, x), 1 for the rbf kernel. Twice the smallest λ with a
        minimum, if that is larger (loss="squared" only).
    combine : str, default="auto"
        How bags are combined into a risk, see :func:`decorrupt.corruption.combine_bags`:
        "superbag", "pairs" or "least_squares". "pairs" is the paper's method; "superbag" has a
        smaller error bound than any pairing. "auto" is "superbag" for two classes and
        "least_squares" for several.
    class_prior : float in (0, 1), array-like of shape (n_classes,) or "pooled", default=0.5
        π, the share of positives in the target population of the risk; "pooled" is the share among
        the training rows. For several classes: one share per class, or 0.5 for the same share of
        every class.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in a population with
        `class_prior`. Both are the same for class_prior=0.5.
    risk_correction : {None, "abs", "relu"}, default=None
        How the sums of the classes are kept from being negative.
    fit_intercept : bool, default=True
        Whether to add an unpenalised constant to the score. The paper's method has no intercept,
        and `diagnostics_` has a generalisation bound only without it.
    solver : {"auto", "newton", "lbfgs"}, default="auto"
        How the objective is minimised. "auto" is Newton's method for few coefficients and rows, and
        L-BFGS otherwise. Several classes need "auto" or "lbfgs".
    tol : float, default=1e-6
        The norm of the gradient at which the solver stops.
    max_iter : int, default=1000
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the kernel's random pivots.
    check_assumptions : bool, default=True
        Whether `fit` warns if the rows of a class clearly differ between bags.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        After training on bags: the column names of y, or 0, 1, …; otherwise the labels. Of two
        classes the second is the positive class.
    diagnostics_ : Diagnostics
        Effective sample size, training risk and convexity.
    class_prior_ : ndarray of shape (n_classes,)
        π, one share per class.
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
    MeanMapClassifier : The same with combine="least_squares" and class_prior="pooled".
    CountLikelihoodClassifier : Uses the counts of the bags, and does not assume that the rows of a
        class look the same in every bag.
    AutoLabelProportionsClassifier : Compares the methods on held-out bags and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import CorrectedLossClassifier, bag_targets
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = CorrectedLossClassifier(reg_strength=0.01, random_state=0)
    >>> model = model.fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    needs_common_classes = True
    class_combinations = ("auto", "least_squares")

    @property
    def has_log_odds(self) -> bool:
        """Whether the scores are log-odds: they overfit a noisy risk, and mislead if (A) fails."""
        return False

    def __init__(
        self,
        *,
        loss: Any = "logistic",
        kernel: Any = "rbf",
        kernel_gamma: float | str = "scale",
        reg_strength: float | str = "auto",
        combine: str = "auto",
        class_prior: float | str = 0.5,
        decision: str = "balanced",
        risk_correction: str | None = None,
        fit_intercept: bool = True,
        solver: Any = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int = DEFAULT_MAX_ITER,
        random_state: Any = None,
        check_assumptions: bool = True,
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.combine = combine
        self.class_prior = class_prior
        self.decision = decision
        self.risk_correction = risk_correction
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.check_assumptions = check_assumptions

    def problem(self, observed: Observed) -> Problem:
        """Return the corrected risk of the combined bags."""
        coef = self.combine_observed(observed)
        dropped = observed.ids[(coef == 0).all(axis=1)].tolist()
        by_row = row_coefficients(coef, observed)
        return self.corrected_problem(by_row, observed.weights, dropped=dropped)

    def combine_observed(self, observed: Observed) -> FloatArray:
        """Return the coefficient of every bag and class."""
        return combine_bags(
            observed.sizes,
            observed.proportions,
            method=self.combine,
            class_prior=self.class_prior,
        )

    def class_prior_of(self, observed: Observed) -> FloatArray:
        """Return the class shares in the target population of the risk."""
        return resolve_class_prior(self.class_prior, observed.class_prior)
