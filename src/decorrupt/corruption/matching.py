"""Maximum-weight matching of bags: max Σ_pairs (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)².

With the surplus u = n(γ−γ̄) and the value n(γ−γ̄)² of a bag, the weight of a pair is

    value_a + value_b − loss_ab,    loss_ab = (u_a+u_b)²/(n_a+n_b),

and loss_aa/2 = value_a is the loss of an unmatched bag, so the diagonal needs no special case. The
best matching has the smallest total loss; it is near zero if each surplus is matched with an equal
deficit. No matching weighs more than V = Σ value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from decorrupt._typing import FloatArray

IntArray = NDArray[np.intp]

# The assignment of so many bags takes less than a second, Edmonds' algorithm one to four.
ASSIGNMENT_LIMIT, EDMONDS_LIMIT = 1_000, 500
ROUNDING = 1e-12  # totals that differ by less than this share count as equal


@dataclass(frozen=True)
class Bags:
    """Sizes n and deviations γ−γ̄ of bags."""

    size: FloatArray
    deviation: FloatArray

    @classmethod
    def centred(cls, proportions: FloatArray, sizes: FloatArray) -> Bags:
        """Return the bags with deviations γ−γ̄, in the same arithmetic for γ and for 1−γ."""
        if np.average(proportions, weights=sizes) > 0.5:
            proportions = 1 - proportions
        return cls(sizes, proportions - np.average(proportions, weights=sizes))

    def equal_sizes(self) -> bool:
        """Return whether all bags have the same size."""
        return bool(np.all(self.size == self.size[0]))

    def total_value(self) -> float:
        """Return V = Σn(γ−γ̄)², an upper bound on the weight of every matching."""
        return float(self.size @ self.deviation**2)

    def weight(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)² of the pairs."""
        a, b = self.size[first], self.size[second]
        gap = self.deviation[first] - self.deviation[second]
        return np.asarray(a * b / (a + b) * gap**2)


@dataclass(frozen=True)
class Matching:
    """Pairs (first[i], second[i]), a bound on their distance from the optimum, and its reason."""

    first: IntArray
    second: IntArray
    shortfall: float = 0.0
    caveat: str = ""


def shortfall(bags: Bags, first: IntArray, second: IntArray, bound: float) -> float:
    """Return (bound − total)/bound of the pairs."""
    return max(0.0, 1 - float(bags.weight(first, second).sum()) / bound)


def sorted_matching(bags: Bags) -> Matching:
    """Pair the i-th smallest deviation with the i-th largest: optimal for equal sizes.

    For unequal sizes surpluses are sorted instead, unless that weighs less. The bound is V.
    """
    by_deviation = _sorted_pairs(bags.deviation)
    if bags.equal_sizes():
        return Matching(*by_deviation)
    by_surplus = _sorted_pairs(bags.size * bags.deviation)
    bound = bags.total_value()
    either = (Matching(*by, shortfall(bags, *by, bound)) for by in (by_surplus, by_deviation))
    return min(either, key=lambda found: found.shortfall)


def _sorted_pairs(key: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the i-th smallest and the i-th largest; both break ties by the order of the bags."""
    ascending = np.argsort(key, kind="stable")
    middle = key[ascending[len(ascending) // 2]]
    below = ascending[: np.searchsorted(key, middle, side="left", sorter=ascending)]
    above = np.flatnonzero(key > middle)
    above = above[np.argsort(-key[above], kind="stable")]
    # Bags that tie with the median complete the shorter side; the rest would pair among
    # themselves without a gap.
    median = np.flatnonzero(key == middle)
    n_pairs = max(len(below), len(above))
    return np.r_[below, median][:n_pairs], np.r_[above, median][:n_pairs]


def best_matching(bags: Bags) -> Matching:
    """Return argmax Σ_pairs weight, or sorted pairs if there are too many bags of unequal size."""
    n_bags = len(bags.size)
    if n_bags <= ASSIGNMENT_LIMIT:
        return assigned_matching(bags)
    reason = f"the exact solver takes at most {ASSIGNMENT_LIMIT} bags of unequal size, not {n_bags}"
    return replace(sorted_matching(bags), caveat=reason)


def assigned_matching(bags: Bags) -> Matching:
    """Return argmin Σ_pairs loss_ab + Σ_left_out loss_aa/2, by assignment and, rarely, Edmonds.

    The best assignment a ↦ partner(a) consists of cycles. A fixed point is an unmatched bag. In an
    even cycle, every second edge is a matching. Both such matchings have the same loss: otherwise
    the better one, used in both directions, would be a better assignment. Only odd cycles leave a
    gap between the matching and the assignment's bound.
    """
    surplus = bags.size * bags.deviation
    loss = np.add.outer(surplus, surplus) ** 2 / np.add.outer(bags.size, bags.size)
    everyone, partner = linear_sum_assignment(loss)
    first, second = np.concatenate([_split(cycle, bags) for cycle in _cycles(partner)]).T
    bound = float(bags.weight(everyone, partner).sum()) / 2
    gap = shortfall(bags, first, second, bound)
    if gap <= ROUNDING:
        return Matching(first, second)
    if len(partner) > EDMONDS_LIMIT:
        reason = f"an odd cycle in an assignment of more than {EDMONDS_LIMIT} bags"
        return Matching(first, second, gap, reason)
    try:
        return Matching(*_edmonds(bags))
    except ImportError:
        reason = "an odd cycle in the assignment needs rustworkx: pip install decorrupt[matching]"
        return Matching(first, second, gap, reason)


def _cycles(partner: IntArray) -> list[IntArray]:
    following, cycles = partner.tolist(), []
    for start in range(len(partner)):
        cycle = []
        while following[start] >= 0:
            cycle.append(start)
            following[start], start = -1, following[start]
        if cycle:
            cycles.append(np.array(cycle))
    return cycles


def _split(cycle: IntArray, bags: Bags) -> IntArray:
    """Return every second edge of a cycle as pairs; an odd cycle drops its cheapest bag."""
    odd = len(cycle) % 2
    halves = [
        np.roll(cycle, -start)[odd:].reshape(-1, 2) for start in range(len(cycle) if odd else 2)
    ]
    return max(halves, key=lambda pairs: float(bags.weight(*pairs.T).sum()))


def _edmonds(bags: Bags) -> IntArray:
    """Return the maximum-weight matching of the complete graph (rustworkx), a pair per column."""
    import rustworkx

    first, second = np.triu_indices(len(bags.size), 1)
    weight = bags.weight(first, second)
    # The solver needs integers. The rounding, half a unit in 2**50 of the heaviest edge times the
    # number of pairs, is below 1e-12 of the total.
    units = np.rint(weight * (2.0**50 / weight.max())).astype(np.int64)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(len(bags.size)))
    graph.add_edges_from(list(zip(first.tolist(), second.tolist(), units.tolist(), strict=True)))
    matched = rustworkx.max_weight_matching(graph, weight_fn=int)
    return np.array(sorted(sorted(pair) for pair in matched), dtype=np.intp).T
