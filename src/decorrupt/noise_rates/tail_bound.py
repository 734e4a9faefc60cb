"""Upper bounds of flip rates that hold whether or not the classes overlap."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from decorrupt._typing import FloatArray
from decorrupt.observed import matrix_of_rates

# The rows with the highest, and with the lowest scores: fewer are purer but vary more.
TAIL_SHARE = 0.1


def tail_bounds(counts: FloatArray, flips: FloatArray, level: float) -> FloatArray:
    """Return 0 ≤ ρ₊ ≤ P(Ỹ=0 | S₊) and 0 ≤ ρ₋ ≤ P(Ỹ=1 | S₋), S± the tails of the score.

    P(Ỹ=0|x) = ρ₊ + (1−ρ₊−ρ₋)·P(Y=0|x) is at least ρ₊ in any set of rows. The share of negative
    labels among the rows with the highest scores therefore bounds flip_pos, and its upper limit of
    Clopper & Pearson does so with at least the probability `level`, without irreducibility. There
    is no such lower bound: overlap of the classes looks like noise.

    Parameters
    ----------
    counts : ndarray of shape (n_folds, n_bins, n_sources, 2)
        Rows per out-of-fold score bin and label.
    flips : ndarray of shape (n_sources, 2)
        The estimates, which are not above their bounds.
    level : float
        Confidence level of each bound.

    Returns
    -------
    ndarray of shape (n_sources, 2, 2, 2)
        The lower and upper end of every entry of the matrices.
    """
    by_bin = counts.sum(axis=0)
    n_tail = max(int(TAIL_SHARE * len(by_bin)), 1)
    top, bottom = by_bin[-n_tail:].sum(axis=0), by_bin[:n_tail].sum(axis=0)
    wrong = np.column_stack([top[:, 0], bottom[:, 1]])
    right = np.column_stack([top[:, 1], bottom[:, 0]])
    # Without a right label in the tail the limit is 1.
    limit = np.where(right > 0, beta.ppf(level, wrong + 1, np.maximum(right, 1)), 1.0)
    highest = matrix_of_rates(*np.maximum(limit, flips).T)
    lowest = np.broadcast_to(np.eye(2), highest.shape)
    return np.stack([np.minimum(lowest, highest), np.maximum(lowest, highest)], axis=-1)
