"""Saddlepoint approximation of the count likelihood, for large or noisy bags; O(n) per bag."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from decorrupt._typing import FloatArray
from decorrupt.risks.poisson_binomial import log_partition, tilt_to_count
from decorrupt.risks.segments import Segments, ValueAndSlope

# Below the first variance of the tilted count a bag is exact, above the second it is normal.
EXACT_BELOW = 16.0
NORMAL_ABOVE = 32.0
# A count with a variance of 32 is this far from its mean with a probability below 1e-25.
# Odd, so that no node is −1, where the factor of a row with p = ½ vanishes.
FOURIER_NODES = 79
# The variance that a count loses by being whole (Sheppard): it also bounds the density.
ROUNDING_VARIANCE = 1 / 12


def tilted_normal(
    scores: FloatArray, bags: Segments, counts: FloatArray, noise_variance: FloatArray
) -> ValueAndSlope:
    """Return log P(ΣY_j + noise ≈ c) of every bag, and its slope in the scores, approximately.

    Shifting all scores of a bag by t changes P(ΣY = c) by a known factor. The normal approximation
    N(Σp_j, Σp_j(1−p_j) + τ²) is most accurate at its mean. It is therefore used at the shift that
    makes c the mean, p_j = σ(f_j + t), and not in a tail (the saddlepoint of Daniels 1954):

        Σ_j [log(1+e^(f_j+t)) − log(1+e^f_j)] − t·c + ½τ²t² − ½·log(1 + 2πv),
        v = Σ_j p_j(1−p_j) + τ²,  t such that Σ_j p_j + τ²t = c.

    The 1 added to 2πv keeps the last factor at most 1, like a probability. A density grows without
    bound as v → 0 and would reward certainty. The error is about 0.02/v and at most 0.2/v. (Without
    the tilt, a normal density has the error |z³−3z|/(6√v), z standard deviations from the mean.)
    This is too much for small v, regardless of the size of the bag. Without noise, the last term
    is therefore exact below v = 16 (Fourier sums), normal above v = 32, and a smooth blend between.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        f_j, in the order of the bags.
    bags : Segments
        The rows of each bag.
    counts : ndarray of shape (n_bags,)
        c, not necessarily whole; strictly between 0 and the bag's rows where there is no noise.
    noise_variance : ndarray of shape (n_bags,)
        τ², the variance of the noise in c.
    """
    tilt = tilt_to_count(scores, bags, counts, noise_variance)
    shifted = scores + bags.spread(tilt)
    prob, other = expit(shifted), expit(-shifted)
    bend = prob * other
    variance = bags.sum(bend) + noise_variance
    # ∂v/∂f_j: the row's third cumulant, minus the effect of the change of t.
    third = bend * (other - prob)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_shift = np.where(variance > 0, bags.sum(third) / variance, 0.0)
    variance_slope = third - bags.spread(by_shift) * bend
    at_mean = -0.5 * np.log1p(2 * np.pi * variance)
    slope = bags.spread(-np.pi / (1 + 2 * np.pi * variance)) * variance_slope
    small = (variance < NORMAL_ABOVE) & (noise_variance == 0)
    if small.any():
        rows, few = bags.spread(small), bags.take(small)
        exact, exact_slope = _fourier(prob[rows], other[rows], few, counts[small])
        # ω·normal + (1−ω)·exact with ω(v) = 3s²−2s³, s from 0 to 1 between the two variances.
        width = NORMAL_ABOVE - EXACT_BELOW
        step = np.clip((variance[small] - EXACT_BELOW) / width, 0.0, 1.0)
        share, excess = step**2 * (3 - 2 * step), at_mean[small] - exact
        share_slope = few.spread(6 * step * (1 - step) / width * excess) * variance_slope[rows]
        at_mean[small] = exact + share * excess
        slope[rows] = exact_slope + few.spread(share) * (slope[rows] - exact_slope) + share_slope
    measure = bags.sum(log_partition(shifted) - log_partition(scores))
    measure += (0.5 * noise_variance * tilt - counts) * tilt
    # The slope of `measure` through t is zero: t is a stationary point of it.
    return measure + at_mean, prob - expit(scores) + slope


def _fourier(
    prob: FloatArray, other: FloatArray, bags: Segments, counts: FloatArray
) -> ValueAndSlope:
    """Return log P(ΣY = c) and its slope E[Y_j | ΣY = c] − p_j, exact while v is small.

    P(ΣY = c) = (1/N)·Σ_k z_k^(−c)·Π_j (1−p_j + p_j·z_k) over the N-th roots of unity, up to the
    probability that ΣY is a multiple of N away from c. Roots come in conjugate pairs.
    """
    total, given_pos = np.zeros(len(counts)), np.zeros(len(prob))
    for k in range(FOURIER_NODES // 2 + 1):
        node = np.exp(2j * np.pi * k / FOURIER_NODES)
        factor = other + prob * node
        term = (1 if k == 0 else 2) * bags.product(factor) * node**-counts
        total += term.real
        given_pos += (bags.spread(term) * node / factor).real
    conditional = prob * given_pos / bags.spread(total)
    return np.log(total / FOURIER_NODES), conditional - prob


class PossibleCounts(NamedTuple):
    """The counts k of large bags that an observation allows, and their weights ν_k."""

    bags: Segments  # the number of listed counts of each bag
    counts: FloatArray  # k, bag by bag, within [0, n]
    log_weights: FloatArray  # log ν_k
    lowest: FloatArray  # per bag, the ends of its range; for a noisy bag the reported count
    highest: FloatArray
    decay: FloatArray  # how fast the log-weights of a noisy bag fall per row; ∞ for a range


def tilted_weights(scores: FloatArray, bags: Segments, possible: PossibleCounts) -> ValueAndSlope:
    """Return log Σ_k ν_k·P(ΣY = k) of every bag, and its slope in the scores, approximately.

    With the scores shifted by t, p_j = σ(f_j + t), m = Σp_j and v = Σp_j(1−p_j) + 1/12,

        log Σ_k ν_k·e^(−t(k−m))·N(k; m, v) + Σ_j [log(1+e^(f_j+t)) − log(1+e^f_j)] − t·m.

    t is the shift at which the most likely count given the observation is the mean: 0 if the mean
    is inside the range, otherwise the shift to its nearer end; for a noisy count the shift to the
    reported count, limited to ± `decay`. There the normal approximation is accurate (see
    :func:`tilted_normal`). The error is about 0.1/v.
    """
    choices, counts, log_weights, lowest, highest, decay = possible
    plain_mean = bags.sum(expit(scores))
    target = np.clip(plain_mean, lowest, highest)
    is_inside = target == plain_mean
    margin = 0.5 / bags.sizes  # a reported count can be 0, n, or outside
    full = tilt_to_count(scores, bags, np.clip(target, margin, bags.sizes - margin))
    tilt = np.where(is_inside, 0.0, np.clip(full, -decay, decay))
    shifted = scores + bags.spread(tilt)
    prob, other = expit(shifted), expit(-shifted)
    bend = prob * other
    mean, own = bags.sum(prob), bags.sum(bend)
    variance = own + ROUNDING_VARIANCE
    spread, away = choices.spread, counts - choices.spread(mean)
    logs = log_weights - spread(tilt) * away - 0.5 * away**2 / spread(variance)
    total = choices.log_sum(logs)
    share = np.exp(logs - spread(total))
    first, second = choices.sum(share * away), choices.sum(share * away**2)
    value = total - 0.5 * np.log(2 * np.pi * variance) - tilt * mean
    value += bags.sum(log_partition(shifted) - log_partition(scores))
    by_variance = 0.5 * (second / variance - 1) / variance
    third = bend * (other - prob)
    by_tilt = first * (own / variance - 1) + by_variance * bags.sum(third)
    does_not_move = is_inside | (tilt != full)  # while the scores change
    tilt_slope = np.where(does_not_move, 0.0, by_tilt / np.maximum(own, np.finfo(float).tiny))
    slope = prob - expit(scores) + bags.spread(first / variance - tilt_slope) * bend
    return value, slope + bags.spread(by_variance) * third
