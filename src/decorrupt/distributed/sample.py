"""A sample of whole bags: for the start of the solver, and for landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.distributed.blocks import Block
from decorrupt.distributed.engine import Engine
from decorrupt.distributed.summary import BagTable

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


def draw_sample(
    engine: Engine,
    blocks: Sequence[Any],
    codes_of: Any,
    bags_of: Sequence[NDArray[np.intp]],
    share: FloatArray,
    seed: int,
) -> Sample:
    """Return a sample of the rows.

    Parameters
    ----------
    engine : Engine
        Where the blocks are read.
    blocks : sequence of Delayed
        :class:`Block` each.
    codes_of : callable
        Numbers the bags of a block.
    bags_of : sequence of ndarray of int
        The bags of each block, as numbers in the whole data set.
    share : ndarray of shape (n_bags,)
        The share of each bag's rows to draw.
    seed : int
        Source of the choice.
    """
    draw = engine.dask.delayed(_draw)
    tasks = [
        draw(block, codes_of, share[bags], [seed, number])
        for number, (block, bags) in enumerate(zip(blocks, bags_of, strict=True))
        if share[bags].any()
    ]
    chosen = [bags for bags in bags_of if share[bags].any()]
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


def share_by_bag(sizes: NDArray[np.intp], seed: int) -> FloatArray:
    """Return the share of each bag's rows to draw, for about SAMPLE_ROWS rows of random bags."""
    return rows_to_draw(sizes, np.random.default_rng(seed), SAMPLE_ROWS)


def rows_to_draw(sizes: NDArray[np.intp], rng: np.random.Generator, n_rows: int) -> FloatArray:
    """Return the share of each bag's rows to draw, for a sample of about `n_rows` rows."""
    if sizes.sum() <= n_rows:
        return np.ones(len(sizes))
    limit = max(ROWS_PER_BAG, n_rows / len(sizes))
    share = np.minimum(1.0, limit / np.maximum(sizes, 1))
    order = rng.permutation(len(sizes))
    is_over = np.cumsum((share * sizes)[order]) > n_rows
    is_over[:2] = False  # one bag shows nothing about the classes
    share[order[is_over]] = 0.0
    return np.asarray(share)


def _draw(block: Block, codes_of: Any, share: FloatArray, seed: Any) -> tuple[Any, Any]:
    local = codes_of(block)
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(local)) < share[local])
    return block.rows[rows], local[rows]
