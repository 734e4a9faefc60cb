"""The objective at the client: one pass over all partitions per evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.large_bags import LargeBags
from decorrupt.distributed.partition import (
    ScoreModel,
    add_sums,
    partition_moments,
    partition_value_and_gradient,
)
from decorrupt.progress import log_step
from decorrupt.risks.corrected import corrected_sum
from decorrupt.solvers.lbfgs import solve_lbfgs
from decorrupt.solvers.result import OUT_OF_STEPS, SolverResult

# Partitions whose sums are added in one task, so that the client receives few of them.
FAN_IN = 16


class PassesSpentError(Exception):
    """The number of passes over the data has reached its limit."""


@dataclass
class PartitionedObjective:
    """J(θ, b) = Σ_partitions value + λ‖θ‖², or Σ_c g(R_c) + λ‖θ‖² with a risk correction.

    Attributes
    ----------
    engine : Engine
        Where the passes run.
    partitions : sequence of Delayed
        :class:`Partition` each.
    model : ScoreModel
        The features.
    penalty : float
        The factor of ‖θ‖².
    correction : str or None
        g, see :class:`decorrupt.risks.CorrectedRisk`.
    large_bags : LargeBags or None
        Bags larger than a partition; with them an evaluation takes two passes.
    max_passes : int
        The largest number of passes.
    shared_model : Delayed
        The model, kept by the workers.
    """

    engine: Engine
    partitions: Sequence[Any]
    model: ScoreModel
    penalty: float
    correction: str | None = None
    large_bags: LargeBags | None = None
    max_passes: int = 1000
    n_passes: int = 0
    history: list[float] = field(default_factory=list)
    best: tuple[float, FloatArray, float] | None = None

    def __post_init__(self) -> None:
        # Sent to each worker once, not in every pass.
        (self.shared_model,) = self.engine.persist([self.engine.dask.delayed(self.model)])

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return J and ∇J; the cost is a pass over the data, two with large bags."""
        value, gradient = self._risk(np.asarray(coef, dtype=float))
        n_theta = self.model.rank * (self.model.n_classes or 1)
        theta = coef[:n_theta]
        value += self.penalty * float(theta @ theta)
        gradient[:n_theta] += 2 * self.penalty * theta
        self._record(coef, value, gradient)
        return value, gradient

    def risk(self, coef: FloatArray) -> float:
        """Return J − λ‖θ‖² at the best coefficients, without another pass."""
        assert self.best is not None  # noqa: S101 — called after the solver
        theta = coef[: self.model.rank * (self.model.n_classes or 1)]
        return self.best[0] - self.penalty * float(theta @ theta)

    def _risk(self, coef: FloatArray) -> tuple[float, FloatArray]:
        normal = self._large_bag_sums(coef)
        values, gradients = self._sums(coef, normal)
        if self.correction is not None:
            outer = [corrected_sum(total, self.correction) for total in values]
            value = sum(each[0] for each in outer)
            return value, np.array([each[1] for each in outer]) @ gradients
        value = float(values.sum())
        if normal is not None and self.large_bags is not None:
            value -= float(normal.log_prob.sum()) / self.large_bags.n_total
        return value, gradients.sum(axis=0)

    def _sums(self, coef: FloatArray, normal: Any) -> tuple[FloatArray, FloatArray]:
        self._count_pass()
        delayed = self.engine.dask.delayed
        evaluate = delayed(partition_value_and_gradient)
        sums = None if normal is None else delayed(normal)
        parts = [evaluate(part, coef, self.shared_model, sums) for part in self.partitions]
        add = delayed(add_sums)
        while len(parts) > FAN_IN:
            parts = [add(parts[k : k + FAN_IN]) for k in range(0, len(parts), FAN_IN)]
        return add_sums(self.engine.compute(parts))

    def _large_bag_sums(self, coef: FloatArray) -> Any:
        if self.large_bags is None:
            return None
        self._count_pass()
        delayed = self.engine.dask.delayed
        moments, model = delayed(partition_moments), self.shared_model
        parts = self.engine.compute([moments(part, coef, model) for part in self.partitions])
        return self.large_bags.add(parts)

    def _count_pass(self) -> None:
        if self.n_passes >= self.max_passes:
            raise PassesSpentError
        self.n_passes += 1

    def _record(self, coef: FloatArray, value: float, gradient: FloatArray) -> None:
        self.history.append(value)
        norm = float(np.linalg.norm(gradient))
        if self.best is None or value <= self.best[0]:
            self.best = value, coef.copy(), norm
        log_step(f"pass {self.n_passes}: objective {value:.8g}, gradient norm {norm:.2g}")


def minimise(
    objective: PartitionedObjective, start: FloatArray, *, tol: float, max_iter: int
) -> SolverResult:
    """Return argmin J(θ) by L-BFGS, or the best coefficients when the passes are spent."""
    try:
        found = solve_lbfgs(objective, start, tol=tol, max_iter=max_iter)
        return replace(found, gradient_tol=tol)
    except PassesSpentError:
        if objective.best is None:
            raise ValueError(
                f"max_passes={objective.max_passes} is too small for one evaluation"
            ) from None
        _, coef, norm = objective.best
        history = np.array(objective.history)
        return SolverResult(coef, history, norm, len(history) - 1, OUT_OF_STEPS, tol)
