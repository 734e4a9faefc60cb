"""Feature maps: f(x) = ⟨θ, z(x)⟩ with ‖f‖² = ‖θ‖²: linear, landmarks, neighbours.

A map is fitted once to the training rows. It provides their feature matrix for the solver and
converts the solver's θ into coefficients that score new rows.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.features.kernel import Kernel
from decorrupt.features.kernels import OF_SINGLE_ROWS, KernelFunction, column_means
from decorrupt.features.low_rank import pivoted_cholesky
from decorrupt.features.memory_budget import MANY_ROWS, default_max_rank, rank_in_budget
from decorrupt.features.neighbours import N_EIGENPAIRS, diffusion_features, neighbour_means
from decorrupt.features.principal import fit_principal_projection, project
from decorrupt.observed import refuse_weights

LOGGER = logging.getLogger("decorrupt")
SCORE_BLOCK_ROWS = 8192
# Rows per block of a kernel column: temporary arrays stay small.
COLUMN_BLOCK_ROWS = 32_768
# Approximation that is accurate enough to compare parameters in a search.
COARSE_ERROR = 1e-2
MIN_COARSE_RANK = 1024
# Of many rows fewer landmarks are compared: about so many cells (rows × landmarks), but not fewer
# landmarks than LEAST_COARSE_RANK. With 341 landmarks instead of 1,770 for 30,000 synthetic rows,
# weights of configurations changed by up to 0.03 and the AUC on other rows by 0.0003.
COARSE_CELLS = 1e7
LEAST_COARSE_RANK = 256
# The graph of nearest rows has at most this many rows; its time grows with their square.
MOST_GRAPH_ROWS = 5000


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
    def centred(cls, X: Any, weights: Any = None) -> LinearMap:
        """Return the map with the columns' means as centre; sparse rows are not centred."""
        if issparse(X):
            return cls(X)
        centre = column_means(X, weights).astype(X.dtype, copy=False)
        return cls(X - centre, centre)

    @property
    def rank(self) -> int:
        """Number of columns of X."""
        return int(self.matrix.shape[1])

    def coefficients(self, theta: FloatArray) -> FloatArray:
        """Return θ."""
        return theta

    def coarse(self) -> LinearMap:
        """Return the map itself: any column may separate the classes."""
        return self


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
    projection : ndarray of shape (n_columns, n_components) or None
        If not None, the kernel is one of the coordinates of
        :func:`~decorrupt.features.fit_principal_projection`.
    """

    matrix: FloatArray
    pivots: NDArray[np.intp]
    triangle: FloatArray
    error: float
    projection: FloatArray | None = None

    @property
    def rank(self) -> int:
        """Number of landmarks."""
        return len(self.pivots)

    def coefficients(self, theta: FloatArray) -> FloatArray:
        """Return β with f(x) = Σ_m β_m k(x, landmark_m): β = triangle⁻ᵀ·θ."""
        return np.asarray(
            solve_triangular(self.triangle, theta, lower=True, trans="T", check_finite=False)
        )

    def coarse(self) -> LowRankKernelMap:
        """Return the map of the first landmarks, whose features are the first columns.

        Landmarks are added until the trace error is COARSE_ERROR. At least MIN_COARSE_RANK are
        kept, because they are cheap and may contain what separates the classes; of more than 5,000
        rows at most COARSE_CELLS/n_rows.
        """
        most = max(int(COARSE_CELLS / len(self.matrix)), LEAST_COARSE_RANK)
        if self.rank <= min(MIN_COARSE_RANK, most):
            return self
        explained = np.cumsum(np.einsum("ij,ij->j", self.matrix, self.matrix))
        trace = explained[-1] / (1 - self.error)
        rank = int(np.searchsorted(explained, (1 - COARSE_ERROR) * trace)) + 1
        rank = min(max(rank, MIN_COARSE_RANK), most, self.rank)
        return replace(
            self,
            matrix=self.matrix[:, :rank],
            pivots=self.pivots[:rank],
            triangle=self.triangle[:rank, :rank],
            error=1 - float(explained[rank - 1] / trace),
        )


@dataclass(frozen=True)
class NeighbourMap:
    """z(x) by diffusion on the graph of nearest rows, extended to other rows by neighbour means.

    The graph is that of all training rows, or of a random sample of 5,000. A row of the graph has
    the features of :func:`~decorrupt.features.diffusion_features`, another row the weighted mean
    of those of its 10 nearest rows in the graph.

    Attributes
    ----------
    matrix : ndarray of shape (n_rows, rank)
        Features of the training rows.
    pivots : ndarray of int, shape (n_graph_rows,)
        The training rows in the graph.
    error : float
        Share of trace(ZZᵀ) that a rank below 101 leaves out.
    projection : ndarray of shape (n_columns, n_components) or None
        As in :class:`LowRankKernelMap`.
    """

    matrix: FloatArray
    pivots: NDArray[np.intp]
    error: float
    projection: FloatArray | None = None

    @property
    def rank(self) -> int:
        """Number of eigenvectors."""
        return int(self.matrix.shape[1])

    def coefficients(self, theta: FloatArray) -> FloatArray:
        """Return f at the rows of the graph, whose means are f at other rows."""
        return np.asarray(self.matrix[self.pivots] @ theta)

    def coarse(self) -> NeighbourMap:
        """Return the map itself: its columns are few."""
        return self


FeatureMap = LinearMap | LowRankKernelMap | NeighbourMap


def without_rows(features: FeatureMap) -> FeatureMap:
    """Return the map without the features of the training rows, unless it needs them."""
    if isinstance(features, NeighbourMap):
        return features
    return replace(features, matrix=features.matrix[:0].copy())


def fit_feature_map(
    X: Any, kernel: Kernel, *, random_state: Any = None, weights: Any = None
) -> FeatureMap:
    """Return the feature map of `kernel` fitted to the rows of X.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        The training rows; for a precomputed kernel the square Gram matrix.
    kernel : Kernel
        The linear kernel gives a :class:`LinearMap`, knn a :class:`NeighbourMap`, other kernels a
        :class:`LowRankKernelMap`.
    random_state : int, RandomState or None
        Source of the random pivots, or of the rows of the graph.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents; not for the kernels knn and pca_knn.
    """
    function = kernel.function(X, weights)
    if kernel.name in OF_SINGLE_ROWS:
        refuse_weights(weights, f"kernel={kernel.name!r}")
    if function.n_components is None:
        return _fit_map(X, kernel, function, random_state, weights)
    random_state = check_random_state(random_state)
    projection = fit_principal_projection(X, function.n_components, random_state, weights)
    coordinates = project(X, projection)
    fitted = _fit_map(coordinates, kernel, function.on_coordinates(), random_state, weights)
    assert not isinstance(fitted, LinearMap)  # noqa: S101 — no kernel of components is linear
    return replace(fitted, projection=projection)


def _fit_map(
    X: Any, options: Kernel, kernel: KernelFunction, random_state: Any, weights: Any
) -> FeatureMap:
    """Return the feature map of a kernel of the rows themselves."""
    rank_tol, max_rank = options.rank_tol, options.max_rank
    if kernel.name == "linear":
        return LinearMap(X)
    if not 0 <= rank_tol < 1:
        raise ValueError(f"rank_tol={rank_tol!r} must be at least 0 and below 1")
    if max_rank is not None and max_rank < 1:
        raise ValueError(f"max_rank={max_rank!r} must be at least 1, or None")
    n_rows, dtype = X.shape[0], X.dtype
    if max_rank is None and n_rows > MANY_ROWS and (rank_tol > 0 or kernel.name == "knn"):
        dtype = np.dtype(np.float32)
    if kernel.name == "knn":
        rank = max_rank or _within_budget(X, dtype, N_EIGENPAIRS, options)
        return _neighbour_map(X, rank, dtype, check_random_state(random_state))
    if max_rank is None and rank_tol == 0:
        max_rank = n_rows
    elif max_rank is None:
        max_rank = _within_budget(X, dtype, default_max_rank(n_rows), options)
    if kernel.name == "precomputed":
        check_gram(X)

    def columns(indices: NDArray[np.intp]) -> FloatArray:
        if kernel.name == "precomputed":
            block = X[:, indices]
            return np.asarray(block.toarray() if issparse(block) else block)
        columns = np.empty((len(indices), n_rows), dtype=dtype)  # each contiguous in memory
        for start in range(0, n_rows, COLUMN_BLOCK_ROWS):
            rows = slice(start, start + COLUMN_BLOCK_ROWS)
            columns[:, rows] = kernel.block(X[indices], X[rows])
        return columns.T

    factor = pivoted_cholesky(
        columns,
        kernel.diagonal(X).astype(dtype, copy=False),
        tol=rank_tol,
        max_rank=min(max_rank, n_rows),
        random_state=check_random_state(random_state),
        weights=weights,
    )
    return LowRankKernelMap(factor.factor, factor.pivots, factor.triangle, factor.error)


def _within_budget(X: Any, dtype: Any, wanted: int, options: Kernel) -> int:
    """Return the wanted rank, or the rank that fits into the memory budget."""
    fits = rank_in_budget(X.shape[0], dtype.itemsize, options.memory_budget)
    if fits < min(wanted, X.shape[0]):
        LOGGER.warning(
            "%s rows: the memory budget allows %s kernel features instead of %s, see kernel_error_ "
            "for the error they leave. Raise the memory_budget of the Kernel, or set its max_rank",
            f"{X.shape[0]:,}",
            f"{fits:,}",
            f"{wanted:,}",
        )
    return min(fits, wanted)


def _neighbour_map(
    X: Any, rank: int, dtype: Any, random_state: np.random.RandomState
) -> NeighbourMap:
    n_rows = X.shape[0]
    pivots = np.arange(n_rows)
    if n_rows > MOST_GRAPH_ROWS:
        pivots = np.sort(random_state.choice(n_rows, MOST_GRAPH_ROWS, replace=False))
    in_graph = diffusion_features(X[pivots])
    kept = in_graph[:, :rank].astype(dtype)
    error = 1 - float(np.sum(in_graph[:, :rank] ** 2) / np.sum(in_graph**2))
    matrix = np.empty((n_rows, kept.shape[1]), dtype=dtype)
    matrix[pivots] = kept
    if n_rows > len(pivots):
        others = np.setdiff1d(np.arange(n_rows), pivots)
        matrix[others] = neighbour_means(X[others], X[pivots], kept)
    return NeighbourMap(matrix, pivots, error)


def kernel_scores(
    X: Any, kernel: KernelFunction, landmarks: Any, dual_coef: FloatArray
) -> FloatArray:
    """Return f(x) = Σ_m β_m k(x, landmark_m) for the rows of X, in blocks of rows.

    For a precomputed kernel, `landmarks` are the columns of X that contain k(x, landmark_m). For
    the kernel knn, f(x) is the weighted mean of the β_m of the nearest landmarks.
    """
    if kernel.name == "knn":
        return neighbour_means(X, landmarks, dual_coef)
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
