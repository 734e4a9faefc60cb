"""Half-whitened principal components: coordinates between the rows' own and whitened ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.features.kernels import mean_variance, squared_norms
from decorrupt.observed import repeated_rows

# Components with a singular value below this share of the first are rounding error or noise.
SMALLEST_SINGULAR_VALUE = 1e-4
ROWS_PER_COMPONENT = 4
# Components of more rows are those of a random sample.
MOST_ROWS = 20_000
# A covariance matrix of more columns takes longer than the first components by ARPACK.
MOST_COLUMNS_OF_COVARIANCE = 1000


def fit_principal_projection(
    X: Any, n_components: int, random_state: Any = None, weights: Any = None
) -> FloatArray:
    """Return P with coordinates XP: principal components, each divided by √(singular value).

    With X − mean = USVᵀ, P = c·VS^−½ and (X − mean)P = c·US^½: a component's variance is
    proportional to its singular value s, where the component itself has s² and a whitened one 1.
    c makes the total variance of the coordinates that of X, so kernel_gamma, and "scale", which
    is 1 divided by the total variance, mean the same for X and for its coordinates. Kernels of
    differences do not depend on the mean, so it is not subtracted in XP.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        The training rows; of more than 20,000 a random sample is used.
    n_components : int
        The largest number of components; at most the columns and a quarter of the rows. Those with
        a singular value below 1e-4 of the first are left out.
    random_state : int, RandomState or None
        Source of the sample.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents.

    Returns
    -------
    ndarray of shape (n_columns, n_kept)
        P, in the precision of X; one column of zeros if all rows are equal.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 2.0], [6.0, 2.0]] * 2)
    >>> X.var(axis=0)  # 9 to 1
    array([9., 1.])
    >>> (X @ fit_principal_projection(X, 2)).var(axis=0).round(6)  # 3 to 1, with the same sum
    array([7.5, 2.5])
    """
    n_columns = X.shape[1]
    n_rows = X.shape[0] if weights is None else weights.sum()
    n_components = max(1, min(n_components, n_columns, int(n_rows) // ROWS_PER_COMPONENT))
    total_variance = n_columns * mean_variance(X, weights)
    if weights is not None:
        X = X[repeated_rows(weights, MOST_ROWS, random_state)]
    elif n_rows > MOST_ROWS:
        rng = check_random_state(random_state)
        X = X[np.sort(rng.choice(n_rows, MOST_ROWS, replace=False))]
    rounding = np.finfo(X.dtype).eps ** 2 * float(np.mean(squared_norms(X)))
    if not total_variance > rounding:
        return np.zeros((n_columns, 1), dtype=X.dtype)
    dtype, X = X.dtype, X.astype(float)
    if not issparse(X):
        X -= X.mean(axis=0)  # PCA subtracts the mean after multiplication, with loss of digits
    solver = "covariance_eigh" if n_columns <= MOST_COLUMNS_OF_COVARIANCE else "arpack"
    found = PCA(n_components, svd_solver=solver, random_state=0).fit(X)
    sizes = found.singular_values_
    kept = sizes > SMALLEST_SINGULAR_VALUE * sizes[0]
    scale = np.sqrt(total_variance * X.shape[0] / sizes[kept].sum())
    return np.asarray(scale * found.components_[kept].T / np.sqrt(sizes[kept]), dtype=dtype)


def project(X: Any, projection: FloatArray | None) -> Any:
    """Return XP in the precision of X, or X if there is no projection."""
    return X if projection is None else np.asarray(X @ projection.astype(X.dtype, copy=False))
