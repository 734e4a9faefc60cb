"""Corrected risks over partitions: one coefficient per bag and class."""

from __future__ import annotations

from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.distributed.blocks import Block
from decorrupt.distributed.classifier import DaskClassifier, Outcome
from decorrupt.distributed.partition import CHUNK_ROWS, Chunk, Partition, risk_and_error
from decorrupt.distributed.work import PartitionedRisk, Work
from decorrupt.observed import Observed
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import Problem


class DaskCorrectedRiskClassifier(DaskClassifier):
    """min_f Σ_j Σ_c coef[j, c]·ℓ_c(f_j) + λ‖f‖², where the rows of a bag share their coefficients.

    The problem of the estimator without Dask, made for one entry per bag, contains them.
    """

    def _problem(self, work: Work, observed: Observed) -> PartitionedRisk:
        problem: Problem = work.local.problem(observed)
        risk: Any = problem.risk
        work.set_reg_strength(risk.effective_sample_size)
        work.local.check_bounded(risk)
        return PartitionedRisk(partition_rows(work, risk), risk.correction, bag_problem=problem)

    def _finish(
        self, work: Work, observed: Observed, partitioned: PartitionedRisk, outcome: Outcome
    ) -> None:
        """Set the diagnostics, and warn of a risk far below zero."""
        local, problem = work.local, partitioned.bag_problem
        risk: Any = problem.risk
        value, error = risk_and_error(outcome.reports, work.data)
        is_convex = not risk.loss.concavity(risk.coef).any()
        bags = local.described_bags(observed)
        local.set_diagnostics(
            bags.ids[(risk.coef == 0).all(axis=1)].tolist(),
            bags.n_bags,
            risk,
            outcome.result,
            training_risk=value,
            risk_std_error=error,
            convexity_floor=0.0 if is_convex else float("inf"),
        )
        if local.risk_correction is None:
            local.warn_if_overfitted()


def partition_rows(work: Work, risk: CorrectedRisk) -> list[Any]:
    """Return one task per block that makes its partition of a risk with one entry per bag."""
    data, delayed = work.data, work.engine.dask.delayed
    by_row = risk.coef / data.sizes[:, None]
    # Sent once, not with every pass.
    coefs = work.engine.persist([delayed(by_row[bags]) for bags in data.bags_of])
    prepare, is_split = delayed(prepare_rows), risk.correction is not None
    return [
        prepare(block, data.keys_of, coef, risk.loss, is_split)
        for block, coef in zip(data.blocks.tasks, coefs, strict=True)
    ]


def prepare_rows(
    block: Block, keys_of: Any, coef: FloatArray, loss: Any, is_split: bool
) -> Partition:
    """Return the partition of a corrected risk.

    Parameters
    ----------
    block : Block
        The data.
    keys_of : callable
        Numbers the bags of the block.
    coef : ndarray of shape (n_bags, n_classes)
        The coefficients of each bag's rows of weight 1.
    loss : MarginLoss or SoftmaxLoss
        ℓ.
    is_split : bool
        Whether the sums of the classes are kept apart, because they are corrected.
    """
    n_rows, (n_bags, n_classes) = block.rows.shape[0], coef.shape
    codes = keys_of(block)[1] if n_rows else np.empty(0, dtype=np.intp)
    sides = np.eye(n_classes) if is_split else [1.0]
    chunks = []
    for start in range(0, n_rows, CHUNK_ROWS):
        some = slice(start, start + CHUNK_ROWS)
        weights = block.weights[some]
        own = coef[codes[some]] * weights[:, None]
        risks = tuple(CorrectedRisk(own * side, loss, weights=weights) for side in sides)
        chunks.append(Chunk(block.rows[some], risks, codes[some]))
    return Partition(chunks, n_bags=n_bags)
