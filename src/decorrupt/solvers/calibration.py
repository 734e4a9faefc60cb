"""Calibration of scores: a slope and a shift of maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.losses import prior_scores
from decorrupt.risks import ScoreRisk
from decorrupt.solvers.lbfgs import solve_lbfgs
from decorrupt.solvers.problem import DEFAULT_MAX_ITER

# Large enough to keep the slope finite if scores separate the bags perfectly.
SLOPE_PENALTY = 1e-4
CALIBRATION_TOL = 1e-5


@dataclass(frozen=True)
class _Calibration:
    """risk(a·s + b) + 1e-4·a² as a function of (a, b)."""

    scores: FloatArray
    risk: ScoreRisk

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its gradient; the shift has one entry per score."""
        shift = coef[1:].reshape(self.scores.shape[1:])
        value, slope = self.risk.value_and_slope(coef[0] * self.scores + shift)
        in_slope = np.vdot(slope, self.scores) + 2 * SLOPE_PENALTY * coef[0]
        return value + SLOPE_PENALTY * coef[0] ** 2, np.append(in_slope, slope.sum(axis=0))


def fit_slope_and_shift(
    scores: FloatArray, risk: ScoreRisk, class_prior: FloatArray, weights: Any = None
) -> tuple[float, Any]:
    """Return argmin_(a, b) risk(a·s + b) + 1e-4·(a·sd(s))² with a ≥ 0.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        s.
    risk : ScoreRisk
        A negative log-likelihood per row.
    class_prior : ndarray of shape (n_classes,)
        The class shares that the search starts at.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents, for sd(s).

    Returns
    -------
    slope : float
        At least 0: scores that the observations contradict count for nothing.
    shift : float, or ndarray with one entry per class
    """
    by_row = None if weights is None else np.broadcast_to(weights, scores.T.shape).T
    away = scores - np.average(scores, weights=by_row)
    scale = float(np.sqrt(np.average(away**2, weights=by_row))) or 1.0
    start = np.append(1.0, prior_scores(class_prior))
    problem = _Calibration(scores / scale, risk)
    coef = solve_lbfgs(problem, start, tol=CALIBRATION_TOL, max_iter=DEFAULT_MAX_ITER).coef
    if coef[0] < 0:  # of few bags formed by a column, each can be beyond all that was learnt from
        return 0.0, prior_scores(class_prior)
    return float(coef[0]) / scale, coef[1] if scores.ndim == 1 else coef[1:]
