"""The objective at the client: one pass over all partitions per evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.partition import (
    ScoreModel,
    add_sums,
    partition_value_and_gradient,
)
from decorrupt.progress import log_step
from decorrupt.risks import corrected_sum

# Partitions whose sums are added in one task, so that the client receives few of them.
FAN_IN = 16


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
    reg_strength : float
        λ.
    correction : str or None
        g, see :class:`decorrupt.risks.CorrectedRisk`.
    shared_model : Delayed
        The model, kept by the workers.
    n_passes : int
        Passes so far.
    """

    engine: Engine
    partitions: Sequence[Any]
    model: ScoreModel
    reg_strength: float
    correction: str | None = None
    n_passes: int = 0

    def __post_init__(self) -> None:
        # Sent to each worker once, not in every pass.
        (self.shared_model,) = self.engine.persist([self.engine.dask.delayed(self.model)])
        self.penalised = self.model.penalised(self.reg_strength)

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return J and ∇J; the cost is a pass over the data."""
        coef = np.asarray(coef, dtype=float)
        value, gradient = self._risk(coef)
        penalty, slope = self.penalised.penalty_and_slope(coef)
        value, gradient = value + penalty, gradient + slope
        norm = float(np.linalg.norm(gradient))
        log_step(f"pass {self.n_passes}: objective {value:.8g}, gradient norm {norm:.2g}")
        return value, gradient

    def _risk(self, coef: FloatArray) -> tuple[float, FloatArray]:
        values, gradients = self._sums(coef)
        values, weights, _ = corrected_sum(values, self.correction)
        return float(values.sum()), weights @ gradients

    def _sums(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        self.n_passes += 1
        delayed = self.engine.dask.delayed
        evaluate = delayed(partition_value_and_gradient)
        parts = [evaluate(part, coef, self.shared_model) for part in self.partitions]
        add = delayed(add_sums)
        while len(parts) > FAN_IN:
            parts = [add(parts[k : k + FAN_IN]) for k in range(0, len(parts), FAN_IN)]
        return add_sums(self.engine.compute(parts))
