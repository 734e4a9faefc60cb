"""Mean map: logistic regression with an estimated mean operator in place of labels."""

from __future__ import annotations

from typing import Any, ClassVar

from decorrupt.corruption import combine_bags
from decorrupt.estimators._estimator import estimator
from decorrupt.estimators.bags import BagFitMixin
from decorrupt.estimators.corrected_loss import warn_if_overfitted, within_std_error
from decorrupt.estimators.kernel_classifier import KernelClassifier
from decorrupt.observed import Observed
from decorrupt.risks import CorrectedRisk, logistic_risk
from decorrupt.solvers import Problem, Solution


@estimator
class MeanMapClassifier(BagFitMixin, KernelClassifier):
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
    reg_strength : float or "auto", default="auto"
        λ; above 0 unless every bag is pure, because the estimated risk is unbounded below. "auto"
        is s/(2·C·n), a Gaussian prior on f(x) with the variance C = 3: n is the effective sample
        size of the estimated risk, s the mean of k(x, x), 1 for the rbf kernel.

    See Also
    --------
    CountLikelihoodClassifier : Uses the whole counts, not only their means.
    CorrectedLossClassifier : Other combinations of bags, losses and target populations.
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

    needs_common_classes: ClassVar[bool] = True

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

    def _describe(self, observed: Observed, problem: Problem, solution: Solution) -> None:
        risk: Any = problem.risk
        std_error = within_std_error(risk.row_values(solution.scores), observed)
        warn_if_overfitted(solution.risk_value, std_error)
