"""The result of a solver."""

from __future__ import annotations

from dataclasses import dataclass

from decorrupt._typing import FloatArray

CONVERGED = "converged"
OUT_OF_STEPS = "max_iter reached"
STALLED = "no further progress"


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
    n_iter : int
        Number of iterations.
    status : str
        "converged", "max_iter reached" or "no further progress" (rounding or a failed line search).
    gradient_tol : float
        The requested ‖∇‖₂.
    route : str
        The best of several ways to a starting point, if they were compared on a sample.
    """

    coef: FloatArray
    objective_history: FloatArray
    gradient_norm: float
    n_iter: int
    status: str
    gradient_tol: float = 0.0
    route: str = ""

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
            f"stopped after {self.n_iter} iterations, {self.status}: gradient norm "
            f"{self.gradient_norm:.2g}, required {self.gradient_tol:.2g}. Increase max_iter, tol "
            "or reg_strength, or scale the columns of X"
        )
