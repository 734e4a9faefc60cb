"""Flip rates from the two ends of the score's range, read off where they are purest."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import isotonic_regression

from decorrupt._typing import FloatArray

# How many standard errors a smaller tail must gain to be preferred over a larger, surer one.
TAIL_WIDTH = 2.0


def best_bin_flips(counts: FloatArray) -> FloatArray:
    """Return (ρ₊, ρ₋) by source: ρ₋ = min_S P(Ỹ=1|S) and 1−ρ₊ = max_S P(Ỹ=1|S) over score tails S.

    In every bin b of the score the label share of source i is r_i(b) = ρ₋ + (1−ρ₊−ρ₋)·η(b), with
    one η(b) = P(Y=1|b) for all sources: all lie on the line r_i = q_i + slope_i·v. The line is
    fitted to all bins; its ends are where the pooled v of a tail, less (plus) `TAIL_WIDTH`
    standard errors, is largest (smallest). Each fold's tail is chosen on the other folds, so that
    choosing the best of many does not flatter its value.

    Parameters
    ----------
    counts : ndarray of shape (n_folds, n_bins, n_sources, 2)
        Rows by fold, bin of the score in rising order, source and noisy label (−, +).

    Returns
    -------
    ndarray of shape (n_sources, 2)
        (flip_pos, flip_neg), neither clipped nor ordered.
    """
    share, slope = _fit_line(counts.sum(axis=0))
    top = _end(counts[:, ::-1], share, slope, largest=True)
    bottom = _end(counts, share, slope, largest=False)
    return np.column_stack([1 - (share + slope * top), share + slope * bottom])


def _fit_line(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (q_i, slope_i) of r_i(b) = q_i + slope_i·v(b).

    slope_i is the covariance of the source's labels with the monotone fit of all sources' labels:
    an instrument, where a regression on the noisy shares themselves would flatten the line.
    """
    rows, pos = counts.sum(axis=2), counts[..., 1]
    size = rows.sum(axis=0)
    share = pos.sum(axis=0) / size
    bin_rows = np.maximum(rows.sum(axis=1), np.finfo(float).tiny)
    index = isotonic_regression(pos.sum(axis=1) / bin_rows, sample_weight=bin_rows)
    return share, (index @ pos - share * (index @ rows)) / size


def _information(share: FloatArray, slope: FloatArray) -> FloatArray:
    """Return what a row of each source tells of v: slope_i/Var(Ỹ), none for a useless source."""
    variance = np.maximum(share * (1 - share), np.finfo(float).tiny)
    return np.maximum(slope, np.finfo(float).eps) / variance


def _end(counts: FloatArray, share: FloatArray, slope: FloatArray, *, largest: bool) -> float:
    """Return v at the purest tail that starts at the first bin, chosen fold by fold."""
    sign = 1 if largest else -1
    total = counts.sum(axis=0)
    value, weight = 0.0, 0.0
    for fold in counts:
        level, width = _tail_levels(total - fold, share, slope)
        cut = int(np.argmax(sign * level - TAIL_WIDTH * width)) + 1
        lever = _information(share, slope)
        rows, pos = fold[:cut].sum(axis=(0, 2)), fold[:cut, :, 1].sum(axis=0)
        value += float(lever @ (pos - rows * share))
        weight += float(lever @ (rows * slope))
    return value / weight if weight > 0 else 0.0


def _tail_levels(
    counts: FloatArray, share: FloatArray, slope: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the pooled v of every tail, and its standard error."""
    rows = np.cumsum(counts.sum(axis=2), axis=0)
    pos = np.cumsum(counts[..., 1], axis=0)
    lever = _information(share, slope)
    scale = np.maximum(rows @ (lever * slope), np.finfo(float).tiny)
    level = (pos - rows * share) @ lever / scale
    expected = np.clip(share + np.outer(level, slope), 0.0, 1.0)
    # A tail of one label only would look certain: one more row of each label keeps it honest.
    expected = (rows * expected + 1) / (rows + 2)
    return level, np.sqrt((rows * expected * (1 - expected)) @ lever**2) / scale
