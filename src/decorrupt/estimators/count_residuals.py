"""Do the counts differ from a fitted count model by more than chance? A test of its residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import chi2

from decorrupt._typing import FloatArray
from decorrupt.losses import probabilities
from decorrupt.observed import Observed

# Of a false warning.
RESIDUAL_LEVEL = 0.01
# The count of a bag whose rows are almost certain is not nearly normal.
SMALLEST_VARIANCE = 1.0
# More features than this are not tested: the degrees of freedom need a matrix of this size.
MOST_FEATURES = 1000
BLOCK = 64
# Of the total curvature, added to all directions: without a penalty some may be flat.
RIDGE = 1e-9
# Degrees of freedom: a model that follows every count has residuals of nothing but rounding.
LEAST_FREEDOM = 0.5


@dataclass(frozen=True)
class ResidualTest:
    """The outcome of :func:`check_count_residuals`.

    Attributes
    ----------
    dispersion : float
        Σ_k z_k² divided by its degrees of freedom; 1 is expected.
    p_value : float
        The probability of a larger one.
    """

    dispersion: float
    p_value: float


def check_count_residuals(
    scores: FloatArray, matrix: Any, observed: Observed, reg_strength: float
) -> ResidualTest | None:
    """Return the test of Q = Σ_k z_k², z_k = (c_k − Σp)/√V_k, V_k = Σp(1 − p), of the fitted rows.

    To first order the residuals are z = (I − A)ε, where A = S(SᵀS + 2nλI)⁻¹Sᵀ is the share of the
    counts' noise that the fit follows and S = V^−½·∂(Σp)/∂θ. Under the prior that the penalty
    implies, E[Q] = tr(I − A), and 2·tr((I − A)²) is its variance. Q is compared with the scaled
    χ² distribution that has these moments.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        The fitted log-odds.
    matrix : ndarray or sparse matrix of shape (n_rows, rank)
        The features.
    observed : Observed
        The exact counts of two classes.
    reg_strength : float
        λ.

    Returns
    -------
    ResidualTest or None
        None if it cannot be tested: several classes, inexact counts, too many features, or no
        degrees of freedom.
    """
    tested = observed.sizes >= 2
    is_exact = observed.n_classes == 2 and not observed.is_inexact
    if not is_exact or not tested.any() or matrix.shape[1] > MOST_FEATURES:
        return None
    prob = probabilities(scores)[:, 1]
    variance = np.maximum(observed.sum_by_bag(prob * (1 - prob)), SMALLEST_VARIANCE)
    residuals = observed.sizes * observed.proportions[:, 1] - observed.sum_by_bag(prob)
    slopes = _sums_of_rows(matrix, prob * (1 - prob), observed) / np.sqrt(variance)[:, None]
    return _outcome(
        float(np.sum(residuals[tested] ** 2 / variance[tested])),
        *_moments(slopes, tested, 2 * observed.n_rows * reg_strength),
    )


def _sums_of_rows(matrix: Any, weights: FloatArray, observed: Observed) -> FloatArray:
    """Return Σ_j w_j·(z_j, 1) of every bag; the last column is that of the intercept."""
    n_rows, n_features = matrix.shape
    if observed.weights is not None:
        weights = weights * observed.weights
    indicator = sparse.csc_matrix(
        (weights, observed.row_bag, np.arange(n_rows + 1)), shape=(observed.n_bags, n_rows)
    )
    # In blocks of columns: the product copies its right side.
    parts = [indicator @ matrix[:, k : k + BLOCK] for k in range(0, n_features, BLOCK)]
    dense = [part.toarray() if sparse.issparse(part) else part for part in parts]
    return np.column_stack([*dense, indicator @ np.ones(n_rows)])


def _moments(slopes: FloatArray, tested: Any, penalty: float) -> tuple[float, float]:
    """Return tr(I − A) and 2·tr((I − A)²) of the tested bags."""
    information = slopes.T @ slopes + penalty * np.eye(slopes.shape[1])
    information[-1, -1] -= penalty  # the intercept is not penalised
    information[np.diag_indices_from(information)] += RIDGE * np.trace(information)
    own = slopes[tested]
    followed = cho_solve(cho_factor(information), own.T @ own)
    n_tested, share = len(own), float(np.trace(followed))
    return n_tested - share, 2 * (n_tested - 2 * share + float(np.sum(followed * followed.T)))


def _outcome(total: float, mean: float, variance: float) -> ResidualTest | None:
    if mean < LEAST_FREEDOM:
        return None
    scale = variance / (2 * mean)
    return ResidualTest(total / mean, float(chi2.sf(total / scale, mean / scale)))
