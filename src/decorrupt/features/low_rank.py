"""Low-rank kernel approximation with known error: pivoted partial Cholesky."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import get_blas_funcs
from scipy.linalg.lapack import get_lapack_funcs

from decorrupt._typing import FloatArray

MIN_BLOCK, MAX_BLOCK = 16, 256
# Entries of the columns of one block; there are three such arrays.
MAX_BLOCK_ENTRIES = 20_000 * MAX_BLOCK


def pivoted_cholesky(
    columns: Callable[[NDArray[np.intp]], FloatArray],
    diagonal: FloatArray,
    *,
    tol: float,
    max_rank: int,
    random_state: np.random.RandomState,
    weights: NDArray[Any] | None = None,
) -> tuple[FloatArray, NDArray[np.intp], FloatArray, float]:
    """Return F with trace(K − FFᵀ) ≤ tol·trace(K), or of rank `max_rank`, and its pivots.

    Pivots are drawn in blocks with probability proportional to the residual diagonal, and redundant
    pivots of a block are dropped (Chen et al. 2024; Dong et al. 2023). Cost O(n·rank²), memory
    n·rank: the Gram matrix is evaluated by columns and never stored.

    Parameters
    ----------
    columns : callable
        Maps indices to these columns of the Gram matrix, shape (n_rows, n_indices).
    diagonal : ndarray of shape (n_rows,)
        The Gram matrix's diagonal.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents: pivots and traces are those of the repeated rows.

    Returns
    -------
    factor : ndarray of shape (n_rows, rank)
        F, exact in the rows of the pivots; its first r columns are the factor of rank r.
    pivots : ndarray of int, shape (rank,)
        The rows chosen as pivots.
    triangle : ndarray of shape (rank, rank)
        F at the pivots: lower triangular, and F = K[:, pivots]·triangle⁻ᵀ.
    error : float
        trace(K − FFᵀ) / trace(K).
    """
    remaining = np.array(diagonal)
    for row in np.flatnonzero(~((remaining >= 0) & np.isfinite(remaining)))[:1]:
        raise ValueError(
            f"the kernel of row {row} with itself is {remaining[row]:g}: a kernel must be positive "
            "semi-definite, with a finite, non-negative diagonal"
        )
    weights = np.ones(len(remaining)) if weights is None else weights
    trace = float(weights @ remaining)
    # Below this, the residual diagonal is rounding error.
    negligible = float(8 * np.finfo(remaining.dtype).eps * remaining.max(initial=0.0))
    indefinite = float(np.finfo(remaining.dtype).eps ** (1 / 3) * remaining.max(initial=0.0))
    # Unused columns of an empty Fortran-ordered array take address space but no memory.
    factor = np.empty((len(remaining), max_rank), dtype=remaining.dtype, order="F")
    pivots = np.empty(max_rank, dtype=np.intp)
    # In place, because allocating memory per block would take longer than the arithmetic.
    gemm, trsm = get_blas_funcs(("gemm", "trsm"), (factor,))
    # Fewer pivots per block with many rows, so that a block's columns stay small.
    max_block = np.clip(MAX_BLOCK_ENTRIES // max(len(factor), 1), 4 * MIN_BLOCK, MAX_BLOCK)
    rank = 0
    while rank < max_rank and weights @ remaining > tol * trace and remaining.max() > negligible:
        n_draws = min(int(np.clip(rank // 4, MIN_BLOCK, max_block)), max_rank - rank)
        cumulative = np.cumsum(np.where(remaining > negligible, weights * remaining, 0.0))
        draws = random_state.uniform(size=n_draws) * cumulative[-1]
        drawn = np.searchsorted(cumulative, draws, side="right").clip(max=len(remaining) - 1)
        candidates = np.unique(drawn)
        residual = np.asfortranarray(columns(candidates), dtype=factor.dtype)
        if rank:
            so_far = factor[candidates, :rank]
            residual = gemm(-1, factor[:, :rank], so_far, 1, residual, trans_b=1, overwrite_c=1)
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
    error = float(weights @ remaining) / trace if trace > 0 else 0.0
    # The upper triangle contains only rounding errors.
    return factor, pivots, np.tril(factor[pivots]), error


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
