"""A sample of whole bags: for the start of the solver, and for landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.corruption.strata import BagTable
from decorrupt.distributed.blocks import Block
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.summary import Data

SAMPLE_ROWS = 20_000
# From a larger bag only about this many rows are drawn, so that there are several bags.
ROWS_PER_BAG = 1000


@dataclass(frozen=True)
class Sample:
    """Some rows, and their bags as numbers in the whole data set."""

    rows: Any
    codes: NDArray[np.intp]

    def strata(self, table: BagTable) -> Strata:
        """Return the bags of the sample."""
        bags, row_stratum = np.unique(self.codes, return_inverse=True)
        return Strata(table.ids[bags], row_stratum, table.proportions[bags])


def draw_sample(engine: Engine, data: Data, share: FloatArray, seed: int) -> Sample:
    """Return a sample of the rows with the share `share` of each bag's rows."""
    draw = engine.dask.delayed(_draw)
    numbers = [number for number, bags in enumerate(data.bags_of) if share[bags].any()]
    chosen = [data.bags_of[number] for number in numbers]
    tasks = [
        draw(data.blocks.tasks[number], data.codes_of, share[bags], [seed, number])
        for number, bags in zip(numbers, chosen, strict=True)
    ]
    found = engine.compute(tasks)
    codes = [bags[local] for (_, local), bags in zip(found, chosen, strict=True)]
    rows = [some for some, _ in found]
    stacked: Any = sparse.vstack(rows).tocsr() if sparse.issparse(rows[0]) else np.concatenate(rows)
    return Sample(stacked, np.concatenate(codes))


def share_by_source(counts: NDArray[np.intp]) -> FloatArray:
    """Return the share of the rows to draw of each source and label, for SAMPLE_ROWS rows.

    It is the same for all labels of a source: noise rates are estimated from their frequencies.
    """
    n_sources, n_classes = counts.shape
    limit = SAMPLE_ROWS / n_sources / np.maximum(counts.sum(axis=1), 1)
    return np.repeat(np.minimum(1.0, limit), n_classes)


def share_by_bag(sizes: NDArray[np.intp], seed: int, n_rows: int | None = None) -> FloatArray:
    """Return the share of each bag's rows to draw, for about `n_rows` rows of random bags.

    The default is SAMPLE_ROWS.
    """
    n_rows = SAMPLE_ROWS if n_rows is None else n_rows
    if sizes.sum() <= n_rows:
        return np.ones(len(sizes))
    limit = max(ROWS_PER_BAG, n_rows / len(sizes))
    share = np.minimum(1.0, limit / np.maximum(sizes, 1))
    order = np.random.default_rng(seed).permutation(len(sizes))
    is_over = np.cumsum((share * sizes)[order]) > n_rows
    is_over[:2] = False  # one bag shows nothing about the classes
    share[order[is_over]] = 0.0
    return np.asarray(share)


def _draw(block: Block, codes_of: Any, share: FloatArray, seed: Any) -> tuple[Any, Any]:
    local = codes_of(block)
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(local)) < share[local])
    return block.rows[rows], local[rows]
