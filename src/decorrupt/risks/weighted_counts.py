"""log Σ_k ν_k·P(ΣY_j = k) for any weights ν_k ≥ 0 of the counts, and its slope; exact.

ν_k is what an observation says about the count k: 1 inside a range, the probability of the noise
that leads from k to the reported count. The sum is taken at the top of the product tree of
:mod:`decorrupt.risks.poisson_binomial`: with A and B its last two polynomials,

    Σ_k ν_k·P(ΣY = k) = Σ_s A_s·Σ_t ν_{s+t}·B_t,

whose slope in A_s is Σ_t ν_{s+t}·B_t. Bags close to underflow are computed again in logarithms.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit

from decorrupt._typing import FloatArray
from decorrupt.risks.poisson_binomial import CHUNK_ROWS, RARE, product_tree, windows


def weighted_counts(scores: FloatArray, log_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log Σ_k ν_k·P(ΣY = k) of every bag, and its slope E[Y_j | ν] − σ(f_j) in the scores.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_bags)
        Log-odds f_j of the rows of each bag; −∞ where a bag has fewer rows.
    log_weights : ndarray of shape (n_rows + 1, n_bags)
        log ν_k for k = 0 … n_rows; −∞ excludes a count. Not all are −∞ for a count that the bag's
        rows can have.
    """
    n_rows, n_bags = scores.shape
    if n_rows == 1:  # the top of the tree has two nodes
        log_prob, slope = weighted_counts(_one_more(scores), _one_more(log_weights))
        return log_prob, slope[:1]
    width = max(1, CHUNK_ROWS // n_rows)
    log_prob, slope = np.empty(n_bags), np.empty(scores.shape)
    for first in range(0, n_bags, width):
        some = slice(first, first + width)
        log_prob[some], slope[:, some] = _stable(scores[:, some], log_weights[:, some])
    return log_prob, slope


def _one_more(rows: FloatArray) -> FloatArray:
    return np.vstack([rows, np.full(rows.shape[1], -np.inf)])


def _stable(scores: FloatArray, log_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    largest = log_weights.max(axis=0)
    weights = np.exp(log_weights - largest)
    prob, slope = product_tree(scores, lambda top: _weighted_top(top, weights))
    (rare,) = np.nonzero(prob < RARE)
    prob[rare] = 1.0  # avoids a division by zero; the logarithmic result replaces this one
    log_prob, slope = np.log(prob) + largest, slope / prob
    if len(rare):
        log_prob[rare], slope[:, rare] = _in_logarithms(scores[:, rare], log_weights[:, rare])
    return log_prob, slope


def _weighted_top(top: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Σ_s A_s·Σ_t ν_{s+t}·B_t, and the steps of its slope in A and B."""
    size, n_bags = len(top) // 3, weights.shape[1]
    padded = np.zeros((2 * size + 2, n_bags))
    padded[: len(weights)] = weights
    polynomials = top[size : 2 * size + 1]
    slope = np.einsum("stb,tkb->skb", windows(padded, size + 2, size + 1), polynomials)[:, ::-1]
    prob = np.einsum("sb,sb->b", polynomials[:, 0], slope[:-1, 0])
    return prob, slope[1:] - slope[:-1]


def _in_logarithms(scores: FloatArray, log_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the same from log P(first j rows have s positives) and the weight of the others."""
    n_rows, n_bags = scores.shape
    log_pos, log_neg = log_expit(scores), log_expit(-scores)
    before = np.full((n_rows, n_rows + 1, n_bags), -np.inf)
    before[0, 0] = 0.0
    for j in range(n_rows - 1):
        before[j + 1] = before[j] + log_neg[j]
        before[j + 1, 1:] = np.logaddexp(before[j + 1, 1:], before[j, :-1] + log_pos[j])
    after, posterior = log_weights.copy(), np.empty(scores.shape)
    for j in reversed(range(n_rows)):
        if_pos = log_pos[j] + after[1:]
        posterior[j] = np.logaddexp.reduce(before[j, :-1] + if_pos, axis=0)
        after[:-1] = np.logaddexp(log_neg[j] + after[:-1], if_pos)
        after[-1] = -np.inf
    log_prob = after[0]
    return log_prob, np.exp(posterior - log_prob) - expit(scores)
