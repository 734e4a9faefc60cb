"""L-BFGS in the feature space, where the kernel's geometry is the Euclidean one."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from decorrupt.losses.margin import FloatArray
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.result import CONVERGED, OUT_OF_STEPS, STALLED, SolverResult
from decorrupt.solvers.trace import Trace

MEMORY = 20
MAX_LINE_SEARCH = 50


@np.errstate(over="ignore", invalid="ignore")  # told by the status instead
def solve_lbfgs(
    objective: Objective, start: FloatArray, *, tol: float, max_iter: int
) -> SolverResult:
    """Return argmin J(θ) near `start`, by scipy's L-BFGS-B until ‖∇J‖ ≤ tol.

    One evaluation is two passes over the features, so that a whole λ path costs some tens of
    passes; in the dual coefficients α the same problem is worse conditioned by the kernel's own
    condition number and takes several times the iterations.
    """
    trace = Trace(objective, start)
    found = minimize(
        trace.value_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=trace.record,
        options={
            # scipy tests the largest component; the norm of n components is at most √n times it.
            "gtol": tol / max(objective.n_coef, 1) ** 0.5,
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
