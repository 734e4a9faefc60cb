"""Feature maps: f(x) = ⟨θ, z(x)⟩ with ‖f‖² = ‖θ‖², linear or kernel.

A map is fitted once to the training rows. It provides their feature matrix for the solver and
converts the solver's θ into coefficients that score new rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.features.kernels import Kernel
from decorrupt.features.low_rank import pivoted_cholesky

DEFAULT_RANK_TOL = 1e-3
# Limits memory if the user sets no max_rank: 2,000 columns are 3.2 GB for 200,000 rows.
DEFAULT_MAX_RANK = 2000
SCORE_BLOCK_ROWS = 8192
# Approximation that is accurate enough to compare parameters in a search.
COARSE_ERROR = 1e-2
MIN_COARSE_RANK = 1024


@dataclass(frozen=True)
class LinearMap:
    """z(x) = x − centre, dense or sparse; the coefficients are θ itself.

    A centre other than 0 is used with an intercept: ⟨θ, x − centre⟩ + b is the same function of x
    as ⟨θ, x⟩ + (b − ⟨θ, centre⟩).
    """

    matrix: Any
    centre: FloatArray | float = 0.0
    error: float = 0.0

    @classmethod
    def centred(cls, X: Any) -> LinearMap:
        """Return the map with the columns' means as centre; sparse rows are not centred."""
        if issparse(X):
            return cls(X)
        centre = X.mean(axis=0)
        return cls(X - centre, centre)

    @property
    def rank(self) -> int:
        """Number of columns of X."""
        return int(self.matrix.shape[1])

    def coefficients(self, theta: FloatArray) -> FloatArray:
        """Return θ."""
        return theta

    def coarse_matrix(self) -> Any:
        """Return all columns: any of them may separate the classes."""
        return self.matrix


@dataclass(frozen=True)
class LowRankKernelMap:
    """z(x) = triangle⁻¹·k(landmarks, x); the exact kernel at full rank.

    Attributes
    ----------
    matrix : ndarray of shape (n_rows, rank)
        Features of the training rows, ZZᵀ ≈ K.
    pivots : ndarray of int, shape (rank,)
        The training rows that are the landmarks.
    triangle : ndarray of shape (rank, rank)
        Lower triangular.
    error : float
        trace(K − ZZᵀ) / trace(K).
    """

    matrix: FloatArray
    pivots: NDArray[np.intp]
    triangle: FloatArray
    error: float

    @property
    def rank(self) -> int:
        """Number of landmarks."""
        return len(self.pivots)

    def coefficients(self, theta: FloatArray) -> FloatArray:
        """Return β with f(x) = Σ_m β_m k(x, landmark_m): β = triangle⁻ᵀ·θ."""
        return np.asarray(
            solve_triangular(self.triangle, theta, lower=True, trans="T", check_finite=False)
        )

    def coarse_matrix(self) -> FloatArray:
        """Return the first columns, which are the features of fewer landmarks.

        Columns are added until the trace error is COARSE_ERROR. At least MIN_COARSE_RANK columns
        are kept: they are cheap and may contain what separates the classes.
        """
        if self.rank <= MIN_COARSE_RANK:
            return self.matrix
        explained = np.cumsum(np.einsum("ij,ij->j", self.matrix, self.matrix))
        trace = explained[-1] / (1 - self.error)
        rank = int(np.searchsorted(explained, (1 - COARSE_ERROR) * trace)) + 1
        return self.matrix[:, : max(rank, MIN_COARSE_RANK)]


FeatureMap = LinearMap | LowRankKernelMap


def fit_feature_map(
    X: Any,
    kernel: Kernel,
    *,
    rank_tol: float = DEFAULT_RANK_TOL,
    max_rank: int | None = None,
    random_state: Any = None,
) -> FeatureMap:
    """Return the feature map of `kernel` fitted to the rows of X.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        The training rows; for a precomputed kernel the square Gram matrix.
    kernel : Kernel
        The kernel; the linear kernel gives a :class:`LinearMap`.
    rank_tol : float
        Relative trace error to reach; 0 for full rank.
    max_rank : int or None
        Maximum rank; None: `DEFAULT_MAX_RANK`, or the number of rows if `rank_tol` is 0.
    random_state : int, RandomState or None
        Source of the random pivots.
    """
    if kernel.name == "linear":
        return LinearMap(X)
    if not 0 <= rank_tol < 1:
        raise ValueError(f"rank_tol={rank_tol!r} must be at least 0 and below 1")
    if max_rank is not None and max_rank < 1:
        raise ValueError(f"max_rank={max_rank!r} must be at least 1, or None")
    n_rows = X.shape[0]
    if max_rank is None:
        max_rank = n_rows if rank_tol == 0 else DEFAULT_MAX_RANK
    if kernel.name == "precomputed":
        check_gram(X)

    def columns(indices: NDArray[np.intp]) -> FloatArray:
        if kernel.name == "precomputed":
            block = X[:, indices]
            return np.asarray(block.toarray() if issparse(block) else block)
        return kernel.block(X[indices], X).T  # columns contiguous in memory

    factor = pivoted_cholesky(
        columns,
        kernel.diagonal(X),
        tol=rank_tol,
        max_rank=min(max_rank, n_rows),
        random_state=check_random_state(random_state),
    )
    return LowRankKernelMap(factor.factor, factor.pivots, factor.triangle, factor.error)


def kernel_scores(X: Any, kernel: Kernel, landmarks: Any, dual_coef: FloatArray) -> FloatArray:
    """Return f(x) = Σ_m β_m k(x, landmark_m) for the rows of X, in blocks of rows.

    For a precomputed kernel, `landmarks` are the columns of X that contain k(x, landmark_m).
    """
    if kernel.name == "precomputed":
        return np.asarray(X[:, landmarks] @ dual_coef)
    blocks = [
        kernel.block(X[start : start + SCORE_BLOCK_ROWS], landmarks) @ dual_coef
        for start in range(0, X.shape[0], SCORE_BLOCK_ROWS)
    ]
    return np.concatenate(blocks)


def check_gram(gram: Any) -> None:
    """Raise ValueError unless a precomputed kernel is square, as `fit` requires."""
    if gram.shape[0] != gram.shape[1]:
        raise ValueError(
            f"a precomputed kernel must be a square matrix in fit (all pairs of training rows), "
            f"got {gram.shape[0]} × {gram.shape[1]}"
        )
