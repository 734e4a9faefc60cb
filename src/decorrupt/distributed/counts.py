"""Count likelihoods over partitions: whole bags, and bags that are larger than a partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.distributed.blocks import Block
from decorrupt.distributed.data import Data
from decorrupt.distributed.large_bags import LargeBagRisk, LargeBags
from decorrupt.distributed.partition import CHUNK_ROWS, Chunk, Partition
from decorrupt.distributed.shuffle import CodedRows, rows_by_bag, spill
from decorrupt.distributed.work import PartitionedRisk, Work
from decorrupt.observed import ClassCounts, CountNoise, Observed, read_weights
from decorrupt.risks import LARGE_BAG, count_risk


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
    crosses = _crosses_partitions(data, table)
    is_large = crosses & (data.lengths > max(*data.block_rows, LARGE_BAG))
    if data.upper is not None:
        is_large &= table.counts.is_exact | table.counts.is_noisy
    known, noises = pack(table)
    code = delayed(code_rows)
    coded = [
        code(block, data.keys_of, bags, known[bags])
        for block, bags in zip(data.blocks.tasks, data.bags_of, strict=True)
    ]
    if (crosses & ~is_large).any():
        coded = _shuffled(work, coded, crosses & ~is_large, known.shape[1])
    prepare, codes = delayed(prepare_counts), np.flatnonzero(is_large)
    shape = table.n_rows, table.n_classes
    parts = [prepare(rows, shape, noises, codes, large_bags) for rows in coded]
    return PartitionedRisk(parts, large_bags=LargeBags.of(table, codes) if len(codes) else None)


def _crosses_partitions(data: Data, table: Observed) -> NDArray[np.bool_]:
    """Return whether a bag is in several blocks and its likelihood is not a sum over rows."""
    n_blocks = np.bincount(np.concatenate(data.bags_of), minlength=table.n_bags)
    is_pure = (table.counts.lower == table.sizes[:, None]).any(axis=1)
    return np.asarray((n_blocks > 1) & ~(is_pure & table.counts.is_exact))


def _shuffled(work: Work, coded: list[Any], is_whole: NDArray[np.bool_], n_known: int) -> list[Any]:
    """Return the rows by bag, in memory or, if they do not fit, in the scratch folder."""
    none = np.empty(0)
    like = CodedRows(work.sample.rows[:0], none.astype(np.intp), np.empty((0, n_known)), none)
    n_parts = max(1, sum(rows > 0 for rows in work.data.block_rows))
    parts = rows_by_bag(work.engine, coded, is_whole, like, n_parts, work.folder)
    if work.rows_fit:
        return work.engine.persist(parts)
    return spill(work.engine, parts, work.folder, like)


def pack(table: Observed) -> tuple[FloatArray, tuple[CountNoise | None, ...]]:
    """Return numbers that rows can carry through a shuffle, one line per bag, and the noises.

    The numbers are the lower and, if they differ, the upper ends as shares, so that they hold for
    a part of a bag with one class only, too; and the number of the bag's noise.
    """
    counts, sizes = table.counts, table.sizes[:, None]
    ends = [counts.lower] if counts.is_exact.all() else [counts.lower, counts.upper]
    noises = {noise: number for number, noise in enumerate(dict.fromkeys(counts.noise))}
    number = [noises[noise] for noise in counts.noise]
    return np.column_stack([*(end / sizes for end in ends), number]), tuple(noises)


def _unpack(
    known: FloatArray, sizes: NDArray[Any], n_classes: int, noises: Sequence[CountNoise | None]
) -> ClassCounts:
    noise = [noises[number] for number in known[:, -1].astype(int).tolist()]
    is_noisy = np.array([one is not None for one in noise], dtype=bool)[:, None]
    lower, upper = (
        np.where(is_noisy | (shares == 1), counts, np.rint(counts))
        for shares in (known[:, :n_classes], known[:, -1 - n_classes : -1])
        for counts in (shares * sizes[:, None],)
    )
    return ClassCounts(lower, upper, noise, np.zeros(len(sizes), dtype=bool))


def code_rows(
    block: Block, keys_of: Any, bags: NDArray[np.intp], known: FloatArray
) -> CodedRows | None:
    """Return the rows with what is known of their bags; None if there are none.

    Parameters
    ----------
    block : Block
        The data.
    keys_of : callable
        Numbers the bags of the block.
    bags, known : ndarray
        Number in the data set of each bag of the block, and its line from :func:`pack`.
    """
    if not block.rows.shape[0]:
        return None
    codes = keys_of(block)[1]
    return CodedRows(block.rows, bags[codes], known[codes], block.weights)


def prepare_counts(
    coded: CodedRows | None,
    shape: tuple[float, int],
    noises: Sequence[CountNoise | None],
    large_codes: NDArray[np.intp],
    large_bags: float | str,
) -> Partition:
    """Return the partition of −(1/n)·Σ_k log P(c_k): chunks of whole bags, or of one large bag.

    Parameters
    ----------
    coded : CodedRows or None
        The rows.
    shape : tuple of two numbers
        Rows of the data set, and classes.
    noises : sequence
        The noises that `coded.known` numbers.
    large_codes : ndarray of int
        The bags that are larger than a partition, in ascending order.
    large_bags : float or "auto"
        As in :func:`decorrupt.risks.count_risk`.
    """
    if coded is None or not len(coded.codes):
        return Partition([])
    n_total, n_classes = shape
    order = np.argsort(coded.codes, kind="stable")
    is_large = np.isin(coded.codes[order], large_codes)
    chunks: list[Chunk] = []
    for rows in _whole_bags(coded.codes, order[~is_large], CHUNK_ROWS):
        risk = count_risk(_bags_of(coded, rows, n_classes, noises), large_bags=large_bags)
        chunks.append(Chunk(coded.rows[rows], (replace(risk, n_rows=n_total),)))
    for rows in _whole_bags(coded.codes, order[is_large], 1):
        bag = int(np.searchsorted(large_codes, coded.codes[rows[0]]))
        for start in range(0, len(rows), CHUNK_ROWS):
            some = rows[start : start + CHUNK_ROWS]
            part = LargeBagRisk(bag, n_total, coded.weights[some])
            chunks.append(Chunk(coded.rows[some], (part,)))
    return Partition(chunks)


def _whole_bags(
    codes: NDArray[np.intp], order: NDArray[np.intp], n_rows: int
) -> list[NDArray[np.intp]]:
    """Return rows of whole bags, from rows sorted by bag; every piece has about `n_rows` rows."""
    if not len(order):
        return []
    starts = np.append(0, np.flatnonzero(np.diff(codes[order])) + 1)
    pieces = np.flatnonzero(np.diff(starts // n_rows)) + 1
    return np.split(order, starts[pieces])


def _bags_of(
    coded: CodedRows, rows: NDArray[np.intp], n_classes: int, noises: Sequence[CountNoise | None]
) -> Observed:
    """Return the bags of some rows and what is known about their counts."""
    codes, first, row_bag = np.unique(coded.codes[rows], return_index=True, return_inverse=True)
    known = coded.known[rows][first]
    weights, shares = read_weights(coded.weights[rows], len(rows)), known[:, :n_classes]
    bags = Observed(np.arange(n_classes), codes, row_bag, shares, weights=weights)
    return replace(bags, reported=_unpack(known, bags.sizes, n_classes, noises))
