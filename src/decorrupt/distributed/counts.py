"""Count likelihoods over partitions: whole bags, and bags that are larger than a partition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt.distributed.classifier import Work
from decorrupt.distributed.large_bags import LargeBags
from decorrupt.distributed.preparation import CodedRows, code_rows, pack, prepare_counts
from decorrupt.distributed.shuffle import rows_by_bag, spill
from decorrupt.distributed.summary import Data
from decorrupt.risks.bag_counts import LARGE_BAG
from decorrupt.risks.count_noise import noise_variances
from decorrupt.risks.multiclass import whole_counts
from decorrupt.risks.observations import CountObservations


def count_problem(
    work: Work, observed: CountObservations, large_bags: float | str
) -> tuple[list[Any], LargeBags | None]:
    """Return one task per partition, and the bags larger than a partition.

    Parameters
    ----------
    work : Work
        The blocks and their bags.
    observed : CountObservations
        What is known about the counts of all bags.
    large_bags
        As in :func:`decorrupt.risks.count.count_risk`.
    """
    data, delayed = work.data, work.engine.dask.delayed
    table = data.table
    crosses = _crosses_partitions(data, observed)
    is_large = crosses & (table.sizes > max(*data.block_rows, LARGE_BAG))
    if data.upper is not None:
        is_large &= observed.is_exact | observed.is_noisy
    known, noises = pack(observed, table.sizes)
    code, coded = delayed(code_rows), []
    for block, bags in zip(data.blocks.tasks, data.bags_of, strict=True):
        coded.append(code(block, data.codes_of, bags, known[bags]))
    if (crosses & ~is_large).any():
        coded = _shuffled(work, coded, crosses & ~is_large, known.shape[1])
    prepare, large_codes = delayed(prepare_counts), np.flatnonzero(is_large)
    n_rows, n_classes = data.columns.n_rows, table.n_classes
    parts = [prepare(rows, n_rows, n_classes, noises, large_codes, large_bags) for rows in coded]
    return parts, _large_bags(work, is_large, observed) if is_large.any() else None


def _crosses_partitions(data: Data, observed: CountObservations) -> NDArray[np.bool_]:
    """Return whether a bag is in several blocks and its likelihood is not a sum over rows."""
    sizes = data.table.sizes
    n_blocks = np.bincount(np.concatenate(data.bags_of), minlength=len(sizes))
    counts = observed.lower.reshape(len(sizes), -1)
    is_pure = ((counts == 0) | (counts == sizes[:, None])).all(axis=1)
    return np.asarray((n_blocks > 1) & ~(is_pure & observed.is_exact))


def _shuffled(work: Work, coded: list[Any], is_whole: NDArray[np.bool_], n_known: int) -> list[Any]:
    """Return the rows by bag, in memory or, if they do not fit, in the scratch folder."""
    like = CodedRows(
        work.sample.rows[:0], np.empty(0, dtype=np.intp), np.empty((0, n_known), dtype=float)
    )
    n_parts = max(1, sum(rows > 0 for rows in work.data.block_rows))
    parts = rows_by_bag(work.engine, coded, is_whole, like, n_parts, work.folder)
    if work.rows_fit:
        return work.engine.persist(parts)
    return spill(work.engine, parts, work.folder, like)


def _large_bags(work: Work, is_large: NDArray[np.bool_], observed: CountObservations) -> LargeBags:
    bags = np.flatnonzero(is_large)
    sizes, n_classes = work.data.table.sizes[bags].astype(float), work.data.table.n_classes
    found = observed.take(bags)
    variance = noise_variances(found.noise)
    if n_classes is None:
        positives = np.where(found.is_noisy, found.lower, (found.lower + found.upper) // 2)
        counts = np.column_stack([sizes - positives, positives])
        # One noisy count of two classes: the other is its complement, with the same noise.
        variance = 2 * variance
    else:
        whole = whole_counts(work.data.table)[bags]
        counts = np.where(found.is_noisy[:, None], found.lower, whole)
    return LargeBags(bags, counts.astype(float), variance, work.data.columns.n_rows)
