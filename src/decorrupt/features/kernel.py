"""Kernels: the parameter object, its values for blocks of pairs of rows, and the width γ."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import (
    euclidean_distances,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)

from decorrupt._typing import FloatArray
from decorrupt.features.columns import column_variances

DEFAULT_GAMMA = "scale"
# Kernels of principal components: how many components, and the kernel on their coordinates.
ON_COMPONENTS = {"pca_rbf": (20, "rbf"), "pca8_rbf": (8, "rbf"), "pca_knn": (20, "knn")}
# Made from all training rows, so they are not a given function of two rows.
FROM_ALL_ROWS = ("knn", *ON_COMPONENTS)
# Their graph connects single rows: a row cannot represent several.
OF_SINGLE_ROWS = ("knn", "pca_knn")
# They depend on distances between rows: columns of larger scale count more, and k(x, x) is 1, or
# for the knn kernels 1 on average over the rows of the graph.
OF_DISTANCES = ("rbf", "exponential", "laplacian", *FROM_ALL_ROWS)
KERNELS = (*OF_DISTANCES[:3], "polynomial", "linear", *FROM_ALL_ROWS, "precomputed")
WITHOUT_GAMMA = ("linear", *OF_SINGLE_ROWS, "precomputed")


@dataclass(repr=False)
class Kernel(BaseEstimator):
    """A kernel and how it is approximated, for the parameter `kernel` of the estimators.

    A name is enough for most uses: ``kernel="linear"`` is ``kernel=Kernel("linear")``. The
    parameters of the object are also those of the estimator, with the prefix ``kernel__``.

    ========================== =====================================
    ``rbf``                    exp(−γ‖x−x'‖²), the Gaussian kernel
    ``exponential``            exp(−γ‖x−x'‖), distance not squared
    ``laplacian``              exp(−γ‖x−x'‖₁)
    ``polynomial``             (γ⟨x, x'⟩ + coef0)^degree
    ``linear``                 ⟨x, x'⟩
    ``knn``                    diffusion on the graph of nearest rows
    ``pca_rbf``, ``pca8_rbf``  rbf on 20, or 8, principal components
    ``pca_knn``                knn on 20 principal components
    ``precomputed``            X contains the kernel values
    ========================== =====================================

    All but linear, polynomial and precomputed depend on distances between rows, so columns should
    have similar scales: put :class:`decorrupt.TailScaler` before the classifier in a pipeline.
    `fit` emits UnscaledColumnsWarning if the distances hardly depend on at least half of the
    columns. ``knn`` (10 nearest rows) and ``pca_…`` (half-whitened components) are fitted to all
    training rows, without labels.

    Parameters
    ----------
    name : str or callable, default="rbf"
        A callable takes two matrices and returns the kernel of all pairs of their rows.
    gamma : float, "scale" or "auto", default="scale"
        γ. "scale" is 1/(n_columns·Var X), where Var X is the mean of the columns' variances;
        "auto" is 1/n_columns. The principal components are scaled to the total variance of X, so γ
        has the same meaning for them. linear, precomputed and the knn kernels do not use it. Give
        γ here or as the estimator's `kernel_gamma`, not in both places.
    degree, coef0 : float, default=3 and 1.0
        Parameters of the polynomial kernel.
    rank_tol : float, default=1e-3
        Relative trace error of the low-rank approximation, by the kernel's values at landmarks,
        which are training rows; 0 uses the exact kernel.
    max_rank : int or None, default=None
        The largest rank of the approximation; None means 2,000 for up to 20,000 rows, then
        2,000·(20,000/n_rows)^0.3 with features in single precision (no limit if rank_tol is 0).
        `kernel_error_` of the estimator is the error that remains. The rank of the knn kernels is
        at most 101.

    Examples
    --------
    >>> from decorrupt import Kernel, MeanMapClassifier
    >>> MeanMapClassifier(kernel=Kernel("polynomial", degree=2))
    MeanMapClassifier(kernel=Kernel(degree=2, name='polynomial'))
    >>> model = MeanMapClassifier(kernel=Kernel(max_rank=256))
    >>> model.set_params(kernel__max_rank=128).kernel.max_rank
    128
    """

    name: Any = "rbf"
    _: KW_ONLY
    gamma: float | str = DEFAULT_GAMMA
    degree: float = 3
    coef0: float = 1.0
    rank_tol: float = 1e-3
    max_rank: int | None = None

    def resolved(self, X: Any, weights: Any = None) -> Kernel:
        """Return the kernel with γ as a number, which for "scale" depends on the training rows X.

        `weights` are how many rows each one represents. An invalid name or γ, or precomputed
        values that are not those of all pairs of rows, raise a ValueError.
        """
        if not callable(self.name) and self.name not in KERNELS:
            raise ValueError(
                f"unknown kernel {self.name!r}: choose one of {', '.join(KERNELS)}, or a callable"
            )
        if self.name == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                "a precomputed kernel must be a square matrix in fit (all pairs of training rows), "
                f"got {X.shape[0]} × {X.shape[1]}"
            )
        return replace(self, gamma=resolve_kernel_gamma(self.gamma, X, weights))

    def on_coordinates(self) -> Kernel:
        """Return the kernel of the principal components' coordinates; other kernels unchanged."""
        if callable(self.name) or self.name not in ON_COMPONENTS:
            return self
        return replace(self, name=ON_COMPONENTS[self.name][1])

    def block(self, X: Any, Y: Any) -> FloatArray:
        """Return the matrix of k(x, y) over the rows of X and of Y; γ must be a number.

        Dense rows are centred before Euclidean distances are computed, because
        ‖x‖² − 2⟨x,y⟩ + ‖y‖² loses precision far from the origin. Sparse rows are not centred.
        """
        if self.name in ("rbf", "exponential"):
            X, Y = centred(X, Y)
        if self.name == "rbf":
            return np.asarray(rbf_kernel(X, Y, gamma=self.gamma))
        if self.name == "exponential":
            return np.asarray(np.exp(-float(self.gamma) * _distances(X, Y)))
        if self.name == "laplacian":  # scikit-learn returns double precision for any X
            return np.asarray(laplacian_kernel(X, Y, gamma=self.gamma), dtype=X.dtype)
        if self.name == "polynomial":
            return np.asarray(polynomial_kernel(X, Y, self.degree, self.gamma, self.coef0))
        if self.name == "linear":
            return np.asarray(linear_kernel(X, Y, dense_output=True))
        if not callable(self.name):
            raise ValueError(
                f"kernel={self.name!r} is made from all training rows and has no function of two "
                "rows: choose another kernel for this method"
            )
        values = np.asarray(self.name(X, Y))
        if values.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"the kernel callable returned shape {values.shape} for {X.shape[0]} and "
                f"{Y.shape[0]} rows: it must return one value per pair of rows"
            )
        return values

    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) for every row of X; for precomputed, X contains the values."""
        if self.name == "precomputed":
            return np.array(X.diagonal())
        if self.name in OF_SINGLE_ROWS:
            raise ValueError("k(x, x) of the knn kernel is ‖z(x)‖², known from its features only")
        if self.name in OF_DISTANCES:
            return np.ones(X.shape[0], dtype=X.dtype)
        if self.name == "linear":
            return squared_norms(X)
        if self.name == "polynomial":
            powers = (float(self.gamma) * squared_norms(X) + self.coef0) ** self.degree
            return np.asarray(powers, dtype=X.dtype)
        return np.array([self.block(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])])


def as_kernel(kernel: Any, kernel_gamma: float | str = DEFAULT_GAMMA) -> Kernel:
    """Return the Kernel of an estimator's parameters; ValueError if γ is set in both."""
    if not isinstance(kernel, Kernel):
        return Kernel(kernel, gamma=kernel_gamma)
    if kernel_gamma == DEFAULT_GAMMA:
        return kernel
    if kernel.gamma == DEFAULT_GAMMA:
        return replace(kernel, gamma=kernel_gamma)
    raise ValueError(
        f"γ is given twice, as kernel_gamma={kernel_gamma!r} and in kernel=Kernel(…, "
        f"gamma={kernel.gamma!r}): give one of them"
    )


def kernel_name(kernel: Any) -> Any:
    """Return the name, or the callable, of a parameter `kernel`."""
    return kernel.name if isinstance(kernel, Kernel) else kernel


def resolve_kernel_gamma(kernel_gamma: Any, X: Any, weights: Any = None) -> float:
    """Return γ as a number: "scale" is 1/(d·Var X), "auto" is 1/d.

    Var X is the mean of the columns' variances, so adding a constant to a column changes neither
    the distances nor γ. If all columns have the same mean, it is scikit-learn's "scale".
    """
    if isinstance(kernel_gamma, str) and kernel_gamma == "auto":
        return 1.0 / float(X.shape[1])
    if isinstance(kernel_gamma, str) and kernel_gamma == "scale":
        variance = float(column_variances(X, weights).mean())
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    if isinstance(kernel_gamma, Real) and 0 < float(kernel_gamma) < np.inf:
        return float(kernel_gamma)
    raise ValueError(f"kernel_gamma={kernel_gamma!r}: give a positive number, 'scale' or 'auto'")


def squared_norms(X: Any) -> FloatArray:
    """Return ‖x‖² of every row, dense or sparse."""
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def centred(X: Any, Y: Any) -> tuple[Any, Any]:
    """Return dense rows minus the mean of Y, which changes no difference of two rows."""
    if issparse(X) or issparse(Y):
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
