"""The λ above which the objective is convex, and the λ above which it has a minimum."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigvalsh
from scipy.sparse.linalg import LinearOperator, eigsh

from decorrupt._typing import FloatArray
from decorrupt.risks import CorrectedRisk

DENSE_RANK = 256
BLOCK_ROWS = 8192


def convexity_floor(features: Any, risk: CorrectedRisk, *, fit_intercept: bool = False) -> float:
    """Return ½·λ_max(ZᵀCZ): J is convex for every λ of at least this value.

    C is diagonal: the largest negative curvature of each row over all scores (the loss's
    `concavity`). The result is 0 if C is 0. Otherwise, with an intercept, which is not penalised,
    no λ guarantees convexity and the result is infinity.
    """
    concavity = risk.loss.concavity(risk.coef)
    if not concavity.any():
        return 0.0
    return np.inf if fit_intercept else 0.5 * _largest_eigenvalue(features, concavity)


def least_admissible_reg(
    features: Any, risk: CorrectedRisk, *, fit_intercept: bool = False
) -> float:
    """Return the largest λ for which J has no minimum; 0 if it has one for every positive λ.

    Only a loss that grows as fast as the penalty (the squared loss) can make J unbounded below. Its
    Hessian ZᵀDZ + 2λ·I is constant and must be positive definite. Minimising over the intercept
    centres Z by its D-weighted mean.
    """
    loss: Any = risk.loss
    if np.isfinite(loss.lipschitz):
        return 0.0
    diagonal = loss.curvature_bound * risk.coef.sum(axis=1)
    if fit_intercept:
        total = diagonal.sum()
        if total <= 0:
            return np.inf
        dense = features.toarray() if hasattr(features, "toarray") else features
        features = dense - (features.T @ diagonal) / total
    return max(0.0, 0.5 * _largest_eigenvalue(features, -diagonal))


def is_minimum(
    features: Any,
    risk: CorrectedRisk,
    scores: FloatArray,
    reg_strength: float,
    *,
    fit_intercept: bool = False,
) -> bool:
    """Return whether the Hessian of J has no negative eigenvalue at these scores.

    If it has one, J decreases along its eigenvector: the solver did not stop at a minimum.
    """
    if scores.ndim > 1:  # the curvature of several classes is not implemented
        return True
    diagonal = risk.loss.row_curvatures(risk.coef, scores)
    if not (diagonal < 0).any():
        return True
    hessian = _weighted_gram(features, diagonal, fit_intercept=fit_intercept)
    rank = features.shape[1]
    hessian[np.diag_indices(rank)] += 2 * reg_strength
    rounding = len(hessian) * np.finfo(features.dtype).eps * np.abs(hessian).max()
    try:
        cholesky(hessian + rounding * np.eye(len(hessian)))
    except LinAlgError:
        return False
    return True


def _weighted_gram(
    features: Any, diagonal: FloatArray, *, fit_intercept: bool = False
) -> FloatArray:
    """Return Zᵀ·diag(d)·Z, with a column of ones in Z for an intercept."""
    size = features.shape[1] + fit_intercept
    gram = np.zeros((size, size))
    for start in range(0, len(diagonal), BLOCK_ROWS):  # no second copy of Z
        block = features[start : start + BLOCK_ROWS]
        block = block.toarray() if hasattr(block, "toarray") else block
        if fit_intercept:
            block = np.column_stack([block, np.ones(len(block), dtype=block.dtype)])
        gram += block.T @ (diagonal[start : start + BLOCK_ROWS, None] * block)
    return gram


def _largest_eigenvalue(features: Any, diagonal: FloatArray) -> float:
    """Return λ_max(Zᵀ·diag(d)·Z)."""
    rank = features.shape[1]
    if rank <= DENSE_RANK:
        gram = _weighted_gram(features, diagonal)
        return float(eigvalsh(gram, subset_by_index=[rank - 1, rank - 1])[0])
    dtype = features.dtype  # otherwise numpy would copy Z to the wider type in every product

    def apply(v: FloatArray) -> FloatArray:
        bent = diagonal * (features @ v.astype(dtype, copy=False))
        return np.asarray(features.T @ bent.astype(dtype, copy=False))

    operator = LinearOperator((rank, rank), matvec=apply, dtype=float)
    start = np.random.default_rng(0).standard_normal(rank)
    if not np.any(operator.matvec(start)):  # ARPACK refuses the zero matrix
        return 0.0
    return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False, tol=1e-4)[0])
