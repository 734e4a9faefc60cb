"""Checks of class shares: rows that sum to 1, linearly dependent columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray

# Shares that went through float32 or a text file differ in the last digits only.
SHARE_TOL = 1e-6
# Singular values below this share of the largest come from such rounding.
RANK_TOL = 1e-6
# A class belongs to a null space if its squared coordinates there sum to more than this.
SUPPORT_TOL = 1e-6


def is_share_row(rows: FloatArray) -> NDArray[np.bool_]:
    """Return for every row whether its entries are in [0, 1] and sum to 1."""
    in_range = ((rows >= 0) & (rows <= 1)).all(axis=-1)  # also catches NaN
    return np.asarray(in_range & (np.abs(rows.sum(axis=-1) - 1) <= SHARE_TOL))


def inseparable_classes(matrix: FloatArray) -> list[int]:
    """Return the columns that take part in a linear dependence: the support of the null space."""
    _, scales, directions = np.linalg.svd(np.linalg.qr(matrix, mode="r"))
    rank = int(np.sum(scales > RANK_TOL * scales[0]))
    support = np.sum(directions[rank:] ** 2, axis=0) > SUPPORT_TOL
    return [int(column) for column in np.flatnonzero(support)]
