"""Posterior probabilities of the classes given the class counts of the bags."""

from __future__ import annotations

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.risks.multiclass.count import ClassCountRisk
from decorrupt.risks.multiclass.normal_counts import NormalBags
from decorrupt.risks.multiclass.range_counts import NormalRangeBags
from decorrupt.risks.segments import Segments

# Largest difference between a class's sum over a bag and its count, per row of the bag.
FIT_TOL = 1e-9
MAX_SWEEPS = 1000


def class_posterior(risk: ClassCountRisk, log_prob: FloatArray) -> FloatArray:
    """Return P(Y_j=c | observation of its bag): exact, or fitted to the counts of large bags.

    Parameters
    ----------
    risk : ClassCountRisk
        The bags.
    log_prob : ndarray of shape (n_rows, n_classes)
        log P(Y_j=c) of every row.
    """
    posterior = np.exp(log_prob)
    for group in risk.groups:
        if isinstance(group, NormalBags | NormalRangeBags):
            prob = np.exp(log_prob[group.rows])
            posterior[group.rows] = fit_counts(prob, group.segments, group.expected_counts(prob))
        else:  # the slope in the log-probabilities
            posterior[group.rows] = group.log_prob_and_slope(log_prob)[1]
    return posterior


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
