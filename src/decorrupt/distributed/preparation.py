"""From a block to a partition: the terms of its rows, in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import RiskTerms, Strata, factorize
from decorrupt.distributed.blocks import Block
from decorrupt.distributed.large_bags import LargeBagRows
from decorrupt.distributed.partition import CHUNK_ROWS, Chunk, Partition
from decorrupt.losses import MarginLoss
from decorrupt.risks import CorrectedRisk
from decorrupt.risks.count import count_risk
from decorrupt.risks.multiclass import ClassCorrectedRisk


@dataclass(frozen=True)
class BagCodes:
    """The number of each row's bag within its block."""

    def __call__(self, block: Block) -> NDArray[np.intp]:
        """Return one number per row, in the order of the block's distinct ids."""
        return factorize(block.ids, "bags")[1]


@dataclass(frozen=True)
class CellCodes:
    """The number of each row's cell: its class, or its source and its noisy label."""

    classes: NDArray[Any]
    sources: NDArray[Any] | None = None

    def __call__(self, block: Block) -> NDArray[np.intp]:
        """Return one number per row, in the order of all sources and classes."""
        cell = _positions(block.targets, self.classes)
        if self.sources is None:
            return cell
        return _positions(block.ids, self.sources) * len(self.classes) + cell


def _positions(values: Any, known: NDArray[Any]) -> NDArray[np.intp]:
    ids, codes = factorize(values, "y or sources")
    place = {value: number for number, value in enumerate(known.tolist())}
    found = np.array([place[value] for value in ids.tolist()], dtype=np.intp)
    return found[codes]


@dataclass(frozen=True)
class TermsRecipe:
    """The corrected risk: coefficients that are equal for all rows of a bag.

    Attributes
    ----------
    terms : RiskTerms, or ndarray of shape (n_bags, n_classes)
        Per bag of the block.
    loss : MarginLoss
        For two classes.
    is_split : bool
        Whether the sums of the two classes are kept apart, because they are corrected.
    """

    terms: Any
    loss: MarginLoss
    is_split: bool = False

    def risks(self, codes: NDArray[np.intp]) -> tuple[Any, ...]:
        """Return the risks of rows with these bags."""
        if not isinstance(self.terms, RiskTerms):
            return (ClassCorrectedRisk(self.terms[codes]),)
        pos, neg = self.terms.coef_pos[codes], self.terms.coef_neg[codes]
        if not self.is_split:
            return (CorrectedRisk(RiskTerms(pos, neg), self.loss),)
        zero = np.zeros(len(codes))
        both = RiskTerms(pos, zero), RiskTerms(zero, neg)
        return tuple(CorrectedRisk(terms, self.loss) for terms in both)


def prepare_terms(block: Block, codes_of: Any, recipe: TermsRecipe) -> Partition:
    """Return the partition of a corrected risk."""
    n_rows = block.rows.shape[0]
    if not n_rows:
        return Partition([])
    codes = codes_of(block)
    chunks = []
    for start in range(0, n_rows, CHUNK_ROWS):
        some = slice(start, start + CHUNK_ROWS)
        chunks.append(Chunk(block.rows[some], recipe.risks(codes[some]), codes[some]))
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


@dataclass(frozen=True)
class CountRecipe:
    """The count likelihood −(1/n)·Σ_k log P(c_k).

    Attributes
    ----------
    n_total : int
        Rows of the data set.
    large_codes : ndarray of int
        The bags that are larger than a partition, in ascending order.
    large_bags : float or "auto"
        As in :func:`decorrupt.risks.count.count_risk`.
    """

    n_total: int
    large_codes: NDArray[np.intp]
    large_bags: float | str = "auto"


def prepare_counts(coded: CodedRows | None, recipe: CountRecipe) -> Partition:
    """Return the partition of a count likelihood: chunks of whole bags, large bags apart."""
    if coded is None or not len(coded.codes):
        return Partition([])
    order = np.argsort(coded.codes, kind="stable")
    is_large = np.isin(coded.codes[order], recipe.large_codes)
    chunks = [_count_chunk(coded, some, recipe) for some in _whole_bags(coded, order[~is_large])]
    return Partition(chunks, list(_large_parts(coded, order[is_large], recipe)))


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


def _count_chunk(coded: CodedRows, rows: NDArray[np.intp], recipe: CountRecipe) -> Chunk:
    codes, first, local = np.unique(coded.codes[rows], return_index=True, return_inverse=True)
    strata = Strata(codes, local, coded.proportions[rows][first])
    # The rows carry standard deviations, with 0 for none.
    noise = {
        code: sd or None
        for code, sd in zip(codes.tolist(), coded.noise[rows][first].tolist(), strict=True)
    }
    risk = count_risk(strata, large_bags=recipe.large_bags, count_noise=noise)
    return Chunk(coded.rows[rows], (replace(risk, n_rows=recipe.n_total),))


def _large_parts(
    coded: CodedRows, order: NDArray[np.intp], recipe: CountRecipe
) -> Iterator[LargeBagRows]:
    codes = coded.codes[order]
    for rows in np.split(order, np.flatnonzero(np.diff(codes)) + 1):
        if len(rows):
            bag = int(np.searchsorted(recipe.large_codes, coded.codes[rows[0]]))
            for start in range(0, len(rows), CHUNK_ROWS):
                some = rows[start : start + CHUNK_ROWS]
                yield LargeBagRows(coded.rows[some], bag, recipe.n_total)
