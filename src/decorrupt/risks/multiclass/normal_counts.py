"""Normal approximation of the class counts of large bags."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.risks.segments import Segments


@dataclass(frozen=True)
class NormalBags:
    """Bags with too many possible count vectors for an exact sum.

    Counts have the mean μ = Σp_j and the covariance Σ_j(diag p_j − p_j·p_jᵀ), which is singular:
    they sum to n. With the centring matrix C = I − 11ᵀ/K,

        log P(k) ≈ ½·log K − ½(K−1)·log 2π − ½·log det S − ½(k−μ)ᵀS⁻¹(k−μ),
        S = Σ_j(diag p_j − p_j·p_jᵀ) + v·C + 11ᵀ/K,  v = 1/12 + 1/(6K).

    The last term of S makes it regular and changes nothing, as k−μ sums to 0. v·C is the covariance
    of what is lost by rounding to the nearest count vector (the second moment of the lattice
    A_{K−1}); for K = 2 the count of one class has the variance Σp(1−p) + 1/12. All classes are
    treated alike. A density can exceed 1: by up to ½·log K − ½(K−1)·log 2πv where all rows are
    certain and right.

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
    """

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    segments: Segments
    counts: NDArray[np.intp]

    def log_prob_and_slope(self, log_prob: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(k) of every bag, and its slope in the log-probabilities.

        With r = S⁻¹(k−μ) and G = S⁻¹ − rrᵀ the slope in p_j is r − ½·diag(G) + G·p_j.
        """
        prob = np.exp(log_prob[self.rows])
        covariance, mean = self._moments(prob)
        inverse = np.linalg.inv(covariance)
        away = self.counts - mean
        tilt = np.einsum("bcd,bd->bc", inverse, away)
        n_classes = prob.shape[1]
        value = 0.5 * (np.log(n_classes) - (n_classes - 1) * np.log(2 * np.pi))
        value = value - 0.5 * (np.linalg.slogdet(covariance)[1] + np.sum(away * tilt, axis=1))
        bend = inverse - tilt[:, :, None] * tilt[:, None, :]
        slope = self.segments.spread(tilt - 0.5 * np.einsum("bcc->bc", bend))
        for c in range(n_classes):  # no array of n_rows × n_classes × n_classes
            slope += self.segments.spread(bend[:, c]) * prob[:, c, None]
        return value, prob * slope

    def _moments(self, prob: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return S and μ of every bag."""
        n_classes = prob.shape[1]
        mean = self.segments.sum(prob)
        covariance = np.empty((len(mean), n_classes, n_classes))
        for c in range(n_classes):
            covariance[:, c] = -self.segments.sum(prob * prob[:, c, None])
        np.einsum("bcc->bc", covariance)[:] += mean
        rounding = 1 / 12 + 1 / (6 * n_classes)
        covariance += rounding * np.eye(n_classes) + (1 - rounding) / n_classes
        return covariance, mean
