"""Solver dispatch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from decorrupt._typing import FloatArray
from decorrupt.solvers.lbfgs import solve_lbfgs
from decorrupt.solvers.newton import solve_newton
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.result import STALLED, SolverResult

SOLVERS: dict[str, Callable[..., SolverResult]] = {
    "newton": solve_newton,
    "lbfgs": solve_lbfgs,
}
DEFAULT_TOL = 1e-6
DEFAULT_MAX_ITER = 1000
# A dense Hessian costs rank/2 passes over the features; L-BFGS takes some tens of passes in total.
AUTO_NEWTON_COEFS = 64
# With more rows the Hessian does not fit into the cache, and L-BFGS is usually faster. After this
# many iterations it is not (columns of very different scale), and Newton's method continues.
AUTO_NEWTON_ROWS = 20_000
AUTO_LBFGS_STEPS = 60


def solve(
    objective: Objective,
    *,
    solver: str = "auto",
    start: FloatArray | None = None,
    tol: float = DEFAULT_TOL,
    objective_tol: float = 0.0,
    max_iter: int = DEFAULT_MAX_ITER,
) -> SolverResult:
    """Return argmin_θ J(θ), computed with the chosen solver.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    solver : {"auto", "newton", "lbfgs"}, default="auto"
        "auto" is Newton for few coefficients and at most 20,000 rows, otherwise L-BFGS, followed
        by Newton if rounding of the objective stops L-BFGS early, or if it takes more than 60
        iterations for few coefficients. For several classes it is always L-BFGS.
    start : ndarray of shape (n_coef,), optional
        The starting point; zero by default.
    tol : float
        The gradient norm to reach.
    objective_tol : float
        Also stop if a convex J is within this distance of its minimum: λ‖θ‖² makes J strongly
        convex, so J − min J ≤ ‖∇J‖²/(4λ). The same value is suitable for a whole λ path.
    max_iter : int
        Maximum number of iterations.

    Returns
    -------
    SolverResult
        The caller must check its `status`: this function does not warn.
    """
    name = choose_solver(solver, objective)
    if start is None:
        start = np.zeros(objective.n_coef)
    tol = max(tol, 2 * np.sqrt(objective_tol * objective.reg_strength))
    if objective.features.dtype == np.float32:
        tol = max(tol, _gradient_rounding(objective, start))
    may_continue = solver == "auto" and name == "lbfgs" and objective.has_curvature
    is_small = may_continue and objective.n_coef <= AUTO_NEWTON_COEFS
    steps = min(max_iter, AUTO_LBFGS_STEPS) if is_small else max_iter
    result = SOLVERS[name](objective, start, max_iter=steps, tol=tol)
    if may_continue and (result.status == STALLED or (is_small and not result.converged)):
        result = _finish(objective, result, tol=tol, max_iter=max_iter)
    return replace(result, gradient_tol=tol)


def _finish(
    objective: Objective, stalled: SolverResult, *, tol: float, max_iter: int
) -> SolverResult:
    """Continue with Newton's method, which has no line search that rounding can stop."""
    left = max(max_iter - stalled.n_iter, 0)
    finished = solve_newton(objective, stalled.coef, tol=tol, max_iter=left)
    history = np.concatenate([stalled.objective_history, finished.objective_history[1:]])
    return replace(finished, objective_history=history, n_iter=len(history) - 1)


def _gradient_rounding(objective: Objective, start: FloatArray) -> float:
    """Return the ‖∇J‖ below which a further decrease of J is smaller than its rounding.

    J has the relative precision ε, so near a minimum the gradient has the precision √ε relative to
    its size, ‖Zᵀ·slope‖ ≤ ‖Z‖·‖slope‖.
    """
    _, slope = objective.risk.value_and_slope(objective.scores(start))
    features = objective.features
    values = features.data if issparse(features) else features
    size = np.linalg.norm(values) * np.linalg.norm(slope)
    return float(np.sqrt(np.finfo(features.dtype).eps) / 4 * size)


def choose_solver(solver: str, objective: Objective) -> str:
    """Return the name of the solver to run."""
    if solver != "auto" and solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}: choose one of auto, {', '.join(SOLVERS)}")
    if objective.n_classes > 2 and solver not in ("auto", "lbfgs"):
        raise ValueError(
            f"solver={solver!r} is for two classes: for several classes choose 'lbfgs' or 'auto'"
        )
    if solver != "auto":
        return solver
    few_coefs = objective.has_curvature and objective.n_coef <= AUTO_NEWTON_COEFS
    few_rows = objective.features.shape[0] <= AUTO_NEWTON_ROWS
    return "newton" if few_coefs and few_rows else "lbfgs"
