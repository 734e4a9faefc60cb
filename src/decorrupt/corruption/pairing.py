"""Disjoint pairs of bags: maximise Σ_pairs (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)².

Each pair is a corrupted source, and its term is the signal-to-noise ratio of this source. With the
optimal weights, the bound of Theorem 4 is proportional to one over the square root of this sum.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.corruption.matching import (
    Bags,
    IntArray,
    Matching,
    best_matching,
    shortfall,
    sorted_matching,
)
from decorrupt.exceptions import InexactPairingWarning

METHODS = ("auto", "sorted", "matching", "random")


@dataclass(frozen=True, eq=False)
class BagPairs:
    """Pairs (pos[i], neg[i]) of a bag with a higher and a bag with a lower proportion.

    Parameters
    ----------
    pos, neg : ndarray of int, shape (n_pairs,)
        Indices of the two bags; no bag is in two pairs.
    gap : ndarray of shape (n_pairs,)
        proportions[pos] − proportions[neg], above zero.
    weight : ndarray of shape (n_pairs,)
        (n_a·n_b/(n_a+n_b))·gap², scaled to sum to 1.
    unpaired : ndarray of int
        The bags in no pair, ascending: the last of an odd number of bags, or bags whose partner
        would have the same proportion.
    shortfall : float in [0, 1]
        (bound − total)/bound, where the bound is an upper bound on the total of any pairing.
        0.0 means optimal.
    """

    pos: IntArray
    neg: IntArray
    gap: FloatArray
    weight: FloatArray
    unpaired: IntArray
    shortfall: float = 0.0


def pair_bags(
    proportions: ArrayLike,
    sizes: ArrayLike | None = None,
    *,
    method: str = "auto",
    random_state: Any = None,
) -> BagPairs:
    """Return the disjoint pairs of bags that carry the most information.

    They have the largest Σ_pairs (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)².

    Swapping the classes (γ ↦ 1−γ) swaps ``pos`` and ``neg`` and changes nothing else. Ties are
    broken by the order of the bags, so the result is deterministic.

    Parameters
    ----------
    proportions : array-like of shape (n_bags,), in [0, 1]
        Share of positives γ of each bag.
    sizes : array-like of shape (n_bags,), above zero, or None
        Rows n of each bag; None means all equal.
    method : {"auto", "sorted", "matching", "random"}
        - ``sorted``: the i-th smallest proportion with the i-th largest, O(M log M). Optimal for
          equal sizes. For unequal sizes the surplus n(γ−γ̄) is sorted instead, unless the total is
          then smaller; ``shortfall`` bounds the loss by V = Σn(γ−γ̄)².
        - ``matching``: maximum-weight matching. Optimal up to about 1,000 bags of unequal size;
          more are paired as with ``sorted``, and an `InexactPairingWarning` is emitted.
        - ``random``: random pairs, regardless of the proportions.
        - ``auto``: the same as ``matching``, which is ``sorted`` for equal sizes.
    random_state : int, RandomState, Generator or None
        For ``random``.

    Returns
    -------
    BagPairs
        Without pairs of zero gap, which carry no information.

    Raises
    ------
    ValueError
        If there are fewer than two bags, a proportion is not in [0, 1], a size is not above zero,
        the lengths differ, the method is unknown, or all proportions are equal.

    Warns
    -----
    InexactPairingWarning
        If ``matching`` could not prove its pairs optimal.

    Notes
    -----
    Section 3.3 of the paper pairs bags of equal size with Edmonds' algorithm. For equal sizes,
    sorting is enough: for a ≤ b ≤ c ≤ d, the sum for (a, d), (b, c) is larger than for (a, c),
    (b, d) by 2(b−a)(d−c) ≥ 0 and larger than for (a, b), (c, d) by 2(c−a)(d−b) ≥ 0.

    For unequal sizes, the assignment problem is solved and split into pairs. That is optimal except
    where it has odd cycles, which up to 500 bags are resolved by Edmonds' algorithm if rustworkx is
    installed (extra ``matching``). Otherwise ``shortfall`` states the gap, which was at most 0.05 %
    for 500 to 1,000 random bags.

    Sorted pairs of 1,000 bags of unequal size had 0.02 % less weight than the optimum for sizes
    from 5 to 50, 0.3 % for lognormal sizes, up to 1.3 % if positives are rare, and 16 % if the
    proportion is a function of the size (``benchmarks/bench_pairing.py``). ``shortfall`` is larger
    in the last two cases, because V is then far above the optimum.

    Examples
    --------
    >>> from decorrupt.corruption import pair_bags
    >>> pairs = pair_bags([0.1, 0.5, 0.75, 0.4, 0.9])
    >>> pairs.pos.tolist(), pairs.neg.tolist(), pairs.unpaired.tolist()
    ([4, 2], [0, 3], [1])
    """
    proportion = _checked_proportions(proportions)
    size = _checked_sizes(sizes, len(proportion))
    if method not in METHODS:
        raise ValueError(f"unknown pairing method {method!r}: choose one of {', '.join(METHODS)}")
    bags = Bags.centred(_symmetric(proportion), size)
    if method == "random":
        found = _random(bags, random_state)
    elif method == "sorted" or bags.equal_sizes():  # sorted pairs of equal sizes are optimal
        found = sorted_matching(bags)
    else:
        found = best_matching(bags)
    if found.caveat:
        message = (
            f"the total weight of the pairs is within {found.shortfall:.2g} (relative) of the "
            f"optimum but not proved optimal: {found.caveat}"
        )
        warnings.warn(message, InexactPairingWarning, stacklevel=2)
    return _oriented(found, proportion, size)


def _symmetric(proportion: FloatArray) -> FloatArray:
    """Round γ (by 1e-16 at most) so that 1 − (1 − γ) = γ: γ and 1 − γ then have the same ties."""
    return np.asarray(1 - (1 - proportion))


def _checked_proportions(proportions: ArrayLike) -> FloatArray:
    proportion = _as_vector(proportions, "proportions")
    if len(proportion) < 2:
        raise ValueError(f"proportions must have at least two bags to pair, got {len(proportion)}")
    outside = ~((proportion >= 0) & (proportion <= 1))  # also true for NaN
    if outside.any():
        bag = int(np.argmax(outside))
        raise ValueError(
            f"proportions[{bag}] = {proportion[bag]:g} (bag {bag}) is not a share of positives: "
            "it must be a number in [0, 1]"
        )
    if np.ptp(_symmetric(proportion)) == 0:
        raise ValueError(
            f"proportions are all equal ({proportion[0]:g}), so nothing can be learned from them: "
            "at least two bags must differ in their share of positives"
        )
    return proportion


def _checked_sizes(sizes: ArrayLike | None, n_bags: int) -> FloatArray:
    if sizes is None:
        return np.ones(n_bags)
    size = _as_vector(sizes, "sizes")
    if len(size) != n_bags:
        raise ValueError(
            f"sizes has {len(size)} entries but proportions has {n_bags}: give one size per bag"
        )
    bad = ~((size > 0) & np.isfinite(size))
    if bad.any():
        bag = int(np.argmax(bad))
        raise ValueError(
            f"sizes[{bag}] = {size[bag]:g} (bag {bag}) is not a number of rows: "
            "it must be above zero; leave empty bags out"
        )
    return size


def _as_vector(values: ArrayLike, name: str) -> FloatArray:
    try:
        vector = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, one per bag: {error}") from None
    if vector.ndim != 1:
        raise ValueError(f"{name} must hold one number per bag, got shape {vector.shape}")
    return vector


def _random(bags: Bags, random_state: Any) -> Matching:
    """Draw disjoint pairs at random; draw again if no pair has a gap."""
    is_generator = isinstance(random_state, np.random.Generator)
    generator = random_state if is_generator else check_random_state(random_state)
    half = len(bags.size) // 2
    first = second = np.empty(0, dtype=np.intp)
    while np.array_equal(bags.deviation[first], bags.deviation[second]):
        order = generator.permutation(len(bags.size))
        first, second = order[:half], order[half : 2 * half]
    bound = bags.total_value()
    if bags.equal_sizes():  # the optimum is known
        best = sorted_matching(bags)
        bound = float(bags.weight(best.first, best.second).sum())
    return Matching(first, second, shortfall(bags, first, second, bound))


def _oriented(found: Matching, proportion: FloatArray, size: FloatArray) -> BagPairs:
    """Put the higher proportion first, drop zero-gap pairs, and compute the weights."""
    gap = _symmetric(proportion)[found.first] - _symmetric(proportion)[found.second]
    pos = np.where(gap > 0, found.first, found.second)[gap != 0]
    neg = np.where(gap > 0, found.second, found.first)[gap != 0]
    gap = proportion[pos] - proportion[neg]
    weight = size[pos] * size[neg] / (size[pos] + size[neg]) * gap**2
    paired = np.zeros(len(size), dtype=bool)
    paired[pos] = paired[neg] = True
    return BagPairs(pos, neg, gap, weight / weight.sum(), np.flatnonzero(~paired), found.shortfall)
