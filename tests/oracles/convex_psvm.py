"""conv-∝SVM by a solver for quadratic programmes and by trying all labellings."""

import numpy as np
from qpsolvers import solve_qp

from oracles.psvm import all_labellings


def box_maximum(quadratic, cost):
    """Return max_{0≤α≤C} 1ᵀα − ½αᵀQα, and α."""
    n = len(quadratic)
    dual = solve_qp(
        quadratic,
        -np.ones(n),
        lb=np.zeros(n),
        ub=np.full(n, cost),
        solver="piqp",
        eps_abs=1e-11,
        eps_rel=1e-11,
    )
    return dual.sum() - 0.5 * dual @ quadratic @ dual, dual


def label_matrix(planes, weights):
    """Return Σ_t μ_t y_t y_tᵀ, plane by plane."""
    return sum(w * np.outer(y, y) for w, y in zip(weights, planes.T, strict=True))


def allowed_labellings(bags, proportions):
    """Return all labellings whose bags have the proportions as shares."""
    labellings = all_labellings(len(bags))
    shares = np.array([(labellings[:, bags == k] > 0).mean(axis=1) for k in np.unique(bags)]).T
    return labellings[(np.abs(shares - proportions) <= 1e-9).all(axis=1)]
