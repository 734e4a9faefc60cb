"""The number of positives in a bag: log P(ΣY_j = c) for independent labels, and its slope.

With p_j = σ(f_j), P(ΣY_j = s) is the coefficient of z^s in Π_j (1−p_j + p_j·z). The product is
taken pairwise, as a tree over the rows of the bag, for many bags of one size at a time; going down
the tree again, by the chain rule, leaves P(Σ_{i≠j} Y_i = c−1) and P(Σ_{i≠j} Y_i = c) at the leaf of
row j. Both ways only add and multiply non-negative numbers, so no digits cancel; what could happen
is underflow, and a bag near it is tilted first (:func:`tilt_to_count`).

O(n²) a bag: ¾n² multiply-adds, about half of what forward and backward recursions over the rows
need, in few numpy calls over long arrays.

Conventions
-----------
- Scores have shape (n_rows, n_bags): bags lie along the fast axis, over which all is vectorised.
- A score of −∞ is no row at all (its factor is 1), which is how bags of several sizes share a tree.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from decorrupt.losses import LOSSES
from decorrupt.losses.margin import FloatArray
from decorrupt.solvers.segments import Segments

# What one pass of the tree works on: about what fits into a second-level cache.
CHUNK_ROWS = 16384
# Below this, a probability is computed again after tilting, long before digits are lost.
RARE = 1e-100
# |ΣP(Y=1) − c| at which a tilt is found, in units of the bag's rows: rounding is not far below.
TILT_TOL = 1e-12
MAX_TILT_STEPS = 200


class _Tree(NamedTuple):
    """Which leaves hold the rows of a bag, and the most rows under a node of each level above."""

    leaves: NDArray[np.intp]
    n_leaves: int
    node_sizes: tuple[int, ...]


def poisson_binomial(scores: FloatArray, counts: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return log P(ΣY_j = c) of every bag, and its slope E[Y_j | ΣY = c] − σ(f_j) in the scores.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_bags)
        Log-odds f_j of the rows of each bag; −∞ where a bag has fewer rows.
    counts : ndarray of int, shape (n_bags,)
        c, strictly between 0 and the bag's number of rows.
    """
    n_rows, n_bags = scores.shape
    log_prob, slope = np.empty(n_bags), np.empty(scores.shape)
    width = max(1, CHUNK_ROWS // n_rows)
    for first in range(0, n_bags, width):
        some = slice(first, first + width)
        log_prob[some], slope[:, some] = _stable(scores[:, some], counts[some])
    return log_prob, slope


def _stable(scores: FloatArray, counts: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    prob, slope = _product_tree(scores, counts)
    with np.errstate(divide="ignore"):
        log_prob = np.log(prob)
    rare = np.flatnonzero(~(prob > RARE))
    if len(rare):
        log_prob[rare], slope[:, rare] = _tilted(scores[:, rare], counts[rare])
    return log_prob, slope


def _tilted(scores: FloatArray, counts: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return the same by way of scores shifted so that the count is a likely one.

    P(ΣY = c; f) = P(ΣY = c; f+t)·exp(Σ[log(1+e^(f+t)) − log(1+e^f)] − t·c), and given the count
    the shift does not matter.
    """
    is_row = np.isfinite(scores.T)
    tilt = tilt_to_count(scores.T[is_row], Segments(is_row.sum(axis=1)), counts.astype(float))
    prob, slope = _product_tree(scores + tilt, counts)
    measure = np.sum(log_partition(scores + tilt) - log_partition(scores), axis=0) - tilt * counts
    return np.log(prob) + measure, slope + expit(scores + tilt) - expit(scores)


def log_partition(scores: FloatArray) -> FloatArray:
    """Return log(1 + e^f) of every row."""
    return LOSSES["logistic"].value(-scores)


def tilt_to_count(
    scores: FloatArray, bags: Segments, counts: FloatArray, noise_variance: FloatArray | float = 0.0
) -> FloatArray:
    """Return the t of every bag with Σ_j σ(f_j+t) + τ²t = c, τ² the noise variance.

    The left side grows with t: Newton's steps are taken where they stay inside the bracket known
    so far, its middle where they do not.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        f_j, in the order of the bags.
    bags : Segments
        Which rows are whose.
    counts : ndarray of shape (n_bags,)
        c; strictly between 0 and the bag's rows where there is no noise.
    noise_variance : ndarray of shape (n_bags,) or float
        τ².
    """
    low, high = _bracket(scores, bags, counts, noise_variance)
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


def _bracket(
    scores: FloatArray, bags: Segments, counts: FloatArray, noise_variance: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of t: n·σ(f_min+t) ≤ Σσ(f+t) ≤ n·σ(f_max+t), and |τ²t| ≤ n."""
    with np.errstate(divide="ignore"):
        middle, reach = logit(counts / bags.sizes), bags.sizes / np.asarray(noise_variance)
    low = np.minimum(middle - bags.max(scores), 0.0)
    high = np.maximum(middle - bags.min(scores), 0.0)
    return np.maximum(low, -reach), np.minimum(high, reach)


def _product_tree(scores: FloatArray, counts: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return P(ΣY = c), and p_j(1−p_j)·[P(Σ_{i≠j} = c−1) − P(Σ_{i≠j} = c)] / P(ΣY = c).

    A polynomial's coefficients lie along the first axis, the nodes of a level along the second.
    """
    tree = _tree(len(scores))
    leaves = np.zeros((2, tree.n_leaves, scores.shape[1]))
    leaves[0] = 1.0
    leaves[0, tree.leaves], leaves[1, tree.leaves] = expit(-scores), expit(scores)
    levels: list[FloatArray] = [leaves]
    for size in tree.node_sizes:
        levels.append(_multiply(levels[-1], size))
    prob, slope = _count_at_top(levels[-1], counts)
    for level in levels[-2::-1]:
        slope = _slope_below(level, slope)
    rows = leaves[:, tree.leaves]
    with np.errstate(divide="ignore", invalid="ignore"):  # underflow, which the caller looks for
        return prob, rows[0] * rows[1] * (slope[1] - slope[0])[tree.leaves] / prob


@lru_cache(maxsize=256)
def _tree(n_rows: int) -> _Tree:
    """Return a tree whose nodes have at most ⌈n/2⌉, ⌈n/4⌉, … rows under them, as even as can be."""
    sizes = [-(-n_rows // 2)]  # the two polynomials at the top are never multiplied out
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 2))
    rows_under = np.array([n_rows])
    for _ in sizes:
        rows_under = np.concatenate([-(-rows_under // 2), rows_under // 2])
    return _Tree(np.flatnonzero(rows_under), len(rows_under), tuple(sizes[-2::-1]))


def _multiply(level: FloatArray, size: int) -> FloatArray:
    """Return the products of the first half with the second; no power is above `size`."""
    left, right = _halves(level)
    product = np.zeros((size + 1, *left.shape[1:]))
    term = np.empty_like(right)
    for power, coefficient in enumerate(left):
        some = min(len(right), size + 1 - power)
        np.multiply(coefficient, right[:some], out=term[:some])
        product[power : power + some] += term[:some]
    return product


def _halves(level: FloatArray) -> tuple[FloatArray, FloatArray]:
    middle = level.shape[1] // 2
    return level[:, :middle], level[:, middle:]


def _count_at_top(top: FloatArray, counts: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return P(ΣY = c) = Σ_s A_s·B_{c−s} from the last two polynomials, and its slope in them."""
    other = counts - np.arange(len(top))[:, None]
    exists = (other >= 0) & (other < len(top))
    other = np.where(exists, other, 0)
    slope = np.empty_like(top)
    for side in (0, 1):
        slope[:, side] = np.take_along_axis(top[:, 1 - side], other, axis=0) * exists
    return np.einsum("sb,sb->b", top[:, 0], slope[:, 0]), slope


def _slope_below(level: FloatArray, slope: FloatArray) -> FloatArray:
    """Return the slope in a level's polynomials from that in the products of its two halves."""
    below = np.zeros_like(level)
    halves, others = _halves(below), _halves(level)[::-1]
    term = np.empty(others[0].shape)
    for mine, theirs in zip(halves, others, strict=True):
        for power, coefficient in enumerate(theirs):
            some = min(len(mine), len(slope) - power)
            np.multiply(slope[power : power + some], coefficient, out=term[:some])
            mine[:some] += term[:some]
    return below
