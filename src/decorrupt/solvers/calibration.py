"""Calibration of scores: a slope and a shift of maximum likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logit

from decorrupt._typing import FloatArray
from decorrupt.risks.score_risk import ScoreRisk
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.solve import solve

# Large enough to keep the slope finite if scores separate the bags perfectly.
SLOPE_PENALTY = 1e-4
CALIBRATION_TOL = 1e-5


def fit_slope_and_shift(scores: FloatArray, risk: ScoreRisk, prior: Any) -> tuple[float, Any]:
    """Return argmin_(a, b) risk(a·s + b) + 1e-4·(a·sd(s))².

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        s, of held-out rows.
    risk : ScoreRisk
        A negative log-likelihood of what is observed about these rows.
    prior : float or ndarray of shape (n_classes,)
        The class shares, strictly between 0 and 1: the start of b.

    Returns
    -------
    slope : float
        a, one for all classes.
    shift : float or ndarray of shape (n_classes,)
        b.
    """
    scale = float(np.std(scores)) or 1.0
    if scores.ndim == 2:
        return _fit_classes(scores / scale, scale, risk, np.log(prior))
    objective = Objective((scores / scale)[:, None], risk, SLOPE_PENALTY, fit_intercept=True)
    start = np.array([1.0, logit(prior)])
    slope, shift = solve(objective, solver="lbfgs", start=start, tol=CALIBRATION_TOL).coef
    return float(slope) / scale, float(shift)


def _fit_classes(
    scores: FloatArray, scale: float, risk: ScoreRisk, start: FloatArray
) -> tuple[float, FloatArray]:
    def value_and_gradient(coef: FloatArray) -> tuple[float, FloatArray]:
        value, slope = risk.value_and_slope(coef[0] * scores + coef[1:])
        gradient = np.append(np.vdot(slope, scores) + 2 * SLOPE_PENALTY * coef[0], slope.sum(0))
        return value + SLOPE_PENALTY * coef[0] ** 2, gradient

    coef = minimize(value_and_gradient, np.append(1.0, start), jac=True, method="L-BFGS-B").x
    return float(coef[0]) / scale, np.asarray(coef[1:])
