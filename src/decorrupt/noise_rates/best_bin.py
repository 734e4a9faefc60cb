"""Flip rates from the purest lower and upper tails of the score."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import isotonic_regression

from decorrupt._typing import FloatArray

# Tails are compared by their estimate minus (or plus) this many standard errors.
TAIL_WIDTH = 2.0


def best_bin_flips(counts: FloatArray) -> FloatArray:
    """Return ρ₋ = min_S P(Ỹ=1|S) and ρ₊ = 1 − max_S P(Ỹ=1|S) per source, over score tails S.

    In bin b of the score, source i has the label share r_i(b) = ρ₋ + (1−ρ₊−ρ₋)·η(b), where
    η(b) = P(Y=1|b) is the same for all sources. So all bins lie on a line r_i = q_i + slope_i·v,
    which is fitted to all bins. Its upper (lower) end is the pooled v of the tail for which v minus
    (plus) `TAIL_WIDTH` standard errors is largest (smallest). Each fold's tail is chosen on the
    other folds, to avoid the optimism of choosing the best of many tails.

    Parameters
    ----------
    counts : ndarray of shape (n_folds, n_bins, n_sources, 2)
        Number of rows per fold, bin of the score in ascending order, source and noisy label
        (−, +).

    Returns
    -------
    ndarray of shape (n_sources, 2)
        (flip_pos, flip_neg), not clipped to [0, 1].
    """
    share, slope = _fit_line(counts.sum(axis=0))
    top = _tail_value(counts[:, ::-1], share, slope, largest=True)
    bottom = _tail_value(counts, share, slope, largest=False)
    return np.column_stack([1 - (share + slope * top), share + slope * bottom])


def _fit_line(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (q_i, slope_i) of r_i(b) = q_i + slope_i·v(b).

    slope_i is the covariance of the source's labels with the isotonic fit of all sources' labels.
    The fit is an instrumental variable: regression on the noisy shares would bias slopes to zero.
    """
    rows, pos = counts.sum(axis=2), counts[..., 1]
    size = rows.sum(axis=0)
    share = pos.sum(axis=0) / size
    bin_rows = np.maximum(rows.sum(axis=1), np.finfo(float).tiny)
    index = isotonic_regression(pos.sum(axis=1) / bin_rows, sample_weight=bin_rows)
    return share, (index @ pos - share * (index @ rows)) / size


def _row_weights(share: FloatArray, slope: FloatArray) -> FloatArray:
    """Return the weight slope_i/Var(Ỹ) of a row of each source in the pooled estimate of v."""
    variance = np.maximum(share * (1 - share), np.finfo(float).tiny)
    return np.maximum(slope, np.finfo(float).eps) / variance


def _tail_value(
    counts: FloatArray, share: FloatArray, slope: FloatArray, *, largest: bool
) -> float:
    """Return v of the purest tail that starts at the first bin; each fold uses its own tail."""
    sign = 1 if largest else -1
    total = counts.sum(axis=0)
    value, weight = 0.0, 0.0
    for fold in counts:
        level, width = _tail_levels(total - fold, share, slope)
        cut = int(np.argmax(sign * level - TAIL_WIDTH * width)) + 1
        row_weights = _row_weights(share, slope)
        rows, pos = fold[:cut].sum(axis=(0, 2)), fold[:cut, :, 1].sum(axis=0)
        value += float(row_weights @ (pos - rows * share))
        weight += float(row_weights @ (rows * slope))
    return value / weight if weight > 0 else 0.0


def _tail_levels(
    counts: FloatArray, share: FloatArray, slope: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the pooled v of every tail and its standard error."""
    rows = np.cumsum(counts.sum(axis=2), axis=0)
    pos = np.cumsum(counts[..., 1], axis=0)
    row_weights = _row_weights(share, slope)
    scale = np.maximum(rows @ (row_weights * slope), np.finfo(float).tiny)
    level = (pos - rows * share) @ row_weights / scale
    expected = np.clip(share + np.outer(level, slope), 0.0, 1.0)
    # One more row per label: otherwise a tail with one label only has standard error 0.
    expected = (rows * expected + 1) / (rows + 2)
    return level, np.sqrt((rows * expected * (1 - expected)) @ row_weights**2) / scale
