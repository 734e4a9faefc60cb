"""Iterative proportional fitting: probabilities of rows that sum to the counts of their bag."""

from __future__ import annotations

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.risks.segments import Segments

# Largest difference between a class's sum over a bag and its count, per row of the bag.
FIT_TOL = 1e-9
MAX_SWEEPS = 1000


def fit_counts(prob: FloatArray, bags: Segments, counts: FloatArray) -> FloatArray:
    """Return w_jc ∝ p_jc·u_bc with Σ_c w_jc = 1 and Σ_{j∈b} w_jc = k_bc, by proportional fitting.

    Rows and bags are scaled in turn until the sums agree (Deming & Stephan 1940). It is the
    distribution closest to p, in relative entropy, whose expected counts are k.

    Parameters
    ----------
    prob : ndarray of shape (n_rows, n_classes)
        Positive probabilities, bag by bag.
    bags : Segments
        The rows of each bag.
    counts : ndarray of shape (n_bags, n_classes)
        k, at least 0; the counts of a bag sum to its number of rows.
    """
    factor = np.ones(counts.shape)
    for _ in range(MAX_SWEEPS):
        fitted = prob * bags.spread(factor)
        fitted /= fitted.sum(axis=1, keepdims=True)
        sums = bags.sum(fitted)
        if (np.abs(sums - counts) <= FIT_TOL * bags.sizes[:, None]).all():
            break
        factor *= np.divide(counts, sums, out=np.zeros(counts.shape), where=sums > 0)
        factor /= factor.max(axis=1, keepdims=True)
    return fitted
