"""Saddlepoint approximation of the count likelihood, for large or noisy bags; O(n) per bag."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from decorrupt._typing import FloatArray
from decorrupt.risks.poisson_binomial import log_partition, tilt_to_count
from decorrupt.risks.segments import Segments

# Below the first variance of the tilted count a bag is exact, above the second it is normal.
EXACT_BELOW = 16.0
NORMAL_ABOVE = 32.0
# A count with a variance of 32 is this far from its mean with a probability below 1e-25.
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
        """∂v/∂f_j: the row's third cumulant, minus the effect of the change of t."""
        own = self.prob * self.other * (self.other - self.prob)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_shift = np.where(self.variance > 0, self.bags.sum(own) / self.variance, 0.0)
        return np.asarray(own - self.bags.spread(by_shift) * self.prob * self.other)

    def take(self, some: NDArray[np.bool_]) -> _TiltedBags:
        """Return some of the bags."""
        rows = self.bags.spread(some)
        bags, noise_variance = self.bags.take(some), self.noise_variance[some]
        return _TiltedBags(self.prob[rows], self.other[rows], bags, noise_variance)


def tilted_normal(
    scores: FloatArray, bags: Segments, counts: FloatArray, noise_variance: FloatArray | float = 0.0
) -> tuple[FloatArray, FloatArray]:
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
    # The slope of `measure` through t is zero: t is a stationary point of it.
    return measure + at_mean, tilted.prob - expit(scores) + slope


def _log_prob_at_mean(tilted: _TiltedBags, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log P(ΣY = c) where c is the mean, and its slope: exact, normal or a blend."""
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
