"""log Σ_k ν_k·P(ΣY_j = k) for large bags, by a normal approximation of the tilted count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from decorrupt._typing import FloatArray
from decorrupt.risks.poisson_binomial import log_partition, tilt_to_count
from decorrupt.risks.segments import Segments

# The variance that a count loses by being whole (Sheppard): it also bounds the density.
ROUNDING_VARIANCE = 1 / 12


@dataclass(frozen=True)
class WeightedCounts:
    """The counts of each bag that an observation allows, and their log-weights.

    Parameters
    ----------
    bags : Segments
        The number of listed counts of each bag.
    counts, log_weights : ndarray of shape (n_counts,)
        k and log ν_k, bag by bag; k within [0, n].
    lowest, highest : ndarray of shape (n_bags,)
        The range in which the tilted mean is kept: the ends of a range, or the reported count of a
        noisy bag.
    decay : ndarray of shape (n_bags,)
        The largest |tilt|: how fast the log-weights of a noisy bag fall per row; ∞ for a range.
    """

    bags: Segments
    counts: FloatArray
    log_weights: FloatArray
    lowest: FloatArray
    highest: FloatArray
    decay: FloatArray


def tilted_weights(
    scores: FloatArray, bags: Segments, observed: WeightedCounts
) -> tuple[FloatArray, FloatArray]:
    """Return log Σ_k ν_k·P(ΣY = k) of every bag, and its slope in the scores, approximately.

    With the scores shifted by t, p_j = σ(f_j + t), m = Σp_j and v = Σp_j(1−p_j) + 1/12,

        log Σ_k ν_k·e^(−t(k−m))·N(k; m, v) + Σ_j [log(1+e^(f_j+t)) − log(1+e^f_j)] − t·m.

    t is the shift at which the most likely count given the observation is the mean: 0 if the mean
    is inside the range, otherwise the shift to its nearer end; for a noisy count the shift to the
    reported count, limited to ± `decay`. There the normal approximation is accurate (see
    :func:`decorrupt.risks.tilted_normal.tilted_normal`). The error is about 0.1/v.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        f_j, in the order of the bags.
    bags : Segments
        The rows of each bag.
    observed : WeightedCounts
        The weights of the counts.
    """
    tilt, is_free = _tilt(scores, bags, observed)
    shifted = scores + bags.spread(tilt)
    prob, other = expit(shifted), expit(-shifted)
    bend = prob * other
    mean, own = bags.sum(prob), bags.sum(bend)
    variance = own + ROUNDING_VARIANCE
    away = observed.counts - observed.bags.spread(mean)
    spread = observed.bags.spread
    logs = observed.log_weights - spread(tilt) * away - 0.5 * away**2 / spread(variance)
    total = observed.bags.log_sum(logs)
    share = np.exp(logs - spread(total))
    first, second = observed.bags.sum(share * away), observed.bags.sum(share * away**2)
    value = total - 0.5 * np.log(2 * np.pi * variance) - tilt * mean
    value += bags.sum(log_partition(shifted) - log_partition(scores))
    by_variance = 0.5 * (second / variance - 1) / variance
    third = bend * (other - prob)
    by_tilt = first * (own / variance - 1) + by_variance * bags.sum(third)
    tilt_slope = np.where(is_free, 0.0, by_tilt / np.maximum(own, np.finfo(float).tiny))
    slope = prob - expit(scores) + bags.spread(first / variance - tilt_slope) * bend
    return value, slope + bags.spread(by_variance) * third


def _tilt(
    scores: FloatArray, bags: Segments, observed: WeightedCounts
) -> tuple[FloatArray, FloatArray]:
    """Return t of every bag, and whether it does not change with the scores."""
    mean = bags.sum(expit(scores))
    target = np.clip(mean, observed.lowest, observed.highest)
    margin = 0.5 / bags.sizes  # a reported count can be 0, n, or outside
    inside = np.clip(target, margin, bags.sizes - margin)
    tilt = tilt_to_count(scores, bags, inside)
    limited = np.clip(tilt, -observed.decay, observed.decay)
    is_free = (target == mean) | (limited != tilt)
    return np.where(target == mean, 0.0, limited), is_free
