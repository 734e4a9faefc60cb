"""Disjoint pairs of bags: maximise Σ_pairs (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)².

Each pair is a corrupted source, and its term is the signal-to-noise ratio of this source. With the
optimal weights, the bound of Theorem 4 is proportional to one over the square root of this sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import LinearConstraint, linear_sum_assignment, milp
from scipy.sparse import csr_array

from decorrupt._typing import FloatArray
from decorrupt.exceptions import InexactPairingWarning, warn
from decorrupt.losses import only_two_classes
from decorrupt.observed import check_bags

MAX_EXACT_BAGS = 1_000  # of unequal size: they take a few seconds
ROUNDING = 1e-12  # totals that differ by less than this share count as equal
OBJECTIVE_SCALE = 100  # of the largest cost: the solver stops at an absolute gap of 1e-6


def pair_bags(
    proportions: ArrayLike, sizes: ArrayLike | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]:
    """Return the disjoint pairs of bags that carry the most information.

    Parameters
    ----------
    proportions : array-like of shape (n_bags,), in [0, 1]
        Share of positives γ of each bag.
    sizes : array-like of shape (n_bags,), above zero, or None
        Rows n of each bag; None means all equal. More than 1,000 bags of unequal size are sorted by
        n(γ−γ̄), which is not optimal, with an `InexactPairingWarning`.

    Returns
    -------
    pos, neg : ndarray of int, shape (n_pairs,)
        The two bags of each pair: pos has the higher proportion. Pairs without a gap are left out.
    weight : ndarray of shape (n_pairs,)
        (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)², scaled to sum to 1.

    Notes
    -----
    Section 3.3 of the paper pairs bags of equal size with Edmonds' algorithm. For equal sizes,
    sorting is enough: for a ≤ b ≤ c ≤ d, the sum for (a, d), (b, c) is larger than for (a, c),
    (b, d) by 2(b−a)(d−c) ≥ 0 and larger than for (a, b), (c, d) by 2(c−a)(d−b) ≥ 0.

    Examples
    --------
    >>> from decorrupt.corruption import pair_bags
    >>> pos, neg, weight = pair_bags([0.1, 0.5, 0.75, 0.4, 0.9])
    >>> pos.tolist(), neg.tolist()
    ([4, 2], [0, 3])
    """
    sizes = np.ones(np.shape(proportions)[:1]) if sizes is None else sizes
    size, shares = check_bags(sizes, proportions)
    only_two_classes(shares.shape[1], "pair_bags", "use combine_bags")
    proportion = 1 - shares[:, 0]  # γ but for 1e-16: γ and 1 − γ then have the same ties
    if np.ptp(size) == 0:
        pairs = _sorted_pairs(proportion)
    elif len(size) <= MAX_EXACT_BAGS:
        pairs = _best_pairs(_weight(size[:, None], size, proportion[:, None] - proportion))
    else:
        message = f"{len(size)} bags of unequal size are sorted, which is not optimal"
        warn(message, InexactPairingWarning)
        pairs = _sorted_pairs(size * (proportion - np.average(proportion, weights=size)))
    gap = proportion[pairs[0]] - proportion[pairs[1]]
    pos, neg = np.where(gap > 0, pairs, pairs[::-1])[:, gap != 0]
    weight = _weight(size[pos], size[neg], shares[pos, 1] - shares[neg, 1])
    return pos, neg, weight / weight.sum()


def _weight(size: FloatArray, other: FloatArray, gap: FloatArray) -> FloatArray:
    return np.asarray(size * other / (size + other) * gap**2)


def _sorted_pairs(key: FloatArray) -> NDArray[np.intp]:
    """Return the i-th largest and the i-th smallest; both break ties by the order of the bags."""
    half = len(key) // 2
    return np.stack([np.argsort(by, kind="stable")[:half] for by in (-key, key)])


def _best_pairs(weight: FloatArray) -> NDArray[np.intp]:
    """Return the matching with the largest total of a symmetric matrix, one pair per column.

    Half of the best assignment a ↦ partner(a) is an upper bound. Its pairs (a, partner(a)) contain
    a matching of this weight unless they form odd cycles. A heavier matching than the one found
    consists of pairs with reduced costs within the gap, which are few.
    """
    everyone, partner = linear_sum_assignment(weight, maximize=True)
    bound = float(weight[everyone, partner].sum()) / 2
    assigned = np.eye(len(weight), dtype=bool)
    assigned[everyone, partner] = assigned[partner, everyone] = True
    pairs = _cheapest_pairs(-weight, assigned)
    gap = bound - float(weight[*pairs].sum())
    if gap <= ROUNDING * bound:
        return pairs
    cost = _reduced_costs(weight, partner)
    return _cheapest_pairs(cost, cost <= gap + ROUNDING * bound)


def _cheapest_pairs(cost: FloatArray, allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Solve an integer program: every bag is in one allowed pair, or in one with itself."""
    pairs = np.array(np.nonzero(np.triu(allowed)))
    costs, ends = cost[*pairs], (pairs.ravel(), np.tile(np.arange(pairs.shape[1]), 2))
    contains = csr_array((np.ones(pairs.size, dtype=bool), ends)).astype(float)
    one_pair, exactly = LinearConstraint(contains, 1, 1), {"mip_rel_gap": 0}
    scaled = costs * (OBJECTIVE_SCALE / np.abs(costs).max())
    found = milp(scaled, integrality=1, bounds=(0, 1), constraints=one_pair, options=exactly)
    return np.asarray(pairs[:, (found.x > 0.5) & (pairs[0] != pairs[1])])


def _reduced_costs(weight: FloatArray, partner: NDArray[np.intp]) -> FloatArray:
    """Return y_a + y_b − weight_ab ≥ 0, halved for a = b; y are dual variables (Bellman-Ford)."""
    assigned = weight[np.arange(len(weight)), partner]
    length, distance = assigned[:, None] - weight, np.zeros(len(weight))
    for _ in range(len(weight)):
        shorter = np.minimum(distance, (length + distance[partner, None]).min(axis=0))
        if np.array_equal(shorter, distance):
            break
        distance = shorter
    dual = (assigned + distance[partner] - distance) / 2
    cost = np.add.outer(dual, dual) - weight
    return np.asarray(cost - np.diag(np.diag(cost) / 2))
