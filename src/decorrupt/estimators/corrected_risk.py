"""Base class of the corrected-loss classifiers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.estimators.default_strength import AUTO
from decorrupt.estimators.diagnostics import (
    Diagnostics,
    describe_overfitting,
    within_std_error,
)
from decorrupt.estimators.kernel_classifier import Fit, KernelClassifier
from decorrupt.estimators.score_classifier import decision_threshold
from decorrupt.exceptions import DroppedBagsWarning, NegativeRiskWarning, NonConvexRiskWarning
from decorrupt.losses import MarginLoss, class_loss, only_two_classes
from decorrupt.observed import Observed
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import (
    Problem,
    SolverResult,
    convexity_floor,
    is_minimum,
    least_admissible_reg,
)

NO_PARTNER = "without a partner of another proportion"
AT_THE_MEAN = "at the pooled proportion, where a bag has no information"


class CorrectedRiskClassifier(KernelClassifier):
    """Base class of the classifiers with a corrected loss.

    They minimise Σ_j Σ_c coef[j, c]·ℓ_c(f_j) + λ‖f‖² for given coefficients. Subclasses have the
    parameters `loss`, `combine`, `class_prior` and `risk_correction`, define `problem`
    with :meth:`corrected_problem`, and `described_bags`, the bags that the coefficients combine.
    """

    diagnostics_: Diagnostics
    # Values of `combine` for more than two classes.
    class_combinations: ClassVar[tuple[str, ...]]

    def described_bags(self, observed: Observed) -> Observed:
        """Return the bags that the coefficients combine."""
        return observed

    def corrected_problem(self, coef: FloatArray, weights: Any = None, **details: Any) -> Problem:
        """Return the problem of a corrected risk with these coefficients of rows and classes."""
        loss = class_loss(self.loss, coef.shape[1])
        risk = CorrectedRisk(coef, loss, self.risk_correction, weights)
        return Problem(risk, n_rows=risk.effective_sample_size, details=details)

    def _threshold(self, class_prior: FloatArray) -> Any:
        loss = class_loss(self.loss, len(class_prior))
        score_at = loss.score_at if isinstance(loss, MarginLoss) else None
        return decision_threshold(self.decision, class_prior, score_at)

    def _check_classes(self, n_classes: int) -> None:
        class_loss(self.loss, n_classes)
        if self.combine not in self.class_combinations:
            known = " or ".join(map(repr, self.class_combinations))
            only_two_classes(n_classes, f"combine={self.combine!r}", f"choose {known}")

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

    def _describe(self, fit: Fit) -> None:
        risk: Any = fit.problem.risk
        matrix, scores = fit.features.matrix, fit.solution.scores
        bags = self.described_bags(fit.observed)
        self.set_diagnostics(
            bags,
            fit.problem,
            fit.solution.result,
            training_risk=float(risk.loss.class_sums(risk.coef, scores).sum()),
            risk_std_error=within_std_error(risk.row_values(scores), bags),
            convexity_floor=convexity_floor(matrix, risk, fit_intercept=self.fit_intercept),
        )
        if self.risk_correction is None:
            self._note_risk(risk, matrix, scores)

    def set_diagnostics(
        self,
        bags: Observed,
        problem: Problem,
        result: SolverResult,
        *,
        training_risk: float,
        risk_std_error: float,
        convexity_floor: float,
    ) -> None:
        """Set `diagnostics_`, and note bags without weight.

        Parameters
        ----------
        bags : Observed
            The bags that the risk combines.
        problem : Problem
            Its details contain the ids of bags without weight.
        result : SolverResult
            The solution.
        training_risk, risk_std_error, convexity_floor : float
            See :class:`Diagnostics`.
        """
        risk: Any = problem.risk
        dropped = problem.details.get("dropped", [])
        self.diagnostics_ = Diagnostics(
            n_bags=bags.n_bags,
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
            self._note(
                DroppedBagsWarning,
                f"{len(dropped)} bags {reason} (the first: {dropped[0]!r}): their rows are not "
                "used",
            )

    def _note_risk(self, risk: CorrectedRisk, matrix: Any, scores: FloatArray) -> None:
        """Note a risk far below zero, and a solution that is not a minimum."""
        self.note_overfitting()
        found = self.diagnostics_
        if not found.is_convex and not is_minimum(
            matrix, risk, scores, self.reg_strength_, fit_intercept=self.fit_intercept
        ):
            self._note(
                NonConvexRiskWarning,
                f"the objective is not convex at reg_strength={self.reg_strength_:g}, and the "
                f"solver did not stop at a minimum. {_convex_from(found.convexity_floor)}. "
                "class_prior='pooled' with combine='least_squares' also makes it convex",
            )

    def note_overfitting(self) -> None:
        """Note a training risk far below zero."""
        found = self.diagnostics_
        if found.is_overfitted:
            advice = describe_overfitting(found.training_risk, found.risk_std_error)
            self._note(NegativeRiskWarning, f"{advice}, or set risk_correction='abs'")


def _convex_from(floor: float) -> str:
    if floor == float("inf"):
        return (
            "With an intercept no reg_strength guarantees convexity; with fit_intercept=False a "
            "large one does"
        )
    return f"It is convex from reg_strength={floor:.3g} on"
