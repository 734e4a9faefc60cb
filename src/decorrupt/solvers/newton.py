"""Newton's method in a trust region, which follows negative curvature instead of stopping at it."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, lstsq
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg, eigsh

from decorrupt.losses.margin import FloatArray
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.result import CONVERGED, OUT_OF_STEPS, STALLED, SolverResult
from decorrupt.solvers.trace import Trace

# Up to here a dense Hessian and its factorisation cost less than Krylov iterations.
DENSE_HESSIAN_COEFS = 512
MAX_ESCAPES = 20
# Curvature below this share of the largest is told apart from rounding.
FLAT = 1e-9


def solve_newton(
    objective: Objective, start: FloatArray, *, tol: float, max_iter: int
) -> SolverResult:
    """Return argmin J(θ) near `start`, never a saddle point.

    A trust-region Newton method (scipy's exact one for few coefficients, its Krylov one for many)
    runs until ‖∇J‖ ≤ tol. If the objective is not known to be convex, the least eigenvalue of the
    Hessian is looked at there: a negative one means a saddle, which is left along its eigenvector.
    """
    trace = Trace(objective, start)
    coef, status = start, OUT_OF_STEPS
    dense = objective.n_coef <= DENSE_HESSIAN_COEFS
    for _ in range(MAX_ESCAPES):
        curvature = (
            {"hess": objective.hessian}
            if dense
            else {"hessp": lambda x, v: objective.hessian_operator(x)(v)}
        )
        found = minimize(
            trace.value_and_gradient,
            coef,
            jac=True,
            method="trust-exact" if dense else "trust-krylov",
            callback=trace.record,
            options={"gtol": tol, "maxiter": max(max_iter - trace.n_iter, 0)},
            **curvature,
        )
        coef = _polish(objective, found.x, trace, tol)
        status = _status(trace.gradient_norm(coef), tol, trace.n_iter, max_iter)
        if status == OUT_OF_STEPS or objective.risk.is_convex:
            break
        lower = _leave_saddle(objective, coef, trace)
        if lower is None:
            break
        coef = lower
    return trace.result(coef, status)


def _polish(objective: Objective, coef: FloatArray, trace: Trace, tol: float) -> FloatArray:
    """Take plain Newton steps while they shrink the gradient.

    Close to the minimum a trust region stops: the objective's improvement drowns in rounding
    long before the gradient's does.
    """
    while (norm := trace.gradient_norm(coef)) > tol:
        gradient = trace.value_and_gradient(coef)[1]
        if objective.n_coef <= DENSE_HESSIAN_COEFS:
            step = lstsq(objective.hessian(coef), gradient)[0]
        else:
            step, _ = cg(_hessian_operator(objective, coef), gradient, rtol=1e-6)
        if not trace.gradient_norm(coef - step) < 0.5 * norm:
            break
        coef = coef - step
    return coef


def _hessian_operator(objective: Objective, coef: FloatArray) -> LinearOperator:
    shape = (objective.n_coef, objective.n_coef)
    return LinearOperator(shape, matvec=objective.hessian_operator(coef), dtype=float)


def _status(gradient_norm: float, tol: float, n_iter: int, max_iter: int) -> str:
    if gradient_norm <= tol:
        return CONVERGED
    return OUT_OF_STEPS if n_iter >= max_iter else STALLED


def _leave_saddle(objective: Objective, coef: FloatArray, trace: Trace) -> FloatArray | None:
    """Return a lower point along the most negative curvature, or None at a minimum."""
    eigenvalue, direction, scale = _least_curvature(objective, coef)
    if eigenvalue >= -FLAT * scale:
        return None
    here, _ = trace.value_and_gradient(coef)
    length = max(1.0, float(np.linalg.norm(coef)))
    while length > 1e-8:
        for sign in (1.0, -1.0):
            there = coef + sign * length * direction
            if trace.value_and_gradient(there)[0] < here:
                return there
        length /= 4
    return None


def _least_curvature(objective: Objective, coef: FloatArray) -> tuple[float, FloatArray, float]:
    """Return the least eigenvalue of ∇²J, its eigenvector, and the Hessian's scale."""
    n_coef = objective.n_coef
    if n_coef <= DENSE_HESSIAN_COEFS:
        hessian = objective.hessian(coef)
        values, vectors = eigh(hessian, subset_by_index=[0, 0])
        return float(values[0]), vectors[:, 0], float(np.abs(hessian).max())
    operator = _hessian_operator(objective, coef)
    start = np.ones(n_coef)
    largest = eigsh(operator, k=1, which="LM", v0=start, return_eigenvectors=False, tol=1e-2)
    values, vectors = eigsh(operator, k=1, which="SA", v0=start, tol=1e-6)
    return float(values[0]), vectors[:, 0], float(abs(largest[0]))
