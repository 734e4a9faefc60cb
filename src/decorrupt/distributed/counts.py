"""Count likelihoods over partitions: whole bags, and bags that are larger than a partition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption.class_means import class_shares
from decorrupt.distributed.classifier import Work
from decorrupt.distributed.large_bags import LargeBags
from decorrupt.distributed.preparation import CodedRows, code_rows, prepare_counts
from decorrupt.distributed.shuffle import rows_by_bag, spill
from decorrupt.distributed.summary import Data
from decorrupt.risks.bag_counts import LARGE_BAG
from decorrupt.risks.count_noise import GaussianNoise, read_count_noise
from decorrupt.risks.multiclass import whole_counts


def count_problem(
    work: Work, count_noise: Any, large_bags: float | str
) -> tuple[list[Any], LargeBags | None]:
    """Return one task per partition, and the bags larger than a partition.

    Parameters
    ----------
    work : Work
        The blocks and their bags.
    count_noise, large_bags
        As in :func:`decorrupt.risks.count.count_risk`; noise must be Gaussian.
    """
    data, delayed = work.data, work.engine.dask.delayed
    table = data.table
    noise = _standard_deviations(table.ids, count_noise)
    crosses = _crosses_partitions(data, noise)
    is_large = crosses & (table.sizes > max(*data.block_rows, LARGE_BAG))
    code, coded = delayed(code_rows), []
    for block, bags in zip(data.blocks.tasks, data.bags_of, strict=True):
        coded.append(code(block, data.codes_of, bags, table.proportions[bags], noise[bags]))
    if (crosses & ~is_large).any():
        coded = _shuffled(work, coded, crosses & ~is_large)
    prepare, large_codes = delayed(prepare_counts), np.flatnonzero(is_large)
    parts = [prepare(rows, data.columns.n_rows, large_codes, large_bags) for rows in coded]
    return parts, _large_bags(work, is_large, noise) if is_large.any() else None


def _standard_deviations(ids: NDArray[Any], count_noise: Any) -> FloatArray:
    """Return the standard deviation of every bag's Gaussian noise, 0 where there is none."""
    scales = []
    for bag, one in zip(ids.tolist(), read_count_noise(ids, count_noise), strict=True):
        if isinstance(one, GaussianNoise | None):
            scales.append(0.0 if one is None else float(one.scale))
        else:
            raise ValueError(
                f"count_noise of bag {bag!r} is {one}: the Dask estimators take Gaussian noise "
                "only; use decorrupt.CountLikelihoodClassifier"
            )
    return np.array(scales)


def _crosses_partitions(data: Data, noise: FloatArray) -> NDArray[np.bool_]:
    """Return whether a bag is in several blocks and its likelihood is not a sum over rows."""
    n_bags = len(data.table.ids)
    n_blocks = np.bincount(np.concatenate(data.bags_of), minlength=n_bags)
    shares = data.table.proportions.reshape(n_bags, -1)
    is_certain = np.isin(shares, (0.0, 1.0)).all(axis=1) & (noise == 0)
    return np.asarray((n_blocks > 1) & ~is_certain)


def _shuffled(work: Work, coded: list[Any], is_whole: NDArray[np.bool_]) -> list[Any]:
    """Return the rows by bag, in memory or, if they do not fit, in the scratch folder."""
    data = work.data
    none = np.empty(0, dtype=np.intp)
    like = CodedRows(
        work.sample.rows[:0], none, data.table.proportions[:0], np.empty(0, dtype=float)
    )
    n_parts = max(1, sum(rows > 0 for rows in data.block_rows))
    parts = rows_by_bag(work.engine, coded, is_whole, like, n_parts, work.folder)
    if work.rows_fit:
        return work.engine.persist(parts)
    return spill(work.engine, parts, work.folder, like)


def _large_bags(work: Work, is_large: NDArray[np.bool_], noise: FloatArray) -> LargeBags:
    table, n_rows = work.data.table, work.data.columns.n_rows
    sizes = table.sizes[is_large].astype(float)
    given = sizes[:, None] * class_shares(table)[is_large]
    if table.n_classes is None:
        positives = np.rint(given[:, 1])
        counts = np.column_stack([sizes - positives, positives])
    else:
        counts = whole_counts(table)[is_large].astype(float)
    counts = np.where(noise[is_large, None] > 0, given, counts)
    # One noisy count of two classes: the other is its complement, with the same noise.
    variance = noise[is_large] ** 2 * (2 if table.n_classes is None else 1)
    return LargeBags(np.flatnonzero(is_large), counts, variance, n_rows)
