"""Scales of columns: values too large to be squared, and columns that distances do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import min_max_axis

from decorrupt._typing import FloatArray
from decorrupt.features.kernels import column_variances

# A column is hidden if its range, squared, is below this share of the largest column's variance:
# two rows at its opposite ends then have nearly the same rbf kernel values (γ = "scale").
HIDDEN_SHARE = 0.02
# Many hidden columns together can still count, as pixels do: this is their share of the variance.
HIDDEN_TOGETHER = 0.01


def check_magnitude(X: Any, names: Any = None, *, n_rows: int = 1) -> None:
    """Raise ValueError if a value is too large to be squared and summed over columns and rows.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        Numbers; NaN are ignored.
    names : sequence of str, optional
        The names of the columns.
    n_rows : int
        How many rows are summed; 1 for prediction.
    """
    values = X.data if issparse(X) else X
    limit = np.sqrt(np.finfo(X.dtype).max / (4.0 * n_rows * X.shape[1]))
    largest = max(
        np.fmax.reduce(values, axis=None, initial=0.0),
        -np.fmin.reduce(values, axis=None, initial=0.0),
    )
    if not largest > limit:
        return
    row, column = (int(places[0]) for places in (abs(X) > limit).nonzero())
    raise ValueError(
        f"X has {X[row, column]:g} in row {row}, {column_name(column, names)}, which is too large: "
        f"scale the columns, or correct the value. Squares are summed, so values of {X.dtype} can "
        f"be at most {limit:.0e} here"
    )


def describe_hidden_columns(X: Any, names: Any = None) -> str | None:
    """Return what to do if distances between rows do not show most columns; None if they do.

    Columns are hidden next to one with a far larger scale. At least half of the columns that vary
    must be, and together they have less than 1 % of the variance.
    """
    variances, ranges = column_variances(X), _ranges(X)
    total, varying = variances.sum(), ranges > 0
    hidden = varying & (ranges**2 < HIDDEN_SHARE * variances.max())
    if 2 * hidden.sum() < varying.sum() or variances[hidden].sum() >= HIDDEN_TOGETHER * total:
        return None
    return (
        f"{hidden.sum()} of {varying.sum()} columns of X hardly change the distances between rows, "
        f"because {column_name(int(variances.argmax()), names)} has a far larger scale, so the "
        "kernel does not use them: put decorrupt.TailScaler or StandardScaler before the "
        "classifier in a pipeline"
    )


def column_name(column: int, names: Any = None) -> str:
    """Return what a message calls a column."""
    return f"column {column}" if names is None else f"column {list(names)[column]!r}"


def _ranges(X: Any) -> FloatArray:
    least, greatest = min_max_axis(X, axis=0) if issparse(X) else (X.min(axis=0), X.max(axis=0))
    return np.asarray(np.asarray(greatest, dtype=float) - least)
