"""The Poisson binomial distribution: log P(ΣY_j = c) for independent labels, and its slope.

With p_j = σ(f_j), P(ΣY_j = s) is the coefficient of z^s in Π_j (1−p_j + p_j·z). The product is
computed pairwise, as a tree over the rows of the bag, for many bags of one size at a time. The
chain rule, applied down the tree, gives P(Σ_{i≠j} Y_i = c−1) − P(Σ_{i≠j} Y_i = c) at the leaf of
row j. The only subtraction is at the top; all other steps add and multiply non-negative numbers, so
there is no cancellation except in the slope itself. Underflow is possible: bags close to it are
computed again, tilted (:func:`tilt_to_count`) or in logarithms.

A count that is not known exactly has weights ν_k ≥ 0: 1 inside a range, the probability of the
noise that leads from k to the reported count. With A and B the last two polynomials of the tree,

    Σ_k ν_k·P(ΣY = k) = Σ_s A_s·Σ_t ν_{s+t}·B_t.

The cost is n² multiply-adds per bag, in one numpy call per level of the tree, up and down.

Conventions
-----------
- Scores have shape (n_rows, n_bags): bags are along the fast axis, which is vectorised.
- A score of −∞ is padding (its factor is 1). Padding lets bags of several sizes share a tree.
- A level of the tree whose nodes have at most m rows under them has shape (3m+1, n_nodes, n_bags):
  the m+1 coefficients of its polynomials, with m zeros before and after, so that every sum over
  powers is a sum over a window of the level. The product of nodes k and k + n_nodes/2 is a node of
  the level above.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from decorrupt._typing import FloatArray
from decorrupt.losses import LOSSES
from decorrupt.risks.segments import Segments, ValueAndSlope

# Rows in one pass of the tree: its levels about fill a second-level cache.
CHUNK_ROWS = 6144
# A probability below this is computed again after tilting, long before underflow loses digits.
RARE = 1e-100
# Tolerance of a tilt, |ΣP(Y=1) − c| divided by the bag's rows; rounding is only a little smaller.
TILT_TOL = 1e-12
MAX_TILT_STEPS = 200
# Larger scores are clipped to this one, whose odds are still finite.
LARGEST_SCORE = 700.0


def poisson_binomial(scores: FloatArray, counts: NDArray[np.intp]) -> ValueAndSlope:
    """Return log P(ΣY_j = c) of every bag, and its slope E[Y_j | ΣY = c] − σ(f_j) in the scores.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_bags)
        Log-odds f_j of the rows of each bag; −∞ where a bag has fewer rows.
    counts : ndarray of int, shape (n_bags,)
        c, strictly between 0 and the bag's number of rows.
    """
    return _in_chunks(scores, counts, _known_at_top, _tilted)


def weighted_counts(scores: FloatArray, log_weights: FloatArray) -> ValueAndSlope:
    """Return log Σ_k ν_k·P(ΣY = k) of every bag, and its slope E[Y_j | ν] − σ(f_j) in the scores.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_bags)
        As in :func:`poisson_binomial`; at least two rows, which can be padding.
    log_weights : ndarray of shape (n_rows + 1, n_bags)
        log ν_k for k = 0 … n_rows; −∞ excludes a count. Not all are −∞ for a count that the bag's
        rows can have.
    """
    largest = log_weights.max(axis=0)
    log_prob, slope = _in_chunks(scores, log_weights - largest, _weighted_at_top, _in_logarithms)
    return log_prob + largest, slope


def _in_chunks(
    scores: FloatArray,
    known: NDArray[Any],
    at_top: Callable[[NDArray[Any], FloatArray], ValueAndSlope],
    if_rare: Callable[[FloatArray, Any], ValueAndSlope],
) -> ValueAndSlope:
    """Return the log-probabilities and their slope, from as many bags at a time as fit the cache.

    What is known about the counts has the bags along its last axis. `at_top` is its function at
    the top of the tree, and `if_rare` a slower way for bags close to underflow.
    """
    n_rows, n_bags = scores.shape
    width = max(1, CHUNK_ROWS // n_rows)
    log_prob, slope = np.empty(n_bags), np.empty(scores.shape)
    for first in range(0, n_bags, width):
        some = slice(first, first + width)
        prob, steps = _product_tree(scores[:, some], partial(at_top, known[..., some]))
        (rare,) = np.nonzero(prob < RARE)
        prob[rare] = 1.0  # avoids a division by zero; the other way replaces this result
        np.log(prob, out=log_prob[some])
        np.divide(steps, prob, out=slope[:, some])
        if len(rare):
            rare += first
            log_prob[rare], slope[:, rare] = if_rare(scores[:, rare], known[..., rare])
    return log_prob, slope


def _tilted(scores: FloatArray, counts: NDArray[np.intp]) -> ValueAndSlope:
    """Return the same of known counts, computed with shifted scores for which the count is likely.

    P(ΣY = c; f) = P(ΣY = c; f+t)·exp(Σ[log(1+e^(f+t)) − log(1+e^f)] − t·c). Given the count, the
    distribution of the labels does not depend on the shift.
    """
    is_row = np.isfinite(scores.T)
    tilt = tilt_to_count(scores.T[is_row], Segments(is_row.sum(axis=1)), counts.astype(float))
    prob, slope = _product_tree(scores + tilt, partial(_known_at_top, counts))
    measure = np.sum(log_partition(scores + tilt) - log_partition(scores), axis=0) - tilt * counts
    return np.log(prob) + measure, slope / prob + expit(scores + tilt) - expit(scores)


def _in_logarithms(scores: FloatArray, log_weights: FloatArray) -> ValueAndSlope:
    """Return the same of weighted counts, from log P(first j rows have s positives)."""
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


def log_partition(scores: FloatArray) -> FloatArray:
    """Return log(1 + e^f) of every row."""
    return LOSSES["logistic"].value(-scores)


def tilt_to_count(
    scores: FloatArray, bags: Segments, counts: FloatArray, noise_variance: FloatArray | float = 0.0
) -> FloatArray:
    """Return the t of every bag with Σ_j σ(f_j+t) + τ²t = c, where τ² is the noise variance.

    The left side increases with t. A Newton step is used if it stays inside the current bracket,
    and bisection otherwise. Where there is no noise, c is strictly between 0 and the bag's rows.
    """
    # n·σ(f_min+t) ≤ Σσ(f+t) ≤ n·σ(f_max+t), and |τ²t| ≤ n.
    with np.errstate(divide="ignore"):
        middle, reach = logit(counts / bags.sizes), bags.sizes / np.asarray(noise_variance)
    low = np.maximum(np.minimum(middle - bags.max(scores), 0.0), -reach)
    high = np.minimum(np.maximum(middle - bags.min(scores), 0.0), reach)
    tilt = np.clip(0.0, low, high)
    for _ in range(MAX_TILT_STEPS):
        prob = expit(scores + bags.spread(tilt))
        excess = bags.sum(prob) + noise_variance * tilt - counts
        if (np.abs(excess) <= TILT_TOL * bags.sizes).all():
            break
        low, high = np.where(excess < 0, tilt, low), np.where(excess > 0, tilt, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = tilt - excess / (bags.sum(prob * (1 - prob)) + noise_variance)
        inside = (newton > low) & (newton < high)
        tilt = np.where(inside, newton, low + (high - low) / 2)
    return np.asarray(tilt)


def _product_tree(
    scores: FloatArray, at_top: Callable[[FloatArray], ValueAndSlope]
) -> ValueAndSlope:
    """Return a linear function of the probabilities P(ΣY = s), and its slope in the scores.

    `at_top` returns its value from the last two polynomials A and B of the tree, and the steps of
    its slope in their coefficients.
    """
    levels = [_leaves(scores)]
    for size in _node_sizes(len(scores)):
        levels.append(_multiply(levels[-1], size))
    prob, steps = at_top(levels[-1])
    for level in levels[-2::-1]:
        steps = _steps_below(level, steps)
    negative, positive = levels[0][1:3, : len(scores)]
    return prob, negative * positive * steps[0, : len(scores)]


def _leaves(scores: FloatArray) -> FloatArray:
    """Return the factors 1−p_j + p_j·z, padded with factors of 1 to a full tree."""
    n_rows, n_bags = scores.shape
    leaves = np.zeros((4, 1 << (n_rows - 1).bit_length(), n_bags))
    leaves[1] = 1.0
    negative, positive = leaves[1:3, :n_rows]
    np.exp(np.minimum(scores, LARGEST_SCORE, out=positive), out=positive)
    total = 1 + positive
    negative /= total
    positive /= total
    return leaves


@lru_cache(maxsize=256)
def _node_sizes(n_rows: int) -> tuple[int, ...]:
    """Return the largest number of rows under a node, per level above the leaves: …, ⌈n/2⌉."""
    sizes = [-(-n_rows // 2)]  # the two polynomials at the top are never multiplied out
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 2))
    return tuple(sizes[-2::-1])


def _multiply(level: FloatArray, size: int) -> FloatArray:
    """Return the level of the products C_s = Σ_p A_p·B_{s−p}, for powers s up to `size`."""
    below, n_nodes, n_bags = len(level) // 3, level.shape[1] // 2, level.shape[2]
    product = np.zeros((3 * size + 1, n_nodes, n_bags))
    backwards = level[2 * below : below - 1 : -1, :n_nodes]
    others = _windows(level, size + 1, below + 1)[:, :, n_nodes:]
    np.einsum("spkb,pkb->skb", others, backwards, out=product[size : 2 * size + 1])
    return product


def _windows(rows: FloatArray, n_windows: int, width: int) -> FloatArray:
    """Return the view whose [s, p] is rows[s + p]; numpy's own functions for this are slower."""
    shape, strides = (n_windows, width, *rows.shape[1:]), (rows.strides[0], *rows.strides)
    return np.ndarray(shape, rows.dtype, rows, strides=strides)


