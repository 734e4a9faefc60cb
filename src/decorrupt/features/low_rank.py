"""Low-rank kernel approximation with known error: pivoted partial Cholesky."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import get_blas_funcs
from scipy.linalg.lapack import get_lapack_funcs

from decorrupt._typing import FloatArray

SMALLEST_BLOCK = 16
LARGEST_BLOCK = 256
# Entries of the columns of one block; there are three such arrays.
LARGEST_BLOCK_ENTRIES = 20_000 * LARGEST_BLOCK
PIVOTINGS = ("random", "greedy")


@dataclass(frozen=True)
class CholeskyFactor:
    """F with FFᵀ ≈ K, exact in the rows and columns of the pivots.

    Attributes
    ----------
    factor : ndarray of shape (n_rows, rank)
        F; its first r columns are the factor of rank r.
    pivots : ndarray of int, shape (rank,)
        The rows chosen as pivots.
    triangle : ndarray of shape (rank, rank)
        F at the pivots: lower triangular, and F = K[:, pivots]·triangle⁻ᵀ.
    error : float
        trace(K − FFᵀ) / trace(K).
    """

    factor: FloatArray
    pivots: NDArray[np.intp]
    triangle: FloatArray
    error: float


def pivoted_cholesky(
    columns: Callable[[NDArray[np.intp]], FloatArray],
    diagonal: FloatArray,
    *,
    tol: float,
    max_rank: int,
    pivoting: str = "random",
    random_state: np.random.RandomState,
    weights: NDArray[Any] | None = None,
) -> CholeskyFactor:
    """Return F with trace(K − FFᵀ) ≤ tol·trace(K), or F of rank `max_rank`.

    "random" pivots are drawn in blocks with probability proportional to the residual diagonal, and
    redundant pivots of a block are dropped (Chen et al. 2024; Dong et al. 2023). A "greedy" pivot
    is the largest entry of the residual diagonal, one at a time. Cost O(n·rank²), memory n·rank:
    the Gram matrix is evaluated by columns and never stored.

    Parameters
    ----------
    columns : callable
        Maps indices to these columns of the Gram matrix, shape (n_rows, n_indices).
    diagonal : ndarray of shape (n_rows,)
        The Gram matrix's diagonal.
    tol : float
        Relative trace error to reach; 0 for full numerical rank.
    max_rank : int
        Maximum rank.
    pivoting : {"random", "greedy"}
        How pivots are chosen.
    random_state : RandomState
        Source of the random pivots.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents: pivots and traces are those of the repeated rows.

    Raises
    ------
    ValueError
        If the kernel is found not to be positive semi-definite.
    """
    if pivoting not in PIVOTINGS:
        raise ValueError(f"unknown pivoting {pivoting!r}: choose one of {', '.join(PIVOTINGS)}")
    remaining = np.array(diagonal)
    _check_diagonal(remaining)
    weights = np.ones(len(remaining)) if weights is None else weights
    trace = float(weights @ remaining)
    # Below this, the residual diagonal is rounding error.
    negligible = float(8 * np.finfo(remaining.dtype).eps * remaining.max(initial=0.0))
    indefinite = float(np.finfo(remaining.dtype).eps ** (1 / 3) * remaining.max(initial=0.0))
    # Unused columns of an empty Fortran-ordered array take address space but no memory.
    factor = np.empty((len(remaining), max_rank), dtype=remaining.dtype, order="F")
    pivots = np.empty(max_rank, dtype=np.intp)
    # In place, because allocating memory per block would take longer than the arithmetic.
    largest_block = largest_pivot_block(len(remaining))
    gemm, trsm = get_blas_funcs(("gemm", "trsm"), (factor,))
    rank = 0
    while rank < max_rank and weights @ remaining > tol * trace and remaining.max() > negligible:
        block = (
            1 if pivoting == "greedy" else int(np.clip(rank // 4, SMALLEST_BLOCK, largest_block))
        )
        candidates = _draw(
            remaining, weights, min(block, max_rank - rank), pivoting, random_state, negligible
        )
        residual = np.asfortranarray(columns(candidates), dtype=factor.dtype)
        if rank:
            known = factor[candidates, :rank]
            residual = gemm(-1, factor[:, :rank], known, 1, residual, trans_b=1, overwrite_c=1)
        # Where the residual columns do not confirm the residual diagonal, it is rounding error.
        confirmed = residual[candidates, np.arange(len(candidates))] > 0.5 * remaining[candidates]
        remaining[candidates[~confirmed]] = 0.0
        if not confirmed.any():
            continue
        usable = np.flatnonzero(confirmed)
        gram = residual[np.ix_(candidates[usable], usable)]
        kept, triangle = _independent(gram, negligible)
        chosen = candidates[usable[kept]]
        new_columns = residual.T[usable[kept]].T  # keeps the memory order
        new_columns = trsm(1, triangle, new_columns, side=1, lower=1, trans_a=1, overwrite_b=1)
        factor[:, rank : rank + len(chosen)] = new_columns
        pivots[rank : rank + len(chosen)] = chosen
        rank += len(chosen)
        remaining -= np.einsum("ji,ji->i", new_columns.T, new_columns.T)
        remaining[chosen] = 0.0
        if remaining.min() < -indefinite:
            raise ValueError(
                f"the kernel is not positive semi-definite: the residual diagonal is "
                f"{remaining.min():.3g} in row {remaining.argmin()}"
            )
        np.maximum(remaining, 0.0, out=remaining)
    factor, pivots = factor[:, :rank], pivots[:rank]
    # The upper triangle contains only rounding errors.
    triangle = np.tril(factor[pivots])
    error = float(weights @ remaining) / trace if trace > 0 else 0.0
    return CholeskyFactor(factor, pivots, triangle, error)


def largest_pivot_block(n_rows: int) -> int:
    """Return the pivots per block: fewer with many rows, so that a block's columns stay small."""
    return int(np.clip(LARGEST_BLOCK_ENTRIES // max(n_rows, 1), 4 * SMALLEST_BLOCK, LARGEST_BLOCK))


def _draw(
    remaining: FloatArray,
    weights: NDArray[Any],
    block: int,
    pivoting: str,
    rng: np.random.RandomState,
    negligible: float,
) -> NDArray[np.intp]:
    if pivoting == "greedy":
        return np.array([remaining.argmax()])
    cumulative = np.cumsum(np.where(remaining > negligible, weights * remaining, 0.0))
    draws = rng.uniform(size=block) * cumulative[-1]
    return np.unique(np.searchsorted(cumulative, draws, side="right").clip(max=len(remaining) - 1))


def _independent(gram: FloatArray, negligible: float) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the indices of a well-conditioned subset of a block, and its Cholesky triangle.

    Pivots are added while the largest remaining diagonal entry of the block exceeds the initial
    mean divided by the block size (the truncation of Dong et al. 2023).
    """
    (pstrf,) = get_lapack_funcs(("pstrf",), (gram,))
    cut = max(negligible, float(np.trace(gram)) / len(gram) ** 2)
    triangle, order, rank, _ = pstrf(gram, tol=cut, lower=1)
    rank = max(int(rank), 1)
    return order[:rank] - 1, np.tril(triangle[:rank, :rank])


def _check_diagonal(diagonal: FloatArray) -> None:
    if not np.isfinite(diagonal).all() or diagonal.min(initial=0.0) < 0:
        row = int(np.flatnonzero(~(diagonal >= 0) | ~np.isfinite(diagonal))[0])
        raise ValueError(
            f"the kernel of row {row} with itself is {diagonal[row]:g}: a kernel must be positive "
            "semi-definite, with a finite, non-negative diagonal"
        )
