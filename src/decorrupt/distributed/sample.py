"""A sample of whole bags: for the start of the solver, and for landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from decorrupt._typing import FloatArray
from decorrupt.distributed.blocks import Block
from decorrupt.distributed.data import Data, sources_and_labels
from decorrupt.distributed.engine import Engine
from decorrupt.observed import Observed, factorize, read_weights

SAMPLE_ROWS = 20_000
# From a larger bag only about this many rows are drawn, so that there are several bags.
ROWS_PER_BAG = 1000


@dataclass(frozen=True)
class Sample:
    """Some rows, their bags as numbers in the whole data set, and their weights if not all 1."""

    rows: Any
    codes: NDArray[np.intp]
    weights: NDArray[Any] | None

    def observed(self, table: Observed) -> Observed:
        """Return what is known about these rows, from one entry per bag of the whole data set."""
        if table.sources is not None:
            return Observed.of_sources(table.classes, table.sources.take(self.codes), self.weights)
        return table.sampled(self.codes, self.weights)


def draw_sample(engine: Engine, data: Data, seed: int) -> Sample:
    """Return a sample of about SAMPLE_ROWS rows: of random bags, or of all sources equally."""
    is_labelled = data.lower is None
    share = share_by_source(data) if is_labelled else share_by_bag(data.lengths, seed)
    draw = engine.dask.delayed(_draw)
    numbers = [number for number, bags in enumerate(data.bags_of) if share[bags].any()]
    chosen = [data.bags_of[number] for number in numbers]
    tasks = [
        draw(data.blocks.tasks[number], data.keys_of, share[bags], [seed, number])
        for number, bags in zip(numbers, chosen, strict=True)
    ]
    found = engine.compute(tasks)
    rows, locals_, weights = zip(*found, strict=True)
    codes = [bags[local] for local, bags in zip(locals_, chosen, strict=True)]
    stacked: Any = sparse.vstack(rows).tocsr() if sparse.issparse(rows[0]) else np.concatenate(rows)
    every = np.concatenate(weights)
    return Sample(stacked, np.concatenate(codes), read_weights(every, len(every)))


def share_by_source(data: Data) -> FloatArray:
    """Return the share of the rows to draw of each source and label, for SAMPLE_ROWS rows.

    It is the same for all labels of a source: noise rates are estimated from their frequencies.
    """
    source = factorize(sources_and_labels(data)[0], "sources")[1]
    n_rows = np.bincount(source, data.lengths)
    return np.asarray(np.minimum(1.0, SAMPLE_ROWS / len(n_rows) / n_rows)[source])


def share_by_bag(lengths: NDArray[np.intp], seed: int) -> FloatArray:
    """Return the share of each bag's rows to draw, for about SAMPLE_ROWS rows of random bags."""
    if lengths.sum() <= SAMPLE_ROWS:
        return np.ones(len(lengths))
    limit = max(ROWS_PER_BAG, SAMPLE_ROWS / len(lengths))
    share = np.minimum(1.0, limit / np.maximum(lengths, 1))
    order = np.random.default_rng(seed).permutation(len(lengths))
    is_over = np.cumsum((share * lengths)[order]) > SAMPLE_ROWS
    is_over[:2] = False  # one bag shows nothing about the classes
    share[order[is_over]] = 0.0
    return np.asarray(share)


def _draw(block: Block, keys_of: Any, share: FloatArray, seed: Any) -> tuple[Any, ...]:
    local = keys_of(block)[1]
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(local)) < share[local])
    return block.rows[rows], local[rows], block.weights[rows]
