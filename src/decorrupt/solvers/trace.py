"""Evaluation and history of an objective for scipy's minimisers."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.solvers.result import SolverResult


class Differentiable(Protocol):
    """All that L-BFGS needs of an objective."""

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return J and ∇J."""


class Trace:
    """Evaluates an objective for scipy and records what a SolverResult needs."""

    def __init__(self, objective: Differentiable, start: FloatArray) -> None:
        self.objective = objective
        self._at: FloatArray | None = None
        self._known: tuple[float, FloatArray] = (np.nan, start)
        self.history = [self.value_and_gradient(start)[0]]

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return J and ∇J; the last evaluation is cached."""
        if self._at is None or not np.array_equal(coef, self._at):
            self._at, self._known = coef.copy(), self.objective.value_and_gradient(coef)
        return self._known

    def gradient_norm(self, coef: FloatArray) -> float:
        """Return ‖∇J‖₂."""
        return float(np.linalg.norm(self.value_and_gradient(coef)[1]))

    def record(self, intermediate_result: Any) -> None:
        """Record the objective after an iteration (scipy's callback)."""
        self.history.append(float(intermediate_result.fun))

    def result(self, coef: FloatArray, status: str) -> SolverResult:
        """Return the solution with its history and gradient norm."""
        value, _ = self.value_and_gradient(coef)
        if self.history[-1] != value:
            self.history.append(value)
        return SolverResult(
            coef=coef,
            objective_history=np.array(self.history),
            gradient_norm=self.gradient_norm(coef),
            n_iter=len(self.history) - 1,
            status=status,
        )
