"""Count likelihoods over partitions of whole bags."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt.distributed.blocks import Block
from decorrupt.distributed.partition import CHUNK_ROWS, Chunk, Partition
from decorrupt.distributed.work import PartitionedRisk, Work
from decorrupt.observed import Observed, read_weights
from decorrupt.risks import count_risk


def partition_counts(work: Work, table: Observed, large_bags: float | str) -> PartitionedRisk:
    """Return −(1/n)·Σ_k log P(what is known about the counts of bag k) over partitions.

    Parameters
    ----------
    work : Work
        The blocks and their bags.
    table : Observed
        All bags, one entry each.
    large_bags : float or "auto"
        As in :func:`decorrupt.risks.count_risk`.
    """
    data, delayed = work.data, work.engine.dask.delayed
    tables = work.engine.persist([delayed(table.take(bags)) for bags in data.bags_of])
    prepare, n_total = delayed(prepare_counts), table.n_rows
    parts = [
        prepare(block, data.keys_of, bags, n_total, large_bags)
        for block, bags in zip(data.blocks.tasks, tables, strict=True)
    ]
    return PartitionedRisk(parts)


def prepare_counts(
    block: Block, keys_of: Any, table: Observed, n_total: float, large_bags: float | str
) -> Partition:
    """Return the partition of −(1/n)·Σ_k log P(c_k): chunks of whole bags.

    Parameters
    ----------
    block : Block
        The data.
    keys_of : callable
        Numbers the bags of the block.
    table : Observed
        These bags, one entry each. The rows of a label are a part of their bag.
    n_total : float
        Rows of the data set.
    large_bags : float or "auto"
        As in :func:`decorrupt.risks.count_risk`.
    """
    if not block.rows.shape[0]:
        return Partition([])
    codes = keys_of(block)[1]
    weights = read_weights(block.weights, len(codes))
    observed = replace(table, row_bag=table.row_bag[codes], weights=weights)
    chunks = []
    for rows in _whole_bags(codes):
        risk = count_risk(observed.take(rows), large_bags=large_bags)
        chunks.append(Chunk(block.rows[rows], (replace(risk, n_rows=n_total, observed=None),)))
    return Partition(chunks)


def _whole_bags(codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return pieces of about `CHUNK_ROWS` rows, each of whole bags."""
    order = np.argsort(codes, kind="stable")
    starts = np.append(0, np.flatnonzero(np.diff(codes[order])) + 1)
    pieces = np.flatnonzero(np.diff(starts // CHUNK_ROWS)) + 1
    return np.split(order, starts[pieces])
