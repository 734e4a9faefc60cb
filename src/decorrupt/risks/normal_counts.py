"""Normal approximation of the class counts of large bags."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import log_probabilities
from decorrupt.risks.class_group import ClassGroup
from decorrupt.risks.proportional_fitting import fit_counts
from decorrupt.risks.segments import Segments


@dataclass(frozen=True, eq=False)
class NormalBags(ClassGroup):
    """Bags with too many possible count vectors for an exact sum.

    Counts have the mean μ = Σp_j and the covariance Σ_j(diag p_j − p_j·p_jᵀ), which is singular:
    they sum to n. With the centring matrix C = I − 11ᵀ/K,

        log P(k) ≈ ½·log K − ½(K−1)·log 2π − ½·log det S − ½(k−μ)ᵀS⁻¹(k−μ),
        S = Σ_j(diag p_j − p_j·p_jᵀ) + v·C + 11ᵀ/K,  v = 1/12 + 1/(6K).

    The last term of S makes it regular and changes nothing, as k−μ sums to 0. v·C is the covariance
    of what is lost by rounding to the nearest count vector (the second moment of the lattice
    A_{K−1}); for K = 2 the count of one class has the variance Σp(1−p) + 1/12. All classes are
    treated alike. A density can exceed 1: by up to ½·log K − ½(K−1)·log 2πv where all rows are
    certain and right. Independent noise of variance s² in the count of each class adds s² to v, if
    the noisy counts are corrected to sum to n by equal amounts: n is known, so Gaussian counts
    contain nothing about k in their sum. Of other noise only the variance is used.

    Parameters
    ----------
    bags : ndarray of int, shape (n_bags,)
        Which bags these are.
    rows : ndarray of int, shape (n_rows,)
        Their rows, bag by bag.
    segments : Segments
        The rows of each bag.
    counts : ndarray of shape (n_bags, n_classes)
        k.
    noise_variance : ndarray of shape (n_bags,)
        s².
    log_sum_density : ndarray of shape (n_bags,) or float
        Added to log P(k): the log-density of the reported sum, n + N(0, K·s²), of noisy counts.
    """

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    segments: Segments
    counts: FloatArray
    noise_variance: FloatArray
    log_sum_density: FloatArray | float = 0.0

    def of_log_prob(self, log_prob: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(k) of every bag, and its slope in the log-probabilities."""
        prob = np.exp(log_prob)
        moments = CountMoments.of(prob, self.segments)
        normal = normal_counts(self.counts, moments, self.noise_variance)
        slope = prob * normal.slope(prob, self.segments)
        return normal.log_prob + self.log_sum_density, slope

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y_j=c | observation), fitted to the expected counts."""
        prob = np.exp(log_probabilities(scores[self.rows]))
        return fit_counts(prob, self.segments, self.expected_counts(prob))

    def expected_counts(self, prob: FloatArray) -> FloatArray:
        """Return the expected class counts given the observed ones, which may be noisy.

        μ + Σ_p·S⁻¹(k−μ), with Σ_p the covariance of the counts without noise; k itself without
        noise. Both are limited to counts of at least 0 that sum to n.
        """
        moments = CountMoments.of(prob, self.segments)
        # S − Σ_p is the noise's part of v·C; C leaves k−μ, which sums to 0, as it is.
        pull = normal_counts(self.counts, moments, self.noise_variance).tilt
        expected = np.maximum(self.counts - self.noise_variance[:, None] * pull, 0.0)
        return np.asarray(expected * (self.segments.sizes / expected.sum(axis=1))[:, None])


@dataclass(frozen=True)
class CountMoments:
    """Σ_j p_j and Σ_j p_j·p_jᵀ of every bag; those of a bag's parts add up.

    Attributes
    ----------
    mean : ndarray of shape (n_bags, n_classes)
        Σ_j p_j.
    outer : ndarray of shape (n_bags, n_classes, n_classes)
        Σ_j p_j·p_jᵀ.
    """

    mean: FloatArray
    outer: FloatArray

    @classmethod
    def of(cls, prob: FloatArray, segments: Segments) -> CountMoments:
        """Return the sums over the rows of each bag."""
        columns = [segments.sum(prob * prob[:, c, None]) for c in range(prob.shape[1])]
        return cls(segments.sum(prob), np.stack(columns, axis=1))


@dataclass(frozen=True)
class NormalCounts:
    """log P(k) of every bag, and what its slope in the rows' probabilities needs.

    Attributes
    ----------
    log_prob : ndarray of shape (n_bags,)
        log P(k).
    tilt : ndarray of shape (n_bags, n_classes)
        r = S⁻¹(k−μ).
    bend : ndarray of shape (n_bags, n_classes, n_classes)
        G = S⁻¹ − rrᵀ.
    """

    log_prob: FloatArray
    tilt: FloatArray
    bend: FloatArray

    def slope(self, prob: FloatArray, segments: Segments) -> FloatArray:
        """Return r − ½·diag(G) + G·p_j, the slope of log P(k) in p_j, for the rows of each bag."""
        slope = segments.spread(self.tilt - 0.5 * np.einsum("bcc->bc", self.bend))
        for c in range(prob.shape[1]):  # no array of n_rows × n_classes × n_classes
            slope += segments.spread(self.bend[:, c]) * prob[:, c, None]
        return slope


def normal_counts(
    counts: FloatArray, moments: CountMoments, noise_variance: FloatArray
) -> NormalCounts:
    """Return the normal approximation of log P(k), see :class:`NormalBags`."""
    inverse, log_scale = count_precision(moments, noise_variance)
    away = counts - moments.mean
    tilt = np.einsum("bcd,bd->bc", inverse, away)
    value = log_scale - 0.5 * np.sum(away * tilt, axis=1)
    return NormalCounts(value, tilt, inverse - tilt[:, :, None] * tilt[:, None, :])


def count_precision(
    moments: CountMoments, noise_variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return S⁻¹ and ½·log K − ½(K−1)·log 2π − ½·log det S of every bag."""
    n_classes = moments.mean.shape[1]
    covariance = -moments.outer
    np.einsum("bcc->bc", covariance)[:] += moments.mean
    spread = 1 / 12 + 1 / (6 * n_classes) + noise_variance
    spread = spread[:, None, None]
    covariance += spread * np.eye(n_classes) + (1 - spread) / n_classes
    log_scale = 0.5 * (np.log(n_classes) - (n_classes - 1) * np.log(2 * np.pi))
    log_scale = log_scale - 0.5 * np.linalg.slogdet(covariance)[1]
    return np.linalg.inv(covariance), log_scale
