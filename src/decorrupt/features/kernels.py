"""Kernel functions, evaluated in blocks so that no n×n matrix is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import (
    euclidean_distances,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.utils.sparsefuncs import mean_variance_axis

from decorrupt._typing import FloatArray

# Kernels of principal components: how many components, and the kernel on their coordinates.
ON_COMPONENTS = {"pca_rbf": (20, "rbf"), "pca8_rbf": (8, "rbf"), "pca_knn": (20, "knn")}
# Made from all training rows, so they are not a given function of two rows.
FROM_ALL_ROWS = ("knn", *ON_COMPONENTS)
# Their graph connects single rows: a row cannot represent several.
OF_SINGLE_ROWS = ("knn", "pca_knn")
KERNELS = (
    *("rbf", "exponential", "laplacian", "polynomial", "linear"),
    *FROM_ALL_ROWS,
    "precomputed",
)
WITHOUT_GAMMA = ("linear", "knn", "pca_knn", "precomputed")
# k(x, x) = 1, or for the knn kernels 1 on average over the rows of the graph.
OF_SIZE_ONE = ("rbf", "exponential", "laplacian", *FROM_ALL_ROWS)
# They depend on distances between rows: columns of larger scale count more.
OF_DISTANCES = OF_SIZE_ONE
VARIANCE_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class KernelFunction:
    """k(x, x') of a :class:`~decorrupt.features.Kernel`, with γ as a number.

    Dense rows are centred before Euclidean distances are computed, because ‖x‖² − 2⟨x,x'⟩ + ‖x'‖²
    loses precision far from the origin. Sparse rows are not centred.
    """

    name: str | Callable[[Any, Any], FloatArray]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        if not callable(self.name) and self.name not in KERNELS:
            raise ValueError(
                f"unknown kernel {self.name!r}: choose one of {', '.join(KERNELS)}, or a callable"
            )

    @property
    def n_components(self) -> int | None:
        """The number of principal components, or None for a kernel of the rows themselves."""
        named = isinstance(self.name, str) and self.name in ON_COMPONENTS
        return ON_COMPONENTS[str(self.name)][0] if named else None

    def on_coordinates(self) -> KernelFunction:
        """Return the kernel of the components' coordinates; other kernels unchanged."""
        if self.n_components is None:
            return self
        return replace(self, name=ON_COMPONENTS[str(self.name)][1])

    def block(self, X: Any, Y: Any) -> FloatArray:
        """Return the matrix of k(x, y) over the rows of X and of Y."""
        if self.name in ("rbf", "exponential"):
            X, Y = centred(X, Y)
        if self.name == "rbf":
            return np.asarray(rbf_kernel(X, Y, gamma=self.gamma))
        if self.name == "exponential":
            return np.asarray(np.exp(-self.gamma * _distances(X, Y)))
        if self.name == "laplacian":  # scikit-learn returns double precision for any X
            return np.asarray(laplacian_kernel(X, Y, gamma=self.gamma), dtype=X.dtype)
        if self.name == "polynomial":
            return np.asarray(polynomial_kernel(X, Y, self.degree, self.gamma, self.coef0))
        if self.name == "linear":
            return np.asarray(linear_kernel(X, Y, dense_output=True))
        if self.name == "precomputed":
            raise ValueError("a precomputed kernel has no function to evaluate")
        if self.name in FROM_ALL_ROWS:
            raise ValueError(
                f"kernel={self.name!r} is made from all training rows and has no function of two "
                "rows: choose another kernel for this method"
            )
        assert callable(self.name)  # noqa: S101 — checked in __post_init__
        values = np.asarray(self.name(X, Y))
        if values.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"the kernel callable returned shape {values.shape} for {X.shape[0]} and "
                f"{Y.shape[0]} rows: it must return one value per pair of rows"
            )
        return values

    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) for every row of X."""
        if self.on_coordinates().name in ("rbf", "exponential", "laplacian"):
            return np.ones(X.shape[0], dtype=X.dtype)
        if self.name in ("polynomial", "linear"):
            squares = squared_norms(X)
            return (
                squares
                if self.name == "linear"
                else ((self.gamma * squares + self.coef0) ** self.degree).astype(X.dtype)
            )
        if self.name == "precomputed":
            return np.array(X.diagonal())
        if self.on_coordinates().name == "knn":
            raise ValueError("k(x, x) of the knn kernel is ‖z(x)‖², known from its features only")
        return np.array([self.block(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])])


def squared_norms(X: Any) -> FloatArray:
    """Return ‖x‖² of every row, dense or sparse."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def centred(X: Any, Y: Any) -> tuple[Any, Any]:
    """Return dense rows minus the mean of Y, which changes no difference of two rows."""
    if sparse.issparse(X) or sparse.issparse(Y):
        return X, Y
    centre = Y.mean(axis=0)
    return X - centre, Y - centre


