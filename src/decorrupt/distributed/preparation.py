"""From a block to a partition: the terms of its rows, in chunks."""

from __future__ import annotations

from collections.abc import Iterator
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
from decorrupt.risks.multiclass import ClassCorrectedRisk


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
    proportions : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The proportions of each row's bag.
    noise : ndarray of shape (n_rows,)
        The standard deviation of their noise.
    """

    rows: Any
    codes: NDArray[np.intp]
    proportions: FloatArray
    noise: FloatArray


def code_rows(
    block: Block,
    codes_of: Any,
    bags: NDArray[np.intp],
    proportions: FloatArray,
    noise: FloatArray,
) -> CodedRows | None:
    """Return the rows with what is known of their bags; None if there are none.

    Parameters
    ----------
    block : Block
        The data.
    codes_of : callable
        Numbers the bags of the block.
    bags, proportions, noise : ndarray
        Number in the data set, proportions and noise of each bag of the block.
    """
    if not block.rows.shape[0]:
        return None
    local = codes_of(block)
    return CodedRows(block.rows, bags[local], proportions[local], noise[local])


def prepare_counts(
    coded: CodedRows | None,
    n_total: int,
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
        risk: Any = count_risk(**_bags_of(coded, rows), large_bags=large_bags)
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


def _bags_of(coded: CodedRows, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Return the strata of some rows and the noise of their counts."""
    codes, first, local = np.unique(coded.codes[rows], return_index=True, return_inverse=True)
    strata = Strata(codes, local, coded.proportions[rows][first])
    # The rows carry standard deviations, with 0 for none.
    deviations = coded.noise[rows][first].tolist()
    noise = {code: sd or None for code, sd in zip(codes.tolist(), deviations, strict=True)}
    return {"strata": strata, "count_noise": noise}


def _by_bag(coded: CodedRows, order: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the rows of each bag, from rows sorted by bag."""
    ends = np.flatnonzero(np.diff(coded.codes[order])) + 1
    return np.split(order, ends) if len(order) else []
