"""Diffusion on the graph of nearest rows: rows joined by many short paths have similar features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.neighbors import NearestNeighbors

from decorrupt._typing import FloatArray
from decorrupt.features.kernel import centred, is_rounding, squared_norms

N_NEIGHBOURS = 10
N_EIGENPAIRS = 101
DIFFUSION_TIME = 4.0
# With fewer rows all eigenpairs of the dense matrix are computed as quickly as some by ARPACK.
DENSE_ROWS = 500
BLOCK_ROWS = 8192


def diffusion_features(X: Any) -> FloatArray:
    """Return z with ⟨z_i, z_j⟩ ∝ (D^−½·exp(−2t(I − S))·D^−½)_ij, the heat kernel at time 2t = 8.

    S = D^−½AD^−½ for the symmetrised weights A_ij = exp(−(d_ij/σ_i)²) of the 10 rows j nearest to
    row i, where σ_i is the distance of the 10th and D are the row sums of A. With the 101 largest
    eigenvalues λ of S and their eigenvectors v, z = v·exp(−t(1 − λ))/√D, multiplied by a number
    that makes the mean of ‖z‖² equal to 1. The columns are sorted by decreasing eigenvalue. With
    equal distances, the order of the rows can decide which are the nearest.
    """
    if X.shape[0] < 2:
        return np.ones((X.shape[0], 1))
    weights = _neighbour_weights(X)
    weights = (weights + weights.T) / 2
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    root = diags_array(degrees**-0.5)
    eigenvalues, vectors = _largest_eigenpairs((root @ weights @ root).tocsr(), np.sqrt(degrees))
    features = vectors * np.exp(-DIFFUSION_TIME * (1 - eigenvalues)) / np.sqrt(degrees)[:, None]
    return np.asarray(features / np.sqrt(np.mean(squared_norms(features))))


def neighbour_means(X: Any, landmarks: Any, values: FloatArray) -> FloatArray:
    """Return Σ_m w_m(x)·values[m] / Σ_m w_m(x) over the 10 landmarks nearest to each row of X.

    w_m(x) = exp(−(d_m/d_10)²), d_10 being the distance of the 10th.
    """
    means = np.empty((X.shape[0], *values.shape[1:]), dtype=values.dtype)
    for start in range(0, X.shape[0], BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        weights = _neighbour_weights(landmarks, X[rows])
        totals = np.asarray(weights.sum(axis=1)).reshape(-1, *[1] * (values.ndim - 1))
        means[rows] = (weights @ values) / totals
    return means


def _neighbour_weights(landmarks: Any, X: Any = None) -> csr_array:
    """Return exp(−(d/σ)²) of the nearest landmarks; without X of the nearest other landmarks."""
    n_landmarks, others_only = landmarks.shape[0], X is None
    n_neighbours = min(N_NEIGHBOURS, n_landmarks - 1 if others_only else n_landmarks)
    X, landmarks = centred(landmarks if others_only else X, landmarks)
    index = NearestNeighbors(n_neighbors=n_neighbours).fit(landmarks)
    distances, nearest = index.kneighbors(None if others_only else X)
    sizes = squared_norms(X)[:, None] + squared_norms(landmarks)[nearest]
    distances[is_rounding(distances**2, sizes)] = 0.0
    widths = distances[:, -1:]
    weights = np.exp(-((distances / np.where(widths > 0, widths, 1.0)) ** 2))
    ends = np.arange(0, nearest.size + 1, n_neighbours)
    return csr_array((weights.ravel(), nearest.ravel(), ends), shape=(len(nearest), n_landmarks))


def _largest_eigenpairs(
    matrix: csr_array, root_degrees: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the N_EIGENPAIRS largest eigenvalues of S, decreasing, and their eigenvectors.

    Every connected component c of the graph has the eigenvalue 1, with eigenvector √D·1_c. ARPACK
    can miss some of several equal eigenvalues, so those of the largest components are not left to
    it.
    """
    n_rows = len(root_degrees)
    if n_rows <= DENSE_ROWS:
        # LAPACK's default driver fails on some matrices with many nearly equal eigenvalues.
        eigenvalues, vectors = eigh(matrix.toarray(), driver="evd")
        return eigenvalues[::-1][:N_EIGENPAIRS], vectors[:, ::-1][:, :N_EIGENPAIRS]
    component = connected_components(matrix, directed=False)[1]
    largest = np.argsort(-np.bincount(component), kind="stable")[:N_EIGENPAIRS]
    firsts = np.where(component[:, None] == largest, root_degrees[:, None], 0.0)
    firsts /= np.linalg.norm(firsts, axis=0)
    n_others = N_EIGENPAIRS - len(largest)
    if n_others == 0:
        return np.ones(N_EIGENPAIRS), firsts
    others = LinearOperator(  # S with the eigenvalue −1, its smallest, in place of these 1
        matrix.shape, matvec=lambda v: matrix @ v - 2 * (firsts @ (firsts.T @ v)), dtype=float
    )
    start = np.random.RandomState(0).uniform(-1, 1, n_rows)
    eigenvalues, vectors = eigsh(others, k=n_others, which="LA", v0=start)
    order = np.argsort(-eigenvalues)
    eigenvalues = np.concatenate([np.ones(len(largest)), eigenvalues[order]])
    return eigenvalues, np.hstack([firsts, vectors[:, order]])
