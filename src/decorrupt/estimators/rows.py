"""Validation of the rows of kernel methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from decorrupt.features import check_magnitude

FLOATS = (np.float64, np.float32)


def validated_rows(
    model: Any, X: Any, *, reset: bool = True, is_squared: bool = True, **options: Any
) -> Any:
    """Return scikit-learn's validated rows, sparse ones as CSR.

    Parameters
    ----------
    model : estimator
        It gets `n_features_in_` and `feature_names_in_` if `reset`.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        Rows.
    reset : bool
        Whether this is the fit; otherwise the columns must be those of the fit.
    is_squared : bool
        Whether values are refused whose squares are not finite numbers.
    **options
        Further arguments of :func:`sklearn.utils.validation.validate_data`.

    Raises
    ------
    ValueError
        If X is invalid; the message names the row and the column of a value that is too large.
    """
    X = validate_data(model, X, reset=reset, accept_sparse="csr", dtype=FLOATS, **options)
    if is_squared:
        names = getattr(model, "feature_names_in_", None)
        check_magnitude(X, names, n_rows=X.shape[0] if reset else 1)
    return X
