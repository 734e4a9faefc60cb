"""Columns of X: their moments, values too large to be squared, hidden columns, and TailScaler."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis
from sklearn.utils.validation import check_is_fitted, validate_data

from decorrupt._typing import FloatArray

VARIANCE_BLOCK_ROWS = 1024
# A column is hidden if its range, squared, is below this share of the largest column's variance:
# two rows at its opposite ends then have nearly the same rbf kernel values (γ = "scale").
HIDDEN_SHARE = 0.02
# Many hidden columns together can still count, as pixels do: this is their share of the variance.
HIDDEN_TOGETHER = 0.01
# A tail is heavy if it is heavier than an exponential one: this is the kurtosis about the median
# of an exponential distribution, rounded. Normal columns have 3, Laplace 6, log-normal above 20.
TAIL_KURTOSIS = 10.0


def column_means(X: Any, weights: Any = None) -> FloatArray:
    """Return the mean of each column, in double precision."""
    if weights is None:
        return np.asarray(X.mean(axis=0, dtype=float))
    return np.asarray(weights @ X / weights.sum())


def column_variances(X: Any, weights: Any = None) -> FloatArray:
    """Return the variance of each column, in double precision.

    Dense rows are read in blocks: no copy of X, and a block stays in the cache.
    """
    if issparse(X):
        weights = None if weights is None else weights.astype(float)
        return np.asarray(mean_variance_axis(X.tocsr().astype(float), axis=0, weights=weights)[1])
    centre = column_means(X, weights)
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), VARIANCE_BLOCK_ROWS):
        block = slice(start, start + VARIANCE_BLOCK_ROWS)
        deviations = X[block] - centre
        weighted = deviations if weights is None else weights[block, None] * deviations
        total += np.einsum("ij,ij->j", deviations, weighted)
    return np.asarray(total / (len(X) if weights is None else weights.sum()))


def check_magnitude(X: Any, names: Any = None, *, n_rows: int = 1) -> None:
    """Raise ValueError if a value is too large to be squared and summed over columns and rows.

    NaN are ignored. `names` are those of the columns; `n_rows` are summed, 1 for prediction.
    """
    values = X.data if issparse(X) else X
    limit = np.sqrt(np.finfo(X.dtype).max / (4.0 * n_rows * X.shape[1]))
    extremes = [pick.reduce(values, axis=None, initial=0.0) for pick in (np.fmin, np.fmax)]
    if not np.abs(extremes).max() > limit:
        return
    row, column = (int(indices[0]) for indices in (abs(X) > limit).nonzero())
    name = column if names is None else repr(list(names)[column])
    raise ValueError(
        f"X has {X[row, column]:g} in row {row}, column {name}, which is too large: scale the "
        "columns, or correct the value. Squares are summed, so values of "
        f"{X.dtype} can be at most {limit:.0e} here"
    )


def describe_hidden_columns(X: Any, names: Any = None) -> str | None:
    """Return what to do if distances between rows do not show most columns; None if they do.

    Columns are hidden next to one with a far larger scale. At least half of the columns that vary
    must be, and together they have less than 1 % of the variance.
    """
    smallest, largest = min_max_axis(X, axis=0) if issparse(X) else (X.min(axis=0), X.max(axis=0))
    variances, ranges = column_variances(X), np.asarray(largest, dtype=float) - smallest
    varying = ranges > 0
    hidden = varying & (ranges**2 < HIDDEN_SHARE * variances.max())
    together = variances[hidden].sum()
    if 2 * hidden.sum() < varying.sum() or together >= HIDDEN_TOGETHER * variances.sum():
        return None
    name = variances.argmax() if names is None else repr(list(names)[variances.argmax()])
    return (
        f"{hidden.sum()} of {varying.sum()} columns of X hardly change the distances between rows, "
        f"because column {name} has a far larger scale, so the kernel does not use them: put "
        "decorrupt.TailScaler or StandardScaler before the classifier in a pipeline"
    )


class TailScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """StandardScaler for columns of which some have heavy tails, such as delays or capital gains.

    It scales arcsinh((x − m)/s) to mean 0 and variance 1 if a column has heavy tails, and x itself
    otherwise. m is the median, s the median of abs(x − m) over the values other than m. arcsinh is
    nearly linear up to s and logarithmic beyond, so that the few largest values do not decide the
    variance, and with it the distances between all rows that a kernel uses. New values far outside
    the range of the training rows stay finite.

    A column has heavy tails if its kurtosis about the median, mean(d⁴)/mean(d²)² over all
    d = x − m other than 0, is above 10, the kurtosis of an exponential distribution. Values equal
    to the median are left out, so that a column is not heavy-tailed only because most of its values
    are 0; columns with two values never are.

    Missing values (NaN) are ignored in `fit` and stay missing. Sparse columns keep their zeros:
    m is 0, and they are scaled to variance 1 without centring.

    Attributes
    ----------
    heavy_tailed_ : ndarray of bool of shape (n_columns,)
        Which columns have heavy tails.
    centre_, spread_ : ndarray of shape (n_columns,)
        m and s of these columns; 0 and 1 of the others.
    scaler_ : StandardScaler
        The scaler of the transformed columns.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import TailScaler
    >>> rng = np.random.default_rng(0)
    >>> age, delay = rng.normal(40, 12, 500), np.exp(2 * rng.normal(size=500))
    >>> scaler = TailScaler().fit(np.column_stack([age, delay]))
    >>> scaler.heavy_tailed_.tolist()
    [False, True]
    >>> scaler.transform([[40.0, 1e6]]).round(1).tolist()    # with a StandardScaler: 66868
    [[0.0, 8.5]]
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 — scikit-learn's signature
        """Find the columns with heavy tails, and the scales of all columns; y is ignored."""
        X = self._read_rows(X, reset=True)
        self.heavy_tailed_ = np.zeros(X.shape[1], dtype=bool)
        self.centre_, self.spread_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
        for column in range(X.shape[1]):
            values = _stored_values(X, column).astype(float)
            values = values[~np.isnan(values)]
            centre = 0.0 if issparse(X) or not len(values) else float(np.median(values))
            deviations = values[values != centre] - centre
            if tail_kurtosis(deviations) > TAIL_KURTOSIS:
                self.heavy_tailed_[column], self.centre_[column] = True, centre
                self.spread_[column] = np.median(np.abs(deviations))
        self.scaler_ = StandardScaler(with_mean=not issparse(X)).fit(self._compressed(X))
        return self

    def transform(self, X: Any) -> Any:
        """Return the scaled columns, in the order of X."""
        check_is_fitted(self)
        return self.scaler_.transform(self._compressed(self._read_rows(X, reset=False)))

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        dtypes = (np.float64, np.float32)
        return validate_data(
            self, X, reset=reset, accept_sparse="csc", dtype=dtypes, ensure_all_finite="allow-nan"
        )

    def _compressed(self, X: Any) -> Any:
        X = X.copy()
        limit = np.finfo(X.dtype).max
        for column in np.flatnonzero(self.heavy_tailed_):
            values = _stored_values(X, int(column))
            with np.errstate(over="ignore"):
                ratio = (values - self.centre_[column]) / self.spread_[column]
            values[:] = np.arcsinh(np.clip(ratio, -limit, limit))
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def tail_kurtosis(deviations: FloatArray) -> float:
    """Return mean(d⁴)/mean(d²)², or 0 if there are no deviations."""
    if not len(deviations):
        return 0.0
    squares = (deviations / np.abs(deviations).max()) ** 2  # at most 1: no overflow
    return float(np.mean(squares**2) / np.mean(squares) ** 2)


def _stored_values(X: Any, column: int) -> NDArray[Any]:
    """Return a view of the values of a column; if X is sparse, of those that are stored."""
    if issparse(X):
        return np.asarray(X.data[X.indptr[column] : X.indptr[column + 1]])
    return np.asarray(X[:, column])