def _distances(X: Any, Y: Any) -> FloatArray:
    """Return ‖x−y‖, exactly 0 where x = y.

    ‖x‖² − 2⟨x,y⟩ + ‖y‖² has a rounding error there, and its root would be far larger.
    """
    squares = euclidean_distances(X, Y, squared=True)
    squares[is_rounding(squares, squared_norms(X)[:, None] + squared_norms(Y))] = 0.0
    return np.asarray(np.sqrt(squares))


def is_rounding(squares: FloatArray, sizes: FloatArray) -> Any:
    """Return where ‖x−y‖² is a rounding error, given ‖x‖² + ‖y‖²."""
    # scikit-learn computes the products in double precision for any X.
    return squares <= 16 * np.finfo(float).eps * sizes


def mean_variance(X: Any, weights: Any = None) -> float:
    """Return the mean of the columns' variances, in double precision."""
    return float(column_variances(X, weights).mean())


def column_means(X: Any, weights: Any = None) -> FloatArray:
    """Return the mean of each column, in double precision."""
    if weights is None:
        return np.asarray(X.mean(axis=0, dtype=float))
    return np.asarray(weights @ X / weights.sum())


def column_variances(X: Any, weights: Any = None) -> FloatArray:
    """Return the variance of each column, in double precision.

    Dense rows are read in blocks: no copy of X, and a block stays in the cache. `weights` are how
    many rows each one represents.
    """
    if sparse.issparse(X):
        own = None if weights is None else weights.astype(float)
        return np.asarray(mean_variance_axis(X.tocsr().astype(float), axis=0, weights=own)[1])
    centre = column_means(X, weights)
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), VARIANCE_BLOCK_ROWS):
        block = slice(start, start + VARIANCE_BLOCK_ROWS)
        deviations = X[block] - centre
        weighted = deviations if weights is None else weights[block, None] * deviations
        total += np.einsum("ij,ij->j", deviations, weighted)
    return np.asarray(total / (len(X) if weights is None else weights.sum()))


def resolve_kernel_gamma(kernel_gamma: Any, X: Any, weights: Any = None) -> float:
    """Return γ as a number: "scale" is 1/(d·Var X), "auto" is 1/d.

    Var X is the mean of the columns' variances, so adding a constant to a column changes neither
    the distances nor γ. If all columns have the same mean, it is scikit-learn's "scale". `weights`
    are how many rows each one represents.
    """
    if isinstance(kernel_gamma, str):
        if kernel_gamma == "auto":
            return 1.0 / float(X.shape[1])
        if kernel_gamma == "scale":
            variance = mean_variance(X, weights)
            return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        raise ValueError(
            f"kernel_gamma={kernel_gamma!r}: give a positive number, 'scale' or 'auto'"
        )
    if not (isinstance(kernel_gamma, Real) and 0 < float(kernel_gamma) < np.inf):
        raise ValueError(f"kernel_gamma={kernel_gamma!r} must be a positive number")
    return float(kernel_gamma)
