"""Mean map: logistic regression with an estimated mean operator in place of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from decorrupt._typing import FloatArray
from decorrupt.corruption import (
    bag_means,
    check_similarity,
    combine_bags,
    gaussian_similarity,
    laplacian_combination,
)
from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.estimators.diagnostics import (
    describe_overfitting,
    is_overfitted,
    within_std_error,
)
from decorrupt.estimators.kernel_classifier import Fit
from decorrupt.estimators.parameters import check_choice
from decorrupt.exceptions import NegativeRiskWarning
from decorrupt.losses import LogisticLoss, only_two_classes
from decorrupt.observed import Observed
from decorrupt.risks import CorrectedRisk, logistic_risk
from decorrupt.solvers import (
    DEFAULT_MAX_ITER,
    DEFAULT_TOL,
    Problem,
    Solution,
    is_gradient_descent,
)

VARIANTS = ("mean", "laplacian", "alternating")
STARTS = ("mean", "laplacian")


class MeanMapClassifier(BagClassifier):
    """Logistic regression that uses class means estimated from the bags instead of labels.

    It minimises (1/n)·Σ_j log(2·cosh(f_j/2)) − ½⟨θ, m̂⟩ + λ‖θ‖², where m̂ is an estimate of
    E[y·z(x)]. The logistic loss is an even function of f, which needs no labels, minus ½·y·f.
    Labels enter only through the mean operator E[y·z(x)], which is estimated from the bags' means
    and proportions. The objective is convex for all bags, except with "alternating". The variants:

    - "mean": the class means are the same in all bags, and are estimated by least squares weighted
      by bag size (Quadrianto et al. 2009). It equals :class:`CorrectedLossClassifier` with
      ``combine="least_squares", class_prior="pooled"``.
    - "laplacian": every bag has its own class means, which are similar in similar bags (Patrini et
      al. 2014); see `decorrupt.corruption.laplacian_combination`.
    - "alternating": start from one of the above; label the round(p_k·n_k) rows of every bag with
      the highest scores as positive; refit with logistic regression; repeat until no label changes
      (Patrini et al. 2014). Each step lowers min_labels (1/n)·Σ_j log(1+exp(−y_j f_j)) + λ‖θ‖²,
      which is not convex.

    For several classes only "mean" is available, with softmax cross-entropy and the penalty 2λ‖θ‖².

    Parameters
    ----------
    variant : {"mean", "laplacian", "alternating"}, default="mean"
        How the mean operator is estimated.
    start : {"mean", "laplacian"}, default="mean"
        Where "alternating" starts.
    similarity : "gaussian" or array of shape (n_bags, n_bags), default="gaussian"
        For "laplacian": how similar the class means of two bags are, with the bags in sorted order
        of their ids. The matrix is symmetric, not negative, dense or sparse; its scale does not
        matter. "gaussian" is exp(−‖mean_k − mean_l‖²/σ²) of the bags' means in feature space, where
        σ² is their mean squared distance; with more than 5,000 bags only the 100 nearest bags of
        each bag are used.
    smoothness : float, default=1.0
        For "laplacian": how strongly the class means of similar bags are pulled together; → ∞ gives
        "mean".
    max_rounds : int, default=100
        Maximum number of refits of "alternating".
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
        size of the estimated risk, s the mean of k(x, x), 1 for the rbf kernel. "alternating" has
        the λ of its start.
    fit_intercept : bool, default=True
        Whether to add an unpenalised constant to the score.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    solver : {"auto", "newton", "lbfgs", "gradient_descent"} or GradientDescent, default="auto"
        How the objective is minimised. "auto" is Newton's method for few coefficients and rows, and
        L-BFGS otherwise. A :class:`decorrupt.solvers.GradientDescent` sets the length of its steps.
        Several classes need "auto" or "lbfgs".
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
    labels_ : ndarray of shape (n_rows,)
        "alternating" only: the final label of each training row.
    n_rounds_ : int
        "alternating" only: the number of refits.
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
        Number of solver iterations, over all refits.
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
    >>> model = MeanMapClassifier(variant="alternating", reg_strength=0.01, random_state=0)
    >>> model = model.fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    needs_common_classes = True

    def __init__(
        self,
        *,
        variant: str = "mean",
        start: str = "mean",
        similarity: Any = "gaussian",
        smoothness: float = 1.0,
        max_rounds: int = 100,
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
        self.variant = variant
        self.start = start
        self.similarity = similarity
        self.smoothness = smoothness
        self.max_rounds = max_rounds
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

    def problem_over(
        self,
        observed: Observed,
        matrix: Any,
        reg_strengths: Sequence[float],  # noqa: ARG002
    ) -> Problem:
        """Return the risk of the estimated mean operator; of "alternating", that of its start."""
        combination, converged = self.combination(observed, lambda: bag_means(matrix, observed))
        risk = logistic_risk(combination, observed)
        return Problem(risk, n_rows=risk.effective_sample_size, details={"converged": converged})

    def combination(
        self, observed: Observed, means: Callable[[], FloatArray]
    ) -> tuple[FloatArray, bool]:
        """Return the combination of bag means, and whether its solver converged.

        `means` computes the features of the bags' means, which only "laplacian" needs.
        """
        variant = self.start if self.variant == "alternating" else self.variant
        sizes, proportions = observed.sizes, observed.proportions
        if variant == "mean":
            least_squares = {"method": "least_squares", "class_prior": "pooled"}
            return combine_bags(sizes, proportions, **least_squares), True
        if isinstance(self.similarity, str):
            if self.similarity != "gaussian":
                raise ValueError(
                    f"unknown similarity {self.similarity!r}: give 'gaussian' or a matrix"
                )
            similarity = gaussian_similarity(means())
        else:
            similarity = check_similarity(self.similarity, len(sizes))
        weights = sizes.astype(float)
        return laplacian_combination(weights, proportions[:, 1], similarity, self.smoothness)

    def _check_classes(self, n_classes: int) -> None:
        if self.variant != "mean":
            only_two_classes(n_classes, f"variant={self.variant!r}", "use variant='mean'")

    def _check_parameters(self) -> None:
        check_choice("variant", self.variant, VARIANTS)
        check_choice("start", self.start, STARTS)

    @property
    def has_path(self) -> bool:
        """Whether a λ path replaces separate fits: not for "alternating", whose labels vary."""
        return bool(self.variant != "alternating")

    def _check_problem(self, problem: Problem, matrix: Any) -> None:  # noqa: ARG002
        self.check_bounded(problem.risk)  # type: ignore[arg-type]

    def check_bounded(self, risk: CorrectedRisk) -> None:
        """Raise ValueError if the risk has no minimum without a penalty, and there is none."""
        # Unless all bags are pure, the bag with the lowest proportion has a negative coefficient.
        has_minimum = self.reg_strength_ > 0 or risk.is_bounded_below
        if has_minimum or is_gradient_descent(self.solver):
            return
        raise ValueError(
            f"reg_strength={self.reg_strength_!r} with bags that are not pure: the estimated risk "
            "is unbounded below, so it has no minimum. Set reg_strength above 0"
        )

    def _describe(self, fit: Fit) -> None:
        if not fit.problem.details["converged"]:
            self.note_similarity()
        if self.variant != "alternating":
            risk: Any = fit.problem.risk
            std_error = within_std_error(risk.row_values(fit.solution.scores), fit.observed)
            self.note_overfitting(fit.solution.risk_value, std_error)

    def note_similarity(self) -> None:
        """Note that the class means of the bags were not computed to the end."""
        self._note(
            ConvergenceWarning,
            f"the solver for the bags' class means did not converge at "
            f"smoothness={self.smoothness:g}: raise smoothness, or give a similarity that "
            "connects the bags",
        )

    def note_overfitting(self, risk_value: float, std_error: float) -> None:
        """Note a training risk far below zero."""
        if is_overfitted(risk_value, std_error):
            self._note(NegativeRiskWarning, describe_overfitting(risk_value, std_error))

    def _refined(self, solution: Solution, observed: Observed) -> Solution:
        """Label and refit in turn, from the solution on; keep the model with stable labels."""
        if self.variant != "alternating":
            return solution
        counts = positives_per_bag(observed)
        is_pos = label_top_rows(solution.scores, observed, counts)
        rounds: list[tuple[bool, float, Solution, FloatArray]] = []
        n_iter, seen, is_over = solution.result.n_iter, set(), False
        while not is_over and len(rounds) < self.max_rounds:
            seen.add(is_pos.tobytes())
            solution = self._refit(solution, is_pos, observed)
            n_iter += solution.result.n_iter
            relabelled = label_top_rows(solution.scores, observed, counts)
            changes = not np.array_equal(relabelled, is_pos)
            rounds.append((changes, solution.result.objective, solution, is_pos))
            # Each round lowers the objective, so earlier labels recur only through rounding errors.
            is_over = relabelled.tobytes() in seen
            is_pos = relabelled
        if not is_over:
            self._note(
                ConvergenceWarning,
                f"the labels still changed after max_rounds={self.max_rounds} refits; the best "
                "round is kept. Raise max_rounds or reg_strength",
            )
        _, _, best, is_pos = min(rounds, key=lambda each: each[:2])
        self.labels_ = self.classes_[(is_pos > 0.5).astype(np.intp)]
        self.n_rounds_ = len(rounds)
        return replace(best, result=replace(best.result, n_iter=n_iter))

    def _refit(self, solution: Solution, is_pos: FloatArray, observed: Observed) -> Solution:
        """Return logistic regression on these labels, started at a solution."""
        coef = np.column_stack([1 - is_pos, is_pos]) / observed.n_rows
        coef = coef if observed.weights is None else coef * observed.weights[:, None]
        problem = Problem(CorrectedRisk(coef, LogisticLoss()), lambda _: solution.result.coef)
        return self._solve(problem, solution.objective.features, observed)


def positives_per_bag(observed: Observed) -> NDArray[np.intp]:
    """Return round(p_k·n_k).

    Raises
    ------
    ValueError
        If all rows would have the same label: a classifier needs two classes.
    """
    counts: NDArray[np.intp] = np.rint(observed.proportions[:, 1] * observed.sizes).astype(np.intp)
    if not 0 < counts.sum() < observed.n_rows:
        raise ValueError(
            "every bag's p_k·n_k rounds to " + ("0" if counts.sum() == 0 else "its size") + ", so "
            "variant='alternating' would give all rows the same label; use larger bags or "
            "variant='mean'"
        )
    return counts


def label_top_rows(scores: FloatArray, observed: Observed, counts: NDArray[np.intp]) -> FloatArray:
    """Return 1 for the counts[k] highest scores of bag k, and 0 for its other rows.

    Of the rows that one row represents, only a share may be among the highest.
    """
    order = np.lexsort((-scores, observed.row_bag))
    bag = observed.row_bag[order]
    weights = np.ones(len(scores)) if observed.weights is None else observed.weights[order]
    before = np.cumsum(weights) - weights - (np.cumsum(observed.sizes) - observed.sizes)[bag]
    is_pos = np.empty(len(scores))
    is_pos[order] = np.clip((counts[bag] - before) / weights, 0.0, 1.0)
    return is_pos
