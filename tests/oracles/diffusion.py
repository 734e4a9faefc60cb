"""Graph diffusion features and principal coordinates, by loops and dense matrices."""

import numpy as np


def weights_to(x, others, k=10):
    """Return exp(−(d/d_k)²) for the k rows nearest to x, 0 for the rest."""
    distances = np.linalg.norm(others - x, axis=1)
    nearest = np.argsort(distances, kind="stable")[:k]
    weights = np.zeros(len(others))
    width = distances[nearest[-1]]
    weights[nearest] = np.exp(-((distances[nearest] / width) ** 2)) if width > 0 else 1.0
    return weights


def diffusion_gram(X, n_eigenpairs=101, time=4.0):
    """Return ZZᵀ of the diffusion features: their signs and bases do not matter in it."""
    n_rows = len(X)
    A = np.zeros((n_rows, n_rows))
    for i in range(n_rows):
        others = np.arange(n_rows) != i
        A[i, others] = weights_to(X[i], X[others], min(10, n_rows - 1))
    A = (A + A.T) / 2
    D = A.sum(axis=1)
    eigenvalues, vectors = np.linalg.eigh(A / np.sqrt(np.outer(D, D)))
    eigenvalues, vectors = eigenvalues[-n_eigenpairs:], vectors[:, -n_eigenpairs:]
    Z = vectors * np.exp(-time * (1 - eigenvalues)) / np.sqrt(D)[:, None]
    return Z @ Z.T / np.mean(np.sum(Z**2, axis=1))


def extend(x, rows, values):
    """Return the weighted mean of the values at the 10 rows nearest to x."""
    weights = weights_to(x, rows, min(10, len(rows)))
    return sum(w * value for w, value in zip(weights, values, strict=True)) / weights.sum()


def principal_coordinates(X, n_components):
    """Return U√S of the centred rows, divided by its overall standard deviation."""
    n_components = max(1, min(n_components, X.shape[1], len(X) // 4))
    U, S, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    kept = np.flatnonzero(S[:n_components] / S[0] > 1e-4)
    coordinates = U[:, kept] * S[kept] / np.sqrt(S[kept])
    return coordinates / coordinates.std()
