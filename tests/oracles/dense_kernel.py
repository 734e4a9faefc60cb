"""Kernels pair by pair, and kernel machines in their dual coefficients with the whole Gram matrix.

f = Kα, risk(f) + λ·αᵀKα: the problem as the paper writes it, with nothing low-rank about it.
"""

import numpy as np

FORMULAS = {
    "rbf": lambda x, y, gamma: np.exp(-gamma * np.sum((x - y) ** 2)),
    "exponential": lambda x, y, gamma: np.exp(-gamma * np.linalg.norm(x - y)),
    "laplacian": lambda x, y, gamma: np.exp(-gamma * np.sum(np.abs(x - y))),
    "linear": lambda x, y, _: np.dot(x, y),
}


def gram(X, Y, name, gamma=1.0, degree=3, coef0=1.0):
    """Return k(x, y) for all pairs, one at a time."""
    if name == "polynomial":
        return np.array([[(gamma * np.dot(x, y) + coef0) ** degree for y in Y] for x in X])
    return np.array([[FORMULAS[name](x, y, gamma) for y in Y] for x in X])


def greedy_pivots(matrix, rank):
    """Return the pivots of complete Cholesky pivoting, by Schur complements of the whole matrix."""
    left, pivots = matrix.copy(), []
    for _ in range(rank):
        pivot = int(np.argmax(np.diag(left)))
        pivots.append(pivot)
        left = left - np.outer(left[:, pivot], left[pivot]) / left[pivot, pivot]
    return pivots


def relative_trace_error(matrix, factor):
    """Return trace(K − FFᵀ) / trace(K)."""
    return np.trace(matrix - factor @ factor.T) / np.trace(matrix)


def solve_dual(matrix, slope, curvature, reg_strength):
    """Return α with slope(Kα) + 2λα = 0 by Newton's method on that equation, steps halved.

    `slope` and `curvature` map the n scores to the derivatives of the risk, row by row.
    """

    def equation(alpha):
        return slope(matrix @ alpha) + 2 * reg_strength * alpha

    identity = np.eye(len(matrix))
    alpha = np.zeros(len(matrix))
    for _ in range(100):
        residual = equation(alpha)
        if np.linalg.norm(residual) < 1e-15:
            break
        jacobian = curvature(matrix @ alpha)[:, None] * matrix + 2 * reg_strength * identity
        step = np.linalg.solve(jacobian, residual)
        length = 1.0
        while np.linalg.norm(equation(alpha - length * step)) > np.linalg.norm(residual):
            length /= 2
            if length < 1e-6:
                return alpha
        alpha = alpha - length * step
    return alpha


def descend_dual(matrix, slope, reg_strength, *, step_size, step_decay, n_steps):
    """Return α after α ← α − η_t·K(g + 2λα), η_t = η₀·exp(−decay·t), from α = 0."""
    alpha = np.zeros(len(matrix))
    for t in range(n_steps):
        gradient = matrix @ (slope(matrix @ alpha) + 2 * reg_strength * alpha)
        alpha = alpha - step_size * np.exp(-step_decay * t) * gradient
    return alpha
