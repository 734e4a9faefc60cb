"""Class shares: one column per class, checks, and the class prior."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray

# Shares that went through float32 or a text file differ in the last digits only.
SHARE_TOL = 1e-6
# Singular values below this share of the largest come from such rounding.
RANK_TOL = 1e-6
# A class belongs to a null space if its squared coordinates there sum to more than this.
SUPPORT_TOL = 1e-6
# As a class prior: the same share of every class.
BALANCED = 0.5


def is_share_row(rows: FloatArray) -> NDArray[np.bool_]:
    """Return for every row whether its entries are in [0, 1] and sum to 1."""
    # By column: reducing many short rows takes numpy ten times as long.
    columns = np.moveaxis(rows, -1, 0)
    in_range = np.logical_and.reduce([(share >= 0) & (share <= 1) for share in columns])  # no NaN
    with np.errstate(invalid="ignore"):  # an infinite share and its complement
        total = sum(columns)
    return np.asarray(in_range & (np.abs(total - 1) <= SHARE_TOL))


def inseparable_classes(matrix: FloatArray) -> list[int]:
    """Return the columns that take part in a linear dependence: the support of the null space."""
    _, scales, directions = np.linalg.svd(np.linalg.qr(matrix, mode="r"))
    rank = int(np.sum(scales > RANK_TOL * scales[0]))
    support = np.sum(directions[rank:] ** 2, axis=0) > SUPPORT_TOL
    return [int(column) for column in np.flatnonzero(support)]


def class_columns(shares: ArrayLike) -> FloatArray:
    """Return one column per class: a vector is the share of positives of two classes."""
    shares = np.asarray(shares, dtype=float)
    return shares if shares.ndim == 2 else np.column_stack([1 - shares, shares])


def as_targets(shares: FloatArray) -> FloatArray:
    """Return the inverse of :func:`class_columns`: what `fit` takes as y."""
    return shares[:, 1] if shares.shape[1] == 2 else shares


def inside(shares: FloatArray, n_rows: float) -> FloatArray:
    """Return class shares strictly between 0 and 1: a sample cannot exclude a class."""
    margin = 0.5 / n_rows
    clipped = np.clip(shares, margin, 1 - margin)
    return np.asarray(clipped / clipped.sum())


def resolve_class_prior(
    class_prior: ArrayLike | str, pooled: FloatArray, name: str = "class_prior"
) -> FloatArray:
    """Return one share per class.

    Parameters
    ----------
    class_prior : "pooled", float or array-like of shape (n_classes,)
        "pooled" is `pooled`. A number is the share of positives of two classes; 0.5 is the same
        share of every class for any number of classes.
    pooled : ndarray of shape (n_classes,)
        The class shares among all rows.
    name : str
        The caller's argument, for messages.

    Raises
    ------
    ValueError
        If these are not positive shares that sum to 1.
    """
    n_classes = len(pooled)
    if isinstance(class_prior, str):
        if class_prior == "pooled":
            return pooled
        shares = np.full(n_classes, np.nan)
    else:
        shares = np.asarray(class_prior, dtype=float)
        if shares.ndim == 0:
            is_balanced = shares == BALANCED
            shares = (
                np.full(n_classes, 1 / n_classes) if is_balanced else class_columns([shares])[0]
            )
    if shares.shape != (n_classes,) or not is_share_row(shares) or not (shares > 0).all():
        single = (
            "a number strictly between 0 and 1, " if n_classes == 2 else "0.5 for equal shares, "
        )
        raise ValueError(
            f"{name}={class_prior!r}: give {single}{n_classes} positive shares that sum to 1, or "
            "'pooled'"
        )
    return shares
