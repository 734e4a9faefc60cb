"""The corrected loss: its base class, diagnostics, and the estimator for bags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import combine_bags, row_coefficients
from decorrupt.estimators._estimator import estimator
from decorrupt.estimators.bags import BagFitMixin
from decorrupt.estimators.kernel_classifier import KernelClassifier
from decorrupt.estimators.parameters import AUTO
from decorrupt.estimators.score_classifier import decision_threshold
from decorrupt.exceptions import DroppedBagsWarning, NegativeRiskWarning, NonConvexRiskWarning, warn
from decorrupt.losses import MarginLoss, class_loss, only_two_classes
from decorrupt.observed import BALANCED, Observed, resolve_class_prior
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import (
    Problem,
    Solution,
    SolverResult,
    convexity_floor,
    is_minimum,
    least_admissible_reg,
)

NO_PARTNER = "without a partner of another proportion"
AT_THE_MEAN = "at the pooled proportion, where a bag has no information"


@dataclass(frozen=True)
class Diagnostics:
    """Numbers that describe a fit with a corrected loss.

    Attributes
    ----------
    n_bags : int
        Number of bags; of sources, the rows of one source and noisy label are a bag.
    n_dropped : int
        Number of bags without weight in the risk.
    effective_sample_size : float
        Number of clean labelled rows with the same generalisation bound.
    training_risk : float
        The corrected risk at the solution, without penalty and risk correction.
    risk_std_error : float
        Its standard error, for rows drawn at random within their bags.
    is_convex : bool
        Whether the objective is known to be convex at the λ of this fit.
    convexity_floor : float
        The objective is convex for every λ from this value on; 0 if every row's term is convex.
    converged : bool
        Whether the solver reached its tolerance.
    gradient_norm : float
        ‖∇‖ at the solution.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import CorrectedLossClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels, bags = rng.integers(0, 2, 400), np.arange(400) // 10
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> y = np.bincount(bags, labels)[bags] / 10
    >>> found = CorrectedLossClassifier(random_state=0).fit(X, y, bags=bags).diagnostics_
    >>> found.n_bags, found.n_dropped, found.is_overfitted
    (40, 0, False)
    """

    n_bags: int
    n_dropped: int
    effective_sample_size: float
    training_risk: float
    risk_std_error: float
    is_convex: bool
    convexity_floor: float
    converged: bool
    gradient_norm: float

    @property
    def is_overfitted(self) -> bool:
        """Whether the training risk is below zero by more than its noise explains."""
        return is_overfitted(self.training_risk, self.risk_std_error)


def within_std_error(row_terms: FloatArray, observed: Observed) -> float:
    """Return √Σ_k n_k·Var_k of one term per row, Var_k their variance within bag k.

    The variance in a bag of one row cannot be estimated and counts as 0; if all bags have one row,
    it is that of all rows. The term of a row that represents several is the sum of theirs.
    """
    sizes, row_bag = observed.sizes, observed.row_bag
    if observed.n_bags == len(row_terms) > 1:
        return float(np.sqrt(len(row_terms)) * np.std(row_terms, ddof=1))
    if observed.weights is not None:
        row_terms = row_terms / observed.weights
    means = observed.sum_by_bag(row_terms) / sizes
    squares = observed.sum_by_bag((row_terms - means[row_bag]) ** 2)
    return float(np.sqrt(np.sum(squares * sizes / np.maximum(sizes - 1, 1))))


def is_overfitted(risk: float, std_error: float) -> bool:
    """Return whether a corrected risk is below zero by more than two standard errors.

    A small true risk has estimates below zero half of the time.
    """
    return risk < -2 * std_error


def warn_if_overfitted(risk: float, std_error: float, remedy: str = "") -> None:
    """Warn of a corrected risk far below zero."""
    if is_overfitted(risk, std_error):
        warn(
            f"the corrected training risk is {risk:.3g}, below zero by more than two standard "
            f"errors ({std_error:.2g}). A true risk cannot be negative: the model overfits. Raise "
            f"reg_strength{remedy}",
            NegativeRiskWarning,
        )


@estimator
class CorrectedRiskClassifier(KernelClassifier):
    """Base class of the classifiers with a corrected loss.

    They minimise Σ_j Σ_c coef[j, c]·ℓ_c(f_j) + λ‖f‖² for given coefficients. Subclasses have the
    parameters `combine` and `class_prior`, define `coefficients`, and may define
    `described_bags`, the bags that the coefficients combine.

    Parameters
    ----------
    loss : str, default="logistic"
        One of `decorrupt.losses.LOSSES`: logistic, squared, huber, sigmoid. Several classes need
        "logistic", which is softmax cross-entropy.
    reg_strength : float or "auto", default="auto"
        λ; the penalty is λ‖f‖², without a factor ½. "auto" is s/(2·C·n), a Gaussian prior on f(x)
        with the variance C = 3: n is the effective sample size (4V for combine="superbag", see
        `diagnostics_`), s the mean of k(x, x), 1 for the rbf kernel. Twice the smallest λ with a
        minimum, if that is larger (loss="squared" only).
    risk_correction : {None, "abs", "relu"}, default=None
        How the sums of the classes are kept from being negative.
    fit_intercept : bool, default=True
        Whether to add an unpenalised constant to the score. The paper's method has no intercept,
        and the generalisation bounds hold only without it.

    Attributes
    ----------
    diagnostics_ : Diagnostics
        Effective sample size, training risk and convexity.
    class_prior_ : ndarray of shape (n_classes,)
        The class shares in the target population of the risk.
    """

    loss: Any = "logistic"
    risk_correction: str | None = None

    # Values of `combine` for more than two classes.
    class_combinations: ClassVar[tuple[str, ...]]

    def coefficients(self, observed: Observed) -> FloatArray:
        """Return the coefficient of every row and class."""
        raise NotImplementedError

    def described_bags(self, observed: Observed) -> Observed:
        """Return the bags that the coefficients combine."""
        return observed

    def problem(self, observed: Observed) -> Problem:
        """Return the corrected risk."""
        return self.corrected_problem(self.coefficients(observed), observed.weights)

    def corrected_problem(self, coef: FloatArray, weights: Any = None) -> Problem:
        """Return the problem of a corrected risk with these coefficients of rows and classes."""
        loss = class_loss(self.loss, coef.shape[1])
        risk = CorrectedRisk(coef, loss, self.risk_correction, weights)
        return Problem(risk, n_rows=risk.effective_sample_size)

    def threshold(self, class_prior: FloatArray) -> Any:
        """Return what `predict` subtracts from scores at these class shares."""
        loss = class_loss(self.loss, len(class_prior))
        score_at = loss.score_at if isinstance(loss, MarginLoss) else None
        return decision_threshold(self.decision, class_prior, score_at)

    def check_classes(self, n_classes: int) -> None:
        """Raise ValueError if the loss or `combine` is for two classes only."""
        class_loss(self.loss, n_classes)
        if self.combine not in self.class_combinations:
            names = " or ".join(map(repr, self.class_combinations))
            only_two_classes(n_classes, f"combine={self.combine!r}", f"choose {names}")

    def _check_problem(self, problem: Problem, matrix: Any) -> None:
        self.check_bounded(problem.risk)  # type: ignore[arg-type]
        if self.risk_correction is not None:
            return
        risk: Any = problem.risk
        least = least_admissible_reg(matrix, risk, fit_intercept=self.fit_intercept)
        if self.reg_strength == AUTO and np.isfinite(least):
            self.reg_strength_ = max(self.reg_strength_, 2 * least)
        if least and self.reg_strength_ <= least:
            raise ValueError(
                f"reg_strength={self.reg_strength_:g} is too small for the {risk.loss.name} loss: "
                f"the negative curvature of its corrected risk exceeds that of the penalty, so the "
                f"objective is unbounded below. Set reg_strength above {least:.3g}, "
                "or loss='logistic'"
            )

    def check_bounded(self, risk: CorrectedRisk) -> None:
        """Raise ValueError if the risk has no minimum without a penalty, and there is none."""
        if self.risk_correction is not None or self.reg_strength_ > 0 or risk.is_bounded_below:
            return
        raise ValueError(
            f"reg_strength=0 with the {risk.loss.name} loss: the corrected risk has negative "
            "coefficients and is unbounded below, so it has no minimum. Set reg_strength above 0, "
            "risk_correction='abs', or the bounded loss='sigmoid'"
        )

    def _describe(self, observed: Observed, problem: Problem, solution: Solution) -> None:
        risk: Any = problem.risk
        matrix, scores = solution.objective.features, solution.scores
        bags = self.described_bags(observed)
        has_weight = bags.sum_by_bag((risk.coef != 0).any(axis=1).astype(float)) > 0
        self.set_diagnostics(
            bags.ids[~has_weight].tolist(),
            bags.n_bags,
            risk,
            solution.result,
            training_risk=float(risk.loss.class_sums(risk.coef, scores).sum()),
            risk_std_error=within_std_error(risk.row_values(scores), bags),
            convexity_floor=convexity_floor(matrix, risk, fit_intercept=self.fit_intercept),
        )
        if self.risk_correction is not None:
            return
        self.warn_if_overfitted()
        if not self.diagnostics_.is_convex and not is_minimum(
            matrix, risk, scores, self.reg_strength_, fit_intercept=self.fit_intercept
        ):
            warn(
                f"the objective is not convex at reg_strength={self.reg_strength_:g}, and the "
                "solver did not stop at a minimum. "
                f"{_convex_from(self.diagnostics_.convexity_floor)}. "
                "class_prior='pooled' with combine='least_squares' also makes it convex",
                NonConvexRiskWarning,
            )

    def set_diagnostics(
        self,
        dropped: list[Any],
        n_bags: int,
        risk: CorrectedRisk,
        result: SolverResult,
        *,
        training_risk: float,
        risk_std_error: float,
        convexity_floor: float,
    ) -> None:
        """Set `diagnostics_`, and warn of bags without weight.

        Parameters
        ----------
        dropped : list
            The ids of bags without weight.
        n_bags : int
            All bags.
        risk : CorrectedRisk
            The risk, or that of one entry per bag.
        result : SolverResult
            The solution.
        training_risk, risk_std_error, convexity_floor : float
            See :class:`Diagnostics`.
        """
        self.diagnostics_ = Diagnostics(
            n_bags=n_bags,
            n_dropped=len(dropped),
            effective_sample_size=risk.effective_sample_size,
            training_risk=training_risk,
            risk_std_error=risk_std_error,
            is_convex=self.reg_strength_ >= convexity_floor,
            convexity_floor=convexity_floor,
            converged=result.converged,
            gradient_norm=result.gradient_norm,
        )
        if dropped:
            reason = NO_PARTNER if self.combine == "pairs" else AT_THE_MEAN
            warn(
                f"{len(dropped)} bags {reason} (the first: {dropped[0]!r}): their rows are not "
                "used",
                DroppedBagsWarning,
            )

    def warn_if_overfitted(self) -> None:
        """Warn of a training risk far below zero."""
        numbers = self.diagnostics_
        warn_if_overfitted(
            numbers.training_risk, numbers.risk_std_error, ", or set risk_correction='abs'"
        )


def _convex_from(floor: float) -> str:
    if floor == float("inf"):
        return (
            "With an intercept no reg_strength guarantees convexity; with fit_intercept=False a "
            "large one does"
        )
    return f"It is convex from reg_strength={floor:.3g} on"


@estimator
class CorrectedLossClassifier(BagFitMixin, CorrectedRiskClassifier):
    """Kernel classifier that estimates the usual training loss from the proportions of bags.

    It minimises Σ_k a_k·mean_k ℓ(f,1) + b_k·mean_k ℓ(f,−1) + λ‖f‖² over bags k. The sum is an
    unbiased estimate of the risk π·E₊ℓ(f,1) + (1−π)·E₋ℓ(f,−1); `combine` chooses the coefficients a
    and b. With the default π = ½ it is the balanced risk of Scott & Zhang (2019), Secs. 3 and 4.
    The sum is a noisy estimate, so its scores are not log-odds, and there is no `predict_proba`:
    :class:`AutoLabelProportionsClassifier` with candidates=["corrected_loss"] calibrates them.

    For several classes the loss is softmax cross-entropy, ℓ_c(f) = log Σ exp(f) − f_c, and the bags
    are combined by least squares; other losses are for two classes. The penalty is then 2λ‖f‖²,
    which for two classes is λ‖f‖² of the log-odds.

    Parameters
    ----------
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

    Attributes
    ----------
    class_prior_ : ndarray of shape (n_classes,)
        π, one share per class.

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

    combine: str = "auto"
    class_prior: Any = BALANCED

    needs_common_classes: ClassVar[bool] = True
    class_combinations: ClassVar[tuple[str, ...]] = ("auto", "least_squares")

    @property
    def has_log_odds(self) -> bool:
        """Whether the scores are log-odds: they overfit a noisy risk, and mislead if (A) fails."""
        return False

    def coefficients(self, observed: Observed) -> FloatArray:
        """Return the coefficient of every row and class."""
        combination = combine_bags(
            observed.sizes,
            observed.proportions,
            method=self.combine,
            class_prior=self.class_prior,
        )
        return row_coefficients(combination, observed)

    def class_prior_of(self, observed: Observed) -> FloatArray:
        """Return the class shares in the target population of the risk."""
        return resolve_class_prior(self.class_prior, observed.class_prior)
