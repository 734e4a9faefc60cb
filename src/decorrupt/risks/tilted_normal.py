"""Counts of large bags, and of bags whose proportion is noisy, in O(n) a bag."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from decorrupt._typing import FloatArray
from decorrupt.risks.poisson_binomial import log_partition, tilt_to_count
from decorrupt.risks.segments import Segments

# The variance of the tilted count up to which a bag is exact, and that from which it is normal.
EXACT_BELOW = 16.0
NORMAL_ABOVE = 32.0
# A count with a variance of 32 strays this far from its mean with a probability below 1e-25.
# Odd, so that no node is −1, where the factor of a row with p = ½ vanishes.
FOURIER_NODES = 79


@dataclass(frozen=True)
class _TiltedBags:
    """p_j and 1−p_j of the rows after tilting, and the noise variance of their bags."""

    prob: FloatArray
    other: FloatArray
    bags: Segments
    noise_variance: FloatArray

    @cached_property
    def variance(self) -> FloatArray:
        """Σp(1−p) + τ², v in the formulas."""
        return np.asarray(self.bags.sum(self.prob * self.other) + self.noise_variance)

    @cached_property
    def variance_slope(self) -> FloatArray:
        """∂v/∂f_j: the row's third cumulant, less what the shift of t takes back."""
        own = self.prob * self.other * (self.other - self.prob)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_shift = np.where(self.variance > 0, self.bags.sum(own) / self.variance, 0.0)
        return np.asarray(own - self.bags.spread(by_shift) * self.prob * self.other)

    def take(self, some: NDArray[np.bool_]) -> _TiltedBags:
        """Return some of the bags."""
        rows = self.bags.spread(some)
        sizes, noise_variance = self.bags.sizes[some], self.noise_variance[some]
        return _TiltedBags(self.prob[rows], self.other[rows], Segments(sizes), noise_variance)


def tilted_normal(
    scores: FloatArray, bags: Segments, counts: FloatArray, noise_variance: FloatArray | float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return log P(ΣY_j + noise ≈ c) of every bag, and its slope in the scores, approximately.

    Shifting all scores of a bag by t changes P(ΣY = c) by a known factor. The normal approximation
    N(Σp_j, Σp_j(1−p_j) + τ²) is best at its mean, so it is taken at the shift that makes c the
    mean, p_j = σ(f_j + t), and not far out in a tail (the saddlepoint of Daniels 1954):

        Σ_j [log(1+e^(f_j+t)) − log(1+e^f_j)] − t·c + ½τ²t² − ½·log(1 + 2πv),
        v = Σ_j p_j(1−p_j) + τ²,  t such that Σ_j p_j + τ²t = c.

    The 1 beside 2πv keeps the last factor a probability, and a plain density, which grows without
    bound as v → 0, from rewarding certainty. It errs by about 0.02/v, at most 0.2/v (a normal
    density at the untilted mean: by |z³−3z|/(6√v), z standard deviations out). Where v is small
    that is too much, whatever the size of the bag; without noise, the last term is therefore exact
    below v = 16, by Fourier sums, normal above v = 32, and goes smoothly from one to the other.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        f_j, in the order of the bags.
    bags : Segments
        Which rows are whose.
    counts : ndarray of shape (n_bags,)
        c, not necessarily whole; strictly between 0 and the bag's rows where there is no noise.
    noise_variance : ndarray of shape (n_bags,) or float
        τ², the variance of the noise in c.
    """
    noise_variance = np.broadcast_to(np.asarray(noise_variance, dtype=float), counts.shape)
    tilt = tilt_to_count(scores, bags, counts, noise_variance)
    shifted = scores + bags.spread(tilt)
    tilted = _TiltedBags(expit(shifted), expit(-shifted), bags, noise_variance)
    at_mean, slope = _log_prob_at_mean(tilted, counts)
    measure = bags.sum(log_partition(shifted) - log_partition(scores))
    measure += (0.5 * noise_variance * tilt - counts) * tilt
    # Of the measure's slope, t's own share is nil: t is where the measure is stationary.
    return measure + at_mean, tilted.prob - expit(scores) + slope


def _log_prob_at_mean(tilted: _TiltedBags, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log P(ΣY = c) where c is the mean, and its slope: exact, normal or between."""
    log_prob = -0.5 * np.log1p(2 * np.pi * tilted.variance)
    by_variance = -np.pi / (1 + 2 * np.pi * tilted.variance)
    slope = tilted.bags.spread(by_variance) * tilted.variance_slope
    small = (tilted.variance < NORMAL_ABOVE) & (tilted.noise_variance == 0)
    if small.any():
        rows = tilted.bags.spread(small)
        log_prob[small], slope[rows] = _blend(
            tilted.take(small), counts[small], log_prob[small], slope[rows]
        )
    return log_prob, slope


def _blend(
    tilted: _TiltedBags, counts: FloatArray, normal: FloatArray, normal_slope: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return ω·normal + (1−ω)·exact and its slope, ω(v) = 3s²−2s³ from v = 16 to v = 32."""
    exact, exact_slope = _fourier(tilted, counts)
    width = NORMAL_ABOVE - EXACT_BELOW
    step = np.clip((tilted.variance - EXACT_BELOW) / width, 0.0, 1.0)
    share = step**2 * (3 - 2 * step)
    share_slope = 6 * step * (1 - step) / width * (normal - exact)
    spread = tilted.bags.spread
    slope = exact_slope + spread(share) * (normal_slope - exact_slope)
    slope += spread(share_slope) * tilted.variance_slope
    return exact + share * (normal - exact), slope


def _fourier(tilted: _TiltedBags, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log P(ΣY = c) and its slope E[Y_j | ΣY = c] − p_j, exact while v is small.

    P(ΣY = c) = (1/N)·Σ_k z_k^(−c)·Π_j (1−p_j + p_j·z_k) over the N-th roots of unity, up to the
    probability that ΣY is a multiple of N away from c. Roots come in conjugate pairs.
    """
    prob, other, bags = tilted.prob, tilted.other, tilted.bags
    total, given_pos = np.zeros(len(counts)), np.zeros(len(prob))
    for k in range(FOURIER_NODES // 2 + 1):
        node = np.exp(2j * np.pi * k / FOURIER_NODES)
        factor = other + prob * node
        term = (1 if k == 0 else 2) * bags.product(factor) * node**-counts
        total += term.real
        given_pos += (bags.spread(term) * node / factor).real
    conditional = prob * given_pos / bags.spread(total)
    return np.log(total / FOURIER_NODES), conditional - prob
