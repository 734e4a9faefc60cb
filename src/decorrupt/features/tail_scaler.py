"""Scaling of columns, some of which have heavy tails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from decorrupt._typing import FloatArray

# A tail is heavy if it is heavier than an exponential one: this is the kurtosis about the median
# of an exponential distribution, rounded. Normal columns have 3, Laplace 6, log-normal above 20.
TAIL_KURTOSIS = 10.0


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
    n_features_in_, feature_names_in_
        Columns seen in fit.

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
        """Find the columns with heavy tails, and the scales of all columns.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
            The rows; NaN are missing values.
        y : ignored
        """
        X = self._read_rows(X, reset=True)
        self.heavy_tailed_ = np.zeros(X.shape[1], dtype=bool)
        self.centre_, self.spread_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
        for place, (centre, deviations) in enumerate(_deviations(X)):
            if tail_kurtosis(deviations) > TAIL_KURTOSIS:
                self.heavy_tailed_[place] = True
                self.centre_[place] = centre
                self.spread_[place] = np.median(np.abs(deviations))
        self.scaler_ = StandardScaler(with_mean=not issparse(X)).fit(self._compressed(X))
        return self

    def transform(self, X: Any) -> Any:
        """Return the scaled columns, in the order of X."""
        check_is_fitted(self)
        X = self._read_rows(X, reset=False)
        return self.scaler_.transform(self._compressed(X))

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csc",
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
        )

    def _compressed(self, X: Any) -> Any:
        X = X.copy()
        for column in np.flatnonzero(self.heavy_tailed_):
            values = _stored(X, int(column))
            with np.errstate(over="ignore"):
                ratio = (values - self.centre_[column]) / self.spread_[column]
            limit = np.finfo(X.dtype).max
            values[:] = np.arcsinh(np.clip(ratio, -limit, limit))
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def tail_kurtosis(deviations: FloatArray) -> float:
    """Return mean(d⁴)/mean(d²)², or 0 if there are no deviations."""
    if not len(deviations):
        return 0.0
    squares = (deviations / np.abs(deviations).max()) ** 2  # at most 1: no overflow
    return float(np.mean(squares**2) / np.mean(squares) ** 2)


def _deviations(X: Any) -> Iterator[tuple[float, FloatArray]]:
    """Yield m and the x − m other than 0 of each column; m is 0 if X is sparse."""
    for column in range(X.shape[1]):
        values = _stored(X, column).astype(float)
        values = values[~np.isnan(values)]
        centre = 0.0 if issparse(X) or not len(values) else float(np.median(values))
        yield centre, values[values != centre] - centre


def _stored(X: Any, column: int) -> NDArray[Any]:
    """Return a view of the values of a column; if X is sparse, of those that are stored."""
    if issparse(X):
        return np.asarray(X.data[X.indptr[column] : X.indptr[column + 1]])
    return np.asarray(X[:, column])