def _known_at_top(counts: NDArray[np.intp], top: FloatArray) -> ValueAndSlope:
    """Return P(ΣY = c) = Σ_s A_s·B_{c−s} from the last two polynomials, and the steps of its slope.

    The slope in A_s is B_{c−s}, and the slope in B_s is A_{c−s}: the coefficients in reverse order
    from power c, with A and B exchanged.
    """
    size, n_bags = len(top) // 3, len(counts)
    backwards = n_bags * np.arange(2 * size + 1, -3, -1)[:, None]
    slope = top.take(backwards + (2 * n_bags * counts + np.arange(n_bags)))
    slope = slope.reshape(size + 2, 2, n_bags)
    prob = np.einsum("sb,sb->b", top[size : 2 * size + 1, 0], slope[:-1, 0])
    return prob, slope[1:] - slope[:-1]


def _weighted_at_top(log_weights: FloatArray, top: FloatArray) -> ValueAndSlope:
    """Return Σ_s A_s·Σ_t ν_{s+t}·B_t, and the steps of its slope in A and B."""
    size, n_bags = len(top) // 3, log_weights.shape[1]
    weights = np.zeros((2 * size + 2, n_bags))
    np.exp(log_weights, out=weights[: len(log_weights)])
    polynomials = top[size : 2 * size + 1]
    slope = np.einsum("stb,tkb->skb", _windows(weights, size + 2, size + 1), polynomials)
    slope = slope[:, ::-1]  # the slope in A_s is a sum over B, and that in B_s one over A
    prob = np.einsum("sb,sb->b", polynomials[:, 0], slope[:-1, 0])
    return prob, slope[1:] - slope[:-1]


def _steps_below(level: FloatArray, steps: FloatArray) -> FloatArray:
    """Return the steps of the slope in a level's polynomials from those in their products.

    If the product of A and B has the slope g, the slope in coefficient s of A is Σ_p B_p·g_{s+p}.
    Its step from s to s+1 is the same sum over the steps g_{s+p+1} − g_{s+p}.
    """
    size, (n_nodes, n_bags) = len(level) // 3, level.shape[1:]
    halves = (2, n_nodes // 2, n_bags)
    others = level[size : 2 * size + 1].reshape(size + 1, *halves)[:, ::-1]
    # A level of 2m−1 rows passes 2m steps to a level of m; the last is for a power not used there.
    below = np.zeros((size + 1, n_nodes, n_bags))
    out = below[:-1].reshape(size, *halves)
    np.einsum("spkb,phkb->shkb", _windows(steps, size, size + 1), others, out=out)
    return below
