"""Feature maps: f(x) = ⟨θ, z(x)⟩ with ‖f‖² = ‖θ‖²: linear, landmarks, neighbours.

A map is fitted once to the training rows, without labels. It provides their feature matrix for the
solver and converts the solver's θ into coefficients that score new rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.features.columns import column_means, column_variances
from decorrupt.features.kernel import OF_SINGLE_ROWS, ON_COMPONENTS, Kernel, squared_norms
from decorrupt.features.low_rank import pivoted_cholesky
from decorrupt.features.neighbours import diffusion_features, neighbour_means
from decorrupt.observed import refuse_weights, repeated_rows

# The rank if the user sets none: 2,000 columns of 20,000 rows are 320 MB. With more rows, features
# are stored in single precision and the rank decreases: a million rows have 618 (2.5 GB).
DEFAULT_MAX_RANK, MANY_ROWS, RANK_EXPONENT = 2000, 20_000, 0.3
# Rows per block of scores, and of kernel columns: temporary arrays stay small.
SCORE_BLOCK_ROWS, COLUMN_BLOCK_ROWS = 8192, 32_768
# Approximation that is accurate enough to compare parameters in a search. Of many rows fewer
# landmarks are compared: about so many cells (rows × landmarks), but at least 256 landmarks. With
# 341 instead of 1,770 for 30,000 synthetic rows, weights of configurations changed by up to 0.03
# and the AUC on other rows by 0.0003.
COARSE_ERROR, MIN_COARSE_RANK = 1e-2, 1024
COARSE_CELLS, MIN_COARSE_LANDMARKS = 1e7, 256
# The graph of nearest rows has at most this many rows; its time grows with their square.
MAX_GRAPH_ROWS = 5000
# Principal components with a singular value below this share of the first are rounding or noise.
MIN_SINGULAR_VALUE = 1e-4
# Components of more rows are those of a random sample.
ROWS_PER_COMPONENT, MAX_COMPONENT_ROWS = 4, 20_000
# A covariance matrix of more columns takes longer than the first components by ARPACK.
MAX_COVARIANCE_COLUMNS = 1000


@dataclass(frozen=True)
class FeatureMap:
    """Features of the training rows, and what converts θ into a function of new rows.

    - Linear: z(x) = x − centre; ⟨θ, z(x)⟩ + b is ⟨θ, x⟩ with the intercept b − ⟨θ, centre⟩.
    - Low rank: z(x) = triangle⁻¹·k(landmarks, x), the exact kernel at full rank.
    - Neighbours, the knn kernels: diffusion on the graph of all training rows, or of a random
      sample of 5,000. Another row has the weighted mean of the features of its 10 nearest rows.

    Attributes
    ----------
    matrix : ndarray or sparse matrix of shape (n_rows, rank)
        Features of the training rows, ZZᵀ ≈ K.
    pivots : ndarray of int or None
        The training rows that are the landmarks, or in the graph; None for the linear map.
    triangle : ndarray of shape (rank, rank) or None
        Lower triangular; None if the map has no landmarks.
    error : float
        trace(K − ZZᵀ) / trace(K).
    centre : ndarray of shape (n_columns,) or 0.0
        The column means that the linear map subtracts.
    projection : ndarray of shape (n_columns, n_components) or None
        The kernel is one of the coordinates X·projection of principal components.
    """

    matrix: Any
    pivots: Any = None
    triangle: Any = None
    error: float = 0.0
    centre: FloatArray | float = 0.0
    projection: FloatArray | None = None

    @property
    def rank(self) -> int:
        """Number of features: columns, landmarks or eigenvectors."""
        return int(self.matrix.shape[1])

    @property
    def is_linear(self) -> bool:
        """Whether the features are the columns of X."""
        return self.pivots is None

    def landmarks(self, X: Any) -> Any:
        """Return the training rows, of X, that new rows are compared with."""
        return project(X[self.pivots], self.projection)

    def coefficients(self, theta: FloatArray) -> FloatArray:
        """Return θ of columns, β = triangle⁻ᵀ·θ of landmarks, or f at the rows of the graph."""
        if self.triangle is not None:
            beta = solve_triangular(self.triangle, theta, lower=True, trans="T", check_finite=False)
            return np.asarray(beta)
        return theta if self.is_linear else np.asarray(self.matrix[self.pivots] @ theta)

    def coarse(self) -> FeatureMap:
        """Return the map of the first landmarks, whose features are the first columns.

        Landmarks are added until the trace error is COARSE_ERROR. At least MIN_COARSE_RANK are
        kept, because they are cheap and may contain what separates the classes; of more than 5,000
        rows at most COARSE_CELLS/n_rows. Other maps are returned unchanged.
        """
        max_rank = max(int(COARSE_CELLS / self.matrix.shape[0]), MIN_COARSE_LANDMARKS)
        if self.triangle is None or self.rank <= min(MIN_COARSE_RANK, max_rank):
            return self
        explained = np.cumsum(np.einsum("ij,ij->j", self.matrix, self.matrix))
        trace = explained[-1] / (1 - self.error)
        rank = int(np.searchsorted(explained, (1 - COARSE_ERROR) * trace)) + 1
        rank = min(max(rank, MIN_COARSE_RANK), max_rank, self.rank)
        return replace(
            self,
            matrix=self.matrix[:, :rank],
            pivots=self.pivots[:rank],
            triangle=self.triangle[:rank, :rank],
            error=1 - float(explained[rank - 1] / trace),
        )


def fit_feature_map(
    X: Any,
    kernel: Kernel,
    *,
    centred: bool = False,
    random_state: Any = None,
    weights: Any = None,
) -> FeatureMap:
    """Return the feature map of `kernel` fitted to the rows of X.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        The training rows; for a precomputed kernel the square Gram matrix.
    centred : bool, default=False
        Whether the linear map subtracts the columns' means; sparse rows are not centred.
    random_state : int, RandomState or None
        Source of the random pivots, or of the rows of the graph.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents; not for the kernels knn and pca_knn.
    """
    kernel = kernel.resolved(X, weights)
    if kernel.name in OF_SINGLE_ROWS:
        refuse_weights(weights, f"kernel={kernel.name!r}")
    if kernel.name == "linear":
        if not centred or issparse(X):
            return FeatureMap(X)
        centre = column_means(X, weights).astype(X.dtype, copy=False)
        return FeatureMap(X - centre, centre=centre)
    if not 0 <= kernel.rank_tol < 1:
        raise ValueError(f"rank_tol={kernel.rank_tol!r} must be at least 0 and below 1")
    random_state = check_random_state(random_state)
    projection = None
    if kernel.name in ON_COMPONENTS:
        n_components = ON_COMPONENTS[kernel.name][0]
        projection = fit_principal_projection(X, n_components, random_state, weights)
        X, kernel = project(X, projection), kernel.on_coordinates()
    n_rows, dtype = X.shape[0], X.dtype
    rank = kernel.max_rank or n_rows
    if kernel.max_rank is None and (kernel.rank_tol > 0 or kernel.name == "knn"):
        rank = int(DEFAULT_MAX_RANK * min(1.0, MANY_ROWS / n_rows) ** RANK_EXPONENT)
        dtype = dtype if n_rows <= MANY_ROWS else np.dtype(np.float32)
    if kernel.name == "knn":
        fitted = _neighbour_map(X, rank, dtype, random_state)
    else:
        fitted = _landmark_map(X, kernel, rank, dtype, random_state, weights)
    return replace(fitted, projection=projection)


def _landmark_map(
    X: Any, kernel: Kernel, max_rank: int, dtype: Any, random_state: Any, weights: Any
) -> FeatureMap:
    n_rows = X.shape[0]

    def columns(indices: NDArray[np.intp]) -> FloatArray:
        if kernel.name == "precomputed":
            block = X[:, indices]
            return np.asarray(block.toarray() if issparse(block) else block)
        columns = np.empty((len(indices), n_rows), dtype=dtype)  # each contiguous in memory
        for start in range(0, n_rows, COLUMN_BLOCK_ROWS):
            rows = slice(start, start + COLUMN_BLOCK_ROWS)
            columns[:, rows] = kernel.block(X[indices], X[rows])
        return columns.T

    factor, pivots, triangle, error = pivoted_cholesky(
        columns,
        kernel.diagonal(X).astype(dtype, copy=False),
        tol=kernel.rank_tol,
        max_rank=min(max_rank, n_rows),
        random_state=random_state,
        weights=weights,
    )
    return FeatureMap(factor, pivots, triangle, error)


def _neighbour_map(X: Any, rank: int, dtype: Any, random_state: Any) -> FeatureMap:
    n_rows = X.shape[0]
    pivots = np.arange(n_rows)
    if n_rows > MAX_GRAPH_ROWS:
        pivots = np.sort(random_state.choice(n_rows, MAX_GRAPH_ROWS, replace=False))
    in_graph = diffusion_features(X[pivots])
    kept = in_graph[:, :rank].astype(dtype)
    error = 1 - float(np.sum(in_graph[:, :rank] ** 2) / np.sum(in_graph**2))
    matrix = np.empty((n_rows, kept.shape[1]), dtype=dtype)
    matrix[pivots] = kept
    if n_rows > len(pivots):
        others = np.setdiff1d(np.arange(n_rows), pivots)
        matrix[others] = neighbour_means(X[others], X[pivots], kept)
    return FeatureMap(matrix, pivots, error=error)


def fit_principal_projection(
    X: Any, n_components: int, random_state: Any = None, weights: Any = None
) -> FloatArray:
    """Return P with coordinates XP: principal components, each divided by √(singular value).

    With X − mean = USVᵀ, P = c·VS^−½ and (X − mean)P = c·US^½: a component's variance is
    proportional to its singular value s, where the component itself has s² and a whitened one 1.
    c makes the total variance of the coordinates that of X, so kernel_gamma, and "scale", which
    is 1 divided by the total variance, mean the same for X and for its coordinates. The mean is not
    subtracted before XP is computed: kernels of differences do not depend on it.

    There are at most as many components as columns and a quarter of the rows; those with a singular
    value below 1e-4 of the first are left out. If all rows are equal, P is a column of zeros. Of
    more than 20,000 rows a random sample is used; `weights` are how many rows each one represents.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 2.0], [6.0, 2.0]] * 2)
    >>> X.var(axis=0)  # 9 to 1
    array([9., 1.])
    >>> (X @ fit_principal_projection(X, 2)).var(axis=0).round(6)  # 3 to 1, with the same sum
    array([7.5, 2.5])
    """
    n_columns, dtype = X.shape[1], X.dtype
    n_rows = X.shape[0] if weights is None else weights.sum()
    n_components = max(1, min(n_components, n_columns, int(n_rows) // ROWS_PER_COMPONENT))
    total_variance = n_columns * float(column_variances(X, weights).mean())
    if weights is not None:
        X = X[repeated_rows(weights, MAX_COMPONENT_ROWS, random_state)]
    elif n_rows > MAX_COMPONENT_ROWS:
        rng = check_random_state(random_state)
        X = X[np.sort(rng.choice(n_rows, MAX_COMPONENT_ROWS, replace=False))]
    rounding = np.finfo(dtype).eps ** 2 * float(np.mean(squared_norms(X)))
    if not total_variance > rounding:
        return np.zeros((n_columns, 1), dtype=dtype)
    X = X.astype(float)
    if not issparse(X):
        X -= X.mean(axis=0)  # PCA subtracts the mean after multiplication, with loss of digits
    solver = "covariance_eigh" if n_columns <= MAX_COVARIANCE_COLUMNS else "arpack"
    pca = PCA(n_components, svd_solver=solver, random_state=0).fit(X)
    sizes = pca.singular_values_
    kept = sizes > MIN_SINGULAR_VALUE * sizes[0]
    scale = np.sqrt(total_variance * X.shape[0] / sizes[kept].sum())
    return np.asarray(scale * pca.components_[kept].T / np.sqrt(sizes[kept]), dtype=dtype)


def project(X: Any, projection: FloatArray | None) -> Any:
    """Return XP in the precision of X, or X if there is no projection."""
    return X if projection is None else np.asarray(X @ projection.astype(X.dtype, copy=False))


def kernel_scores(
    X: Any, kernel: Kernel, landmarks: Any, dual_coef: FloatArray, projection: Any = None
) -> FloatArray:
    """Return f(x) = Σ_m β_m k(x, landmark_m) for the rows of X, in blocks of rows.

    For a precomputed kernel, `landmarks` are the columns of X that contain k(x, landmark_m). For
    the kernel knn, f(x) is the weighted mean of the β_m of the nearest landmarks. With a
    projection, landmarks and kernel are those of the coordinates.
    """
    X, kernel = project(X, projection), kernel.on_coordinates()
    if kernel.name == "knn":
        return neighbour_means(X, landmarks, dual_coef)
    if kernel.name == "precomputed":
        return np.asarray(X[:, landmarks] @ dual_coef)
    blocks = [
        kernel.block(X[start : start + SCORE_BLOCK_ROWS], landmarks) @ dual_coef
        for start in range(0, X.shape[0], SCORE_BLOCK_ROWS)
    ]
    return np.concatenate(blocks)
