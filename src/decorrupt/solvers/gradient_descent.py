"""Gradient descent on the dual coefficients with a fixed number of steps, as in the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from decorrupt._typing import FloatArray
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.result import BUDGET_SPENT, STALLED, SolverResult

DEFAULT_STEP_SIZE = 0.1
DEFAULT_STEP_DECAY = 1e-3


@dataclass(repr=False)
class GradientDescent(BaseEstimator):
    """The paper's solver with its step lengths, for the parameter `solver` of the estimators.

    Step t has the length step_size·exp(−step_decay·t). There are exactly `max_iter` steps, a
    parameter of the estimator. ``solver="gradient_descent"`` is ``solver=GradientDescent()``.

    Parameters
    ----------
    step_size : float, default=0.1
        Length of the first step.
    step_decay : float, default=1e-3
        How fast the steps become shorter; 0 for steps of equal length.

    Examples
    --------
    >>> from decorrupt import CorrectedLossClassifier
    >>> from decorrupt.solvers import GradientDescent
    >>> model = CorrectedLossClassifier(solver=GradientDescent(step_size=0.01), max_iter=100)
    >>> model.set_params(solver__step_decay=0.0)
    CorrectedLossClassifier(max_iter=100,
                            solver=GradientDescent(step_decay=0.0, step_size=0.01))
    """

    step_size: float = DEFAULT_STEP_SIZE
    step_decay: float = DEFAULT_STEP_DECAY


def solve_gradient_descent(
    objective: Objective,
    start: FloatArray,
    *,
    max_iter: int,
    step_size: float = DEFAULT_STEP_SIZE,
    step_decay: float = DEFAULT_STEP_DECAY,
) -> SolverResult:
    """Make `max_iter` steps α ← α − η_t·K(g + 2λα), η_t = η₀·exp(−decay·t), and stop there.

    f = Σα_i k(·, x_i), and g_j is the slope of the risk in f_j. With θ = Zᵀα the same steps are
    θ ← θ − η_t·(ZᵀZ)·∇J(θ), so α is not needed and K = ZZᵀ is never formed. The number of steps
    is part of the method (early stopping is the only regularisation at λ = 0), so the result
    counts as converged after the last step.
    """
    if not (0 < step_size < np.inf and 0 <= step_decay < np.inf):
        raise ValueError(
            f"step_size={step_size!r} must be positive and step_decay={step_decay!r} at least 0, "
            "both finite"
        )
    rank = objective.rank
    gram = objective.features.T @ objective.features
    coef = start.astype(float)
    value, gradient = objective.value_and_gradient(coef)
    history = [value]
    for step in range(max_iter):
        length = step_size * np.exp(-step_decay * step)
        with np.errstate(over="ignore", invalid="ignore"):  # the status reports it
            coef[:rank] -= length * (gram @ gradient[:rank])
            coef[rank:] -= length * gradient[rank:]
            value, gradient = objective.value_and_gradient(coef)
        history.append(value)
        if not np.isfinite(value):
            break
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(np.linalg.norm(gradient))
    return SolverResult(
        coef=coef,
        objective_history=np.array(history),
        gradient_norm=norm,
        n_iter=len(history) - 1,
        status=BUDGET_SPENT if np.isfinite(value) else STALLED,
    )
