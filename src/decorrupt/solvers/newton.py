"""Trust-region Newton method that follows directions of negative curvature.

scipy's trust-region methods stop at saddle points, and some digits before the gradient reaches
rounding level. Both matter here, so they are not used.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from decorrupt._typing import FloatArray
from decorrupt.solvers.lbfgs import CONVERGED, OUT_OF_STEPS, STALLED, SolverResult
from decorrupt.solvers.objective import Objective

# Curvature below this share of the largest cannot be distinguished from rounding.
FLAT = 1e-10
# A step is accepted if it achieves this share of the decrease predicted by the quadratic model.
KEPT = 0.1
# Rounding of an objective value, relative to its size; half a dozen sums of n terms.
ROUNDING = 64 * np.finfo(float).eps
# Steps without a smaller gradient to allow, once the objective no longer changes beyond rounding.
PATIENCE = 3


@np.errstate(over="ignore", invalid="ignore")  # the status reports it
def solve_newton(
    objective: Objective, start: FloatArray, *, tol: float, max_iter: int
) -> SolverResult:
    """Return argmin J(θ) near `start`, never a saddle point.

    Each step minimises the quadratic model of J in a ball, with the eigenvectors of the Hessian. If
    the gradient is zero and some curvature is negative, the step is in a direction of negative
    curvature.
    """
    coef = np.array(start, dtype=float)
    value, gradient = objective.value_and_gradient(coef)
    history = [value]
    radius, status, idle = 1.0 + float(np.linalg.norm(coef)), OUT_OF_STEPS, 0
    norm = float(np.linalg.norm(gradient))
    while True:
        if norm <= tol and (objective.risk.is_convex or not objective.n_coef):
            status = CONVERGED
            break
        # LAPACK's default driver fails on some matrices with many nearly equal eigenvalues.
        curvatures, directions = eigh(objective.hessian(coef), driver="evd", check_finite=False)
        if norm <= tol and curvatures[0] >= -FLAT * np.abs(curvatures).max():
            status = CONVERGED
            break
        if len(history) > max_iter:
            break
        if idle >= PATIENCE or radius < ROUNDING * (1 + np.linalg.norm(coef)):
            status = STALLED
            break
        step, promised = _step_in_ball(curvatures, directions.T @ gradient, radius)
        moved = coef + directions @ step
        new_value, new_gradient = objective.value_and_gradient(moved)
        new_norm = float(np.linalg.norm(new_gradient))
        # Both sides of the ratio include the rounding of J: near the minimum it tends to one.
        noise = ROUNDING * max(1.0, abs(value))
        ratio = (value - new_value + noise) / (promised + noise)
        length = float(np.linalg.norm(step))
        if ratio > KEPT and np.isfinite(new_norm):
            idle = idle + 1 if promised < noise and new_norm > 0.5 * norm else 0
            coef, value, gradient, norm = moved, new_value, new_gradient, new_norm
        radius = _next_radius(radius, length, ratio)
        history.append(value)
    return SolverResult(coef, np.array(history), norm, status)


def _next_radius(radius: float, length: float, ratio: float) -> float:
    if not ratio > 0.25:  # also where the objective was not finite
        return length / 4
    return max(radius, 3 * length) if ratio > 0.75 else radius


def _step_in_ball(
    curvatures: FloatArray, slopes: FloatArray, radius: float
) -> tuple[FloatArray, float]:
    """Return argmin_p Σ s_i·p_i + ½c_i·p_i² over ‖p‖ ≤ radius, and the predicted decrease.

    The solution is p = −s/(c+μ) with the smallest μ ≥ 0 for which c+μ is positive and p is inside
    the ball. If p is shorter than the radius even at μ = −c_min (no slope along the most negative
    curvature), a step along this curvature is added up to the radius.
    """
    scale = float(np.abs(curvatures).max())
    steepness = float(np.linalg.norm(slopes))
    # Curvatures below this count as zero; the second term keeps a step finite where all are zero.
    flattest = max(FLAT * 1e-2 * scale, 1e-100 * steepness / radius, np.finfo(float).tiny)
    least = max(0.0, -float(curvatures[0])) + flattest

    def step(shift: float) -> FloatArray:
        return np.asarray(-slopes / np.maximum(curvatures + shift, flattest))

    shift = 0.0 if curvatures[0] > 0 else least
    found = step(shift)
    if np.linalg.norm(found) > radius:
        enough = least + 2 * steepness / radius
        shift = brentq(lambda m: np.linalg.norm(step(m)) - radius, shift, enough, rtol=1e-6)
        found = step(shift)
    elif curvatures[0] < -FLAT * scale:
        missing = np.sqrt(max(radius**2 - float(found @ found) + found[0] ** 2, 0.0))
        found[0] = -missing if slopes[0] > 0 else missing
    promised = -float(slopes @ found + 0.5 * curvatures @ found**2)
    return found, max(promised, 0.0)
