"""A low-rank factor of a kernel matrix, its error known: pivoted partial Cholesky."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import get_blas_funcs
from scipy.linalg.lapack import get_lapack_funcs

from decorrupt._typing import FloatArray

SMALLEST_BLOCK = 16
LARGEST_BLOCK = 256
PIVOTINGS = ("random", "greedy")


@dataclass(frozen=True)
class CholeskyFactor:
    """F with FFᵀ ≈ K, exact in the pivots' rows and columns.

    Attributes
    ----------
    factor : ndarray of shape (n_rows, rank)
        F; its first r columns are the factor of rank r.
    pivots : ndarray of int, shape (rank,)
        The rows on which the approximation stands.
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
) -> CholeskyFactor:
    """Return F of the least rank found with trace(K − FFᵀ) ≤ tol·trace(K).

    Pivots are drawn in blocks with probability proportional to what is left of the diagonal, and
    the redundant ones of a block are left out (Chen et al. 2024; Dong et al. 2023); or greedily,
    one at a time, where most is left. Cost O(n·rank²), memory n·rank: the Gram matrix is asked
    for by columns and never held.

    Parameters
    ----------
    columns : callable
        Indices → the Gram matrix's columns there, shape (n_rows, n_indices).
    diagonal : ndarray of shape (n_rows,)
        The Gram matrix's diagonal.
    tol : float
        Relative trace error to reach; 0 goes on to full numerical rank.
    max_rank : int
        Where to stop at the latest.
    pivoting : {"random", "greedy"}
        How pivots are chosen.
    random_state : RandomState
        Source of the random pivots.

    Raises
    ------
    ValueError
        If the kernel is not positive semi-definite as far as can be seen.
    """
    if pivoting not in PIVOTINGS:
        raise ValueError(f"unknown pivoting {pivoting!r}: choose one of {', '.join(PIVOTINGS)}")
    left = np.array(diagonal)
    _refuse_negative(left)
    trace = float(left.sum(dtype=float))
    # Below this, what is left of the diagonal is rounding.
    negligible = float(8 * np.finfo(left.dtype).eps * left.max(initial=0.0))
    indefinite = float(np.finfo(left.dtype).eps ** (1 / 3) * left.max(initial=0.0))
    # Untouched columns of an empty Fortran-ordered array cost address space, not memory.
    factor = np.empty((len(left), max_rank), dtype=left.dtype, order="F")
    pivots = np.empty(max_rank, dtype=np.intp)
    # In place, because fresh memory for every block would cost more than the arithmetic.
    gemm, trsm = get_blas_funcs(("gemm", "trsm"), (factor,))
    rank = 0
    while rank < max_rank and left.sum(dtype=float) > tol * trace and left.max() > negligible:
        block = (
            1 if pivoting == "greedy" else int(np.clip(rank // 4, SMALLEST_BLOCK, LARGEST_BLOCK))
        )
        candidates = _draw(left, min(block, max_rank - rank), pivoting, random_state, negligible)
        residual = np.asfortranarray(columns(candidates), dtype=factor.dtype)
        if rank:
            known = factor[candidates, :rank]
            residual = gemm(-1, factor[:, :rank], known, 1, residual, trans_b=1, overwrite_c=1)
        # Where the columns do not bear out what is left of the diagonal, it is rounding.
        borne_out = residual[candidates, np.arange(len(candidates))] > 0.5 * left[candidates]
        left[candidates[~borne_out]] = 0.0
        if not borne_out.any():
            continue
        usable = np.flatnonzero(borne_out)
        gram = residual[np.ix_(candidates[usable], usable)]
        kept, triangle = _independent(gram, negligible)
        chosen = candidates[usable[kept]]
        fresh = residual.T[usable[kept]].T  # columns, without changing the order in memory
        fresh = trsm(1, triangle, fresh, side=1, lower=1, trans_a=1, overwrite_b=1)
        factor[:, rank : rank + len(chosen)] = fresh
        pivots[rank : rank + len(chosen)] = chosen
        rank += len(chosen)
        left -= np.einsum("ji,ji->i", fresh.T, fresh.T)
        left[chosen] = 0.0
        if left.min() < -indefinite:
            raise ValueError(
                f"the kernel is not positive semi-definite: {left.min():.3g} is left of the "
                f"diagonal in row {left.argmin()}"
            )
        np.maximum(left, 0.0, out=left)
    factor, pivots = factor[:, :rank], pivots[:rank]
    # The upper triangle holds rounding residues only.
    triangle = np.tril(factor[pivots])
    error = float(left.sum(dtype=float)) / trace if trace > 0 else 0.0
    return CholeskyFactor(factor, pivots, triangle, error)


def _draw(
    left: FloatArray, block: int, pivoting: str, rng: np.random.RandomState, negligible: float
) -> NDArray[np.intp]:
    if pivoting == "greedy":
        return np.array([left.argmax()])
    weight = np.where(left > negligible, left, 0.0).astype(float)
    cumulative = np.cumsum(weight)
    draws = rng.uniform(size=block) * cumulative[-1]
    return np.unique(np.searchsorted(cumulative, draws, side="right").clip(max=len(left) - 1))


def _independent(gram: FloatArray, negligible: float) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the indices of a well-conditioned subset of a block, and its Cholesky triangle.

    A pivot is kept while the block's largest remainder exceeds the mean remainder at the start
    divided by the block size, the truncation of Dong et al. (2023).
    """
    (pstrf,) = get_lapack_funcs(("pstrf",), (gram,))
    cut = max(negligible, float(np.trace(gram)) / len(gram) ** 2)
    triangle, order, rank, _ = pstrf(gram, tol=cut, lower=1)
    rank = max(int(rank), 1)
    return order[:rank] - 1, np.tril(triangle[:rank, :rank])


def _refuse_negative(diagonal: FloatArray) -> None:
    if not np.isfinite(diagonal).all() or diagonal.min(initial=0.0) < 0:
        row = int(np.flatnonzero(~(diagonal >= 0) | ~np.isfinite(diagonal))[0])
        raise ValueError(
            f"the kernel of row {row} with itself is {diagonal[row]:g}: a kernel must be positive "
            "semi-definite, its diagonal finite and not negative"
        )
