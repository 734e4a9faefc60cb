"""Mean map: logistic regression with an estimated mean operator in place of labels."""

from __future__ import annotations

from typing import Any

from decorrupt.corruption import combine_bags
from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.estimators.diagnostics import (
    describe_overfitting,
    is_overfitted,
    within_std_error,
)
from decorrupt.estimators.kernel_classifier import Fit
from decorrupt.exceptions import NegativeRiskWarning
from decorrupt.observed import Observed
from decorrupt.risks import CorrectedRisk, logistic_risk
from decorrupt.solvers import DEFAULT_MAX_ITER, DEFAULT_TOL, Problem


class MeanMapClassifier(BagClassifier):
    """Logistic regression that uses class means estimated from the bags instead of labels.

    It minimises (1/n)·Σ_j log(2·cosh(f_j/2)) − ½⟨θ, m̂⟩ + λ‖θ‖², where m̂ is an estimate of
    E[y·z(x)]. The logistic loss is an even function of f, which needs no labels, minus ½·y·f.
    Labels enter only through the mean operator E[y·z(x)], which is estimated from the bags' means
    and proportions: the class means are the same in all bags, and are estimated by least squares
    weighted by bag size (Quadrianto et al. 2009). The objective is convex for all bags. It equals
    that of :class:`CorrectedLossClassifier` with ``combine="least_squares", class_prior="pooled"``.
    For several classes it has softmax cross-entropy and the penalty 2λ‖θ‖².

    Parameters
    ----------
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
        λ; above 0 unless every bag is pure, because the estimated risk is unbounded below. "auto"
        is s/(2·C·n), a Gaussian prior on f(x) with the variance C = 3: n is the effective sample
        size of the estimated risk, s the mean of k(x, x), 1 for the rbf kernel.
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
        Seed of the kernel's random pivots.
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
    CorrectedLossClassifier : Other combinations of bags, losses and target populations.
    CountLikelihoodClassifier : Uses all information in the counts, not only the means of the bags.
    AutoLabelProportionsClassifier : Compares the methods on held-out bags and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import MeanMapClassifier, bag_targets
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = MeanMapClassifier(reg_strength=0.01, random_state=0)
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
        self.decision = decision
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.check_assumptions = check_assumptions

    def problem(self, observed: Observed) -> Problem:
        """Return the risk of the estimated mean operator."""
        combination = combine_bags(
            observed.sizes, observed.proportions, method="least_squares", class_prior="pooled"
        )
        risk = logistic_risk(combination, observed)
        return Problem(risk, n_rows=risk.effective_sample_size)

    def _check_problem(self, problem: Problem, matrix: Any) -> None:  # noqa: ARG002
        self.check_bounded(problem.risk)  # type: ignore[arg-type]

    def check_bounded(self, risk: CorrectedRisk) -> None:
        """Raise ValueError if the risk has no minimum without a penalty, and there is none."""
        # Unless all bags are pure, the bag with the lowest proportion has a negative coefficient.
        if self.reg_strength_ > 0 or risk.is_bounded_below:
            return
        raise ValueError(
            f"reg_strength={self.reg_strength_!r} with bags that are not pure: the estimated risk "
            "is unbounded below, so it has no minimum. Set reg_strength above 0"
        )

    def _describe(self, fit: Fit) -> None:
        risk: Any = fit.problem.risk
        std_error = within_std_error(risk.row_values(fit.solution.scores), fit.observed)
        self.note_overfitting(fit.solution.risk_value, std_error)

    def note_overfitting(self, risk_value: float, std_error: float) -> None:
        """Note a training risk far below zero."""
        if is_overfitted(risk_value, std_error):
            self._note(NegativeRiskWarning, describe_overfitting(risk_value, std_error))
