"""L-BFGS on the coefficients θ of the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from decorrupt._typing import FloatArray
from decorrupt.solvers.result import CONVERGED, OUT_OF_STEPS, STALLED, SolverResult
from decorrupt.solvers.trace import Differentiable, Trace

# Problems with small λ are badly conditioned; there, a long memory saves many iterations.
MEMORY = 50
MAX_LINE_SEARCH = 50


@np.errstate(over="ignore", invalid="ignore")  # the status reports it
def solve_lbfgs(
    objective: Differentiable, start: FloatArray, *, tol: float, max_iter: int
) -> SolverResult:
    """Return argmin J(θ) near `start`, by scipy's L-BFGS-B until ‖∇J‖ ≤ tol.

    One evaluation takes two passes over the features, and a λ path some tens of passes. In the
    dual coefficients α, the condition number would be multiplied by that of the kernel matrix, and
    several times as many iterations would be needed.
    """
    trace = Trace(objective, start)

    def until_converged(intermediate_result: Any) -> None:
        trace.record(intermediate_result)
        # scipy itself tests the largest component, not the norm.
        if trace.gradient_norm(intermediate_result.x) <= tol:
            raise StopIteration

    if trace.gradient_norm(start) <= tol:
        return trace.result(start, CONVERGED)
    found = minimize(
        trace.value_and_gradient,
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
    if trace.gradient_norm(found.x) <= tol:
        status = CONVERGED
    else:
        status = OUT_OF_STEPS if found.status == 1 else STALLED
    return trace.result(found.x, status)
