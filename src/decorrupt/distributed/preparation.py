"""From a block to a partition: the terms of its rows, in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import RiskTerms, Strata
from decorrupt.distributed.blocks import Block
from decorrupt.distributed.large_bags import LargeBagRows
from decorrupt.distributed.partition import CHUNK_ROWS, Chunk, Partition
from decorrupt.losses import MarginLoss
from decorrupt.risks import CorrectedRisk
from decorrupt.risks.count import count_risk
from decorrupt.risks.count_noise import CountNoise
from decorrupt.risks.multiclass import ClassCorrectedRisk
from decorrupt.risks.observations import CountObservations


def corrected_risk(
    coef: FloatArray, loss: MarginLoss, correction: str | None = None
) -> CorrectedRisk | ClassCorrectedRisk:
    """Return Σ_j Σ_c coef_jc·ℓ_c(f_j); the columns of two classes are coef_pos and coef_neg."""
    if coef.shape[1] > 2:
        return ClassCorrectedRisk(coef)
    return CorrectedRisk(RiskTerms(*np.ascontiguousarray(coef.T)), loss, correction)


def prepare_terms(
    block: Block, codes_of: Any, coef: FloatArray, loss: MarginLoss, is_split: bool
) -> Partition:
    """Return the partition of a corrected risk.

    Parameters
    ----------
    block : Block
        The data.
    codes_of : callable
        Numbers the bags of the block.
    coef : ndarray of shape (n_bags, n_classes)
        The coefficients of each bag's rows, see :func:`corrected_risk`.
    loss : MarginLoss
        For two classes.
    is_split : bool
        Whether the sums of the two classes are kept apart, because they are corrected.
    """
    n_rows = block.rows.shape[0]
    codes = codes_of(block) if n_rows else np.empty(0, dtype=np.intp)
    sides = np.eye(2) if is_split else [1.0]
    chunks = []
    for start in range(0, n_rows, CHUNK_ROWS):
        some = slice(start, start + CHUNK_ROWS)
        risks = tuple(corrected_risk(coef[codes[some]] * side, loss) for side in sides)
        chunks.append(Chunk(block.rows[some], risks, codes[some]))
    return Partition(chunks)


@dataclass(frozen=True)
class CodedRows:
    """Rows with their bags, for a likelihood that needs whole bags.

    Attributes
    ----------
    rows : array or CSR matrix of shape (n_rows, n_columns)
        X.
    codes : ndarray of int, shape (n_rows,)
        The number of each row's bag in the whole data set.
    known : ndarray of shape (n_rows, n_known)
        What is known about the counts of each row's bag, see :func:`pack`.
    """

    rows: Any
    codes: NDArray[np.intp]
    known: FloatArray


def pack(
    observed: CountObservations, sizes: NDArray[np.intp]
) -> tuple[FloatArray, tuple[CountNoise | None, ...]]:
    """Return numbers that rows can carry through a shuffle, one line per bag, and the noises.

    The numbers are the lower and, if they differ, the upper ends as shares, so that they hold for
    a part of a bag with one class only, too; and the number of the bag's noise.
    """
    lower, upper = observed.as_shares(sizes)
    shares = [lower] if np.array_equal(lower, upper) else [lower, upper]
    noises = {noise: number for number, noise in enumerate(dict.fromkeys(observed.noise))}
    number = [noises[noise] for noise in observed.noise]
    return np.column_stack([*shares, number]), tuple(noises)


def _unpack(
    known: FloatArray, sizes: NDArray[np.intp], n_classes: int | None, noises: Sequence[Any]
) -> CountObservations:
    width = n_classes or 1
    noise = [noises[number] for number in known[:, -1].astype(int).tolist()]
    is_noisy = np.array([one is not None for one in noise], dtype=bool)[:, None]
    lower, upper = (
        np.where(is_noisy, counts, np.rint(counts))
        for counts in (
            known[:, :width] * sizes[:, None],
            known[:, -1 - width : -1] * sizes[:, None],
        )
    )
    if n_classes is None:
        lower, upper = lower[:, 0], upper[:, 0]
    return CountObservations(lower, upper, noise, np.zeros(len(sizes), dtype=bool))


def code_rows(
    block: Block, codes_of: Any, bags: NDArray[np.intp], known: FloatArray
) -> CodedRows | None:
    """Return the rows with what is known of their bags; None if there are none.

    Parameters
    ----------
    block : Block
        The data.
    codes_of : callable
        Numbers the bags of the block.
    bags, known : ndarray
        Number in the data set of each bag of the block, and what :func:`pack` says about it.
    """
    if not block.rows.shape[0]:
        return None
    local = codes_of(block)
    return CodedRows(block.rows, bags[local], known[local])


def prepare_counts(
    coded: CodedRows | None,
    n_total: int,
    n_classes: int | None,
    noises: Sequence[CountNoise | None],
    large_codes: NDArray[np.intp],
    large_bags: float | str,
) -> Partition:
    """Return the partition of −(1/n)·Σ_k log P(c_k): chunks of whole bags, large bags apart.

    Parameters
    ----------
    coded : CodedRows or None
        The rows.
    n_total : int
        n, the rows of the data set.
    n_classes : int or None
        None for two classes.
    noises : sequence
        The noises that `coded.known` numbers.
    large_codes : ndarray of int
        The bags that are larger than a partition, in ascending order.
    large_bags : float or "auto"
        As in :func:`decorrupt.risks.count.count_risk`.
    """
    if coded is None or not len(coded.codes):
        return Partition([])
    order = np.argsort(coded.codes, kind="stable")
    is_large = np.isin(coded.codes[order], large_codes)
    chunks = []
    for rows in _whole_bags(coded, order[~is_large]):
        bags = _bags_of(coded, rows, n_classes, noises)
        risk: Any = count_risk(bags, large_bags=large_bags)
        chunks.append(Chunk(coded.rows[rows], (replace(risk, n_rows=n_total),)))
    large = []
    for rows in _by_bag(coded, order[is_large]):
        bag = int(np.searchsorted(large_codes, coded.codes[rows[0]]))
        for start in range(0, len(rows), CHUNK_ROWS):
            some = rows[start : start + CHUNK_ROWS]
            large.append(LargeBagRows(coded.rows[some], bag, n_total))
    return Partition(chunks, large)


def _whole_bags(coded: CodedRows, order: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Yield rows of whole bags, about CHUNK_ROWS at a time."""
    codes = coded.codes[order]
    ends = np.append(np.flatnonzero(np.diff(codes)) + 1, len(codes))
    start = 0
    while start < len(codes):
        fitting = np.searchsorted(ends, start + CHUNK_ROWS, side="right") - 1
        end = ends[fitting] if fitting >= 0 else start
        if end <= start:  # a bag of more than CHUNK_ROWS rows
            end = ends[np.searchsorted(ends, start, side="right")]
        yield order[start:end]
        start = int(end)


def _bags_of(
    coded: CodedRows, rows: NDArray[np.intp], n_classes: int | None, noises: Sequence[Any]
) -> Strata:
    """Return the strata of some rows and what is observed about their counts."""
    codes, first, local = np.unique(coded.codes[rows], return_index=True, return_inverse=True)
    known, sizes = coded.known[rows][first], np.bincount(local)
    shares = known[:, : n_classes or 1]
    observed = _unpack(known, sizes, n_classes, noises)
    return Strata(codes, local, shares if n_classes else shares[:, 0], observed=observed)


def _by_bag(coded: CodedRows, order: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the rows of each bag, from rows sorted by bag."""
    ends = np.flatnonzero(np.diff(coded.codes[order])) + 1
    return np.split(order, ends) if len(order) else []
