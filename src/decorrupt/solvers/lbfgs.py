"""L-BFGS on the coefficients θ of the features, and the result that all solvers return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize

from decorrupt._typing import FloatArray

CONVERGED = "converged"
OUT_OF_STEPS = "max_iter reached"
STALLED = "no further progress"
# Problems with small λ are badly conditioned; there, a long memory saves many iterations.
MEMORY = 50
MAX_LINE_SEARCH = 50


@dataclass(frozen=True)
class SolverResult:
    """The result of a minimisation, the same class for all solvers.

    Attributes
    ----------
    coef : ndarray of shape (n_coef,)
        θ, followed by the intercept if there is one.
    objective_history : ndarray of shape (n_iter + 1,)
        The objective at the start and after every iteration.
    gradient_norm : float
        ‖∇‖₂ at `coef`.
    status : str
        "converged", "max_iter reached" or "no further progress" (rounding or a failed line search).
    gradient_tol : float
        The requested ‖∇‖₂.
    """

    coef: FloatArray
    objective_history: FloatArray
    gradient_norm: float
    status: str
    gradient_tol: float = 0.0

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.objective_history) - 1

    @property
    def objective(self) -> float:
        """The objective at `coef`."""
        return float(self.objective_history[-1])

    @property
    def converged(self) -> bool:
        """Whether the solver converged."""
        return self.status == CONVERGED

    @property
    def advice(self) -> str:
        """The warning for a solver that did not converge."""
        return (
            f"the solver stopped after {self.n_iter} iterations, {self.status}: gradient norm "
            f"{self.gradient_norm:.2g}, required {self.gradient_tol:.2g}. Increase max_iter, tol "
            "or reg_strength, or scale the columns of X"
        )


class Differentiable(Protocol):
    """All that L-BFGS needs of an objective."""

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return J and ∇J."""


@np.errstate(over="ignore", invalid="ignore")  # the status reports it
def solve_lbfgs(
    objective: Differentiable, start: FloatArray, *, tol: float, max_iter: int
) -> SolverResult:
    """Return argmin J(θ) near `start`, by scipy's L-BFGS-B until ‖∇J‖ ≤ tol.

    One evaluation takes two passes over the features, and a λ path some tens of passes. In the
    dual coefficients α, the condition number would be multiplied by that of the kernel matrix, and
    several times as many iterations would be needed.
    """
    last = start, *objective.value_and_gradient(start)
    history = [last[1]]

    def evaluate(coef: FloatArray) -> tuple[float, FloatArray]:
        nonlocal last
        if not np.array_equal(coef, last[0]):
            last = coef.copy(), *objective.value_and_gradient(coef)
        return last[1:]

    def until_converged(intermediate_result: Any) -> None:
        history.append(float(intermediate_result.fun))
        # scipy itself tests the largest component, not the norm.
        if np.linalg.norm(evaluate(intermediate_result.x)[1]) <= tol:
            raise StopIteration

    norm = float(np.linalg.norm(last[2]))
    if norm <= tol:
        return SolverResult(start, np.array(history), norm, CONVERGED)
    found = minimize(
        evaluate,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=until_converged,
        options={
            "gtol": 0.0,
            "ftol": 0.0,
            "maxiter": max_iter,
            "maxfun": 2 * max_iter + MAX_LINE_SEARCH,
            "maxcor": MEMORY,
            "maxls": MAX_LINE_SEARCH,
        },
    )
    value, gradient = evaluate(found.x)
    if history[-1] != value:
        history.append(value)
    norm = float(np.linalg.norm(gradient))
    status = CONVERGED if norm <= tol else OUT_OF_STEPS if found.status == 1 else STALLED
    return SolverResult(found.x, np.array(history), norm, status)
