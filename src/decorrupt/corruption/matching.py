"""Maximum-weight matching of bags of unequal size: max Σ_pairs (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)².

With the surplus u = n(γ−γ̄) and the value u²/n = n(γ−γ̄)² of a bag, the weight of a pair is

    value_a + value_b − loss_ab,    loss_ab = (u_a+u_b)²/(n_a+n_b),

and loss_aa/2 = value_a is the loss of an unmatched bag, so the diagonal needs no special case. The
best matching has the smallest total loss; it is near zero if each surplus is matched with an equal
deficit. Three facts are used throughout:

- *Prices* (dual variables) p with p_a + p_b ≤ loss_ab for all a, b (also a = b) prove that every
  matching has a loss of at least Σp. The largest Σp is half the value of the assignment problem.
- Subtracting prices, loss_ab − p_a − p_b, does not change which assignment is best, only the time.
- Tangents: loss_ab ≥ (2t·u_a − t²n_a) + (2t·u_b − t²n_b) for every t, equal at the pooled mean
  t = (u_a+u_b)/(n_a+n_b), so a bound over two sets of bags is a sum of one bound per set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.sparse import coo_array

from decorrupt._typing import FloatArray

IntArray = NDArray[np.intp]

# At this size the M×M matrices of the exact method take half a gigabyte and about ten seconds.
EXACT_LIMIT = 4_000
# Above this even the pruned check of all pairs takes minutes; V = Σ value is the bound then.
CERTIFY_LIMIT = 300_000
# Totals that differ by less than this share of V count as equal.
ROUNDING = 1e-12
# Edmonds' algorithm needs minutes for this many edges, branch and bound up to half a minute.
EDMONDS_EDGES = 1_000_000
BRANCHING_EDGES = 20_000
# Sampled bags with exact prices. The prices start the exact method and certify the blockwise one.
WARM_SAMPLE, CERTIFY_SAMPLE = 500, 1_000
# Pairs per block, and sweeps that match all blocks again; more sweeps gain below 0.01 % each.
BLOCK, SWEEPS = 128, 8
# Bags per cell, and tangents, for the pruned check of all pairs.
CELL, TANGENTS = 200, 64


@dataclass(frozen=True)
class Bags:
    """Sizes n and surpluses u = n(γ−γ̄) of bags."""

    size: FloatArray
    surplus: FloatArray

    @classmethod
    def centred(cls, proportions: FloatArray, sizes: FloatArray) -> Bags:
        """Return the bags with surpluses n(γ−γ̄), in the same arithmetic for γ and for 1−γ."""
        if np.average(proportions, weights=sizes) > 0.5:
            proportions = 1 - proportions
        centre = np.average(proportions, weights=sizes)
        return cls(sizes, sizes * (proportions - centre))

    def __len__(self) -> int:
        return len(self.size)

    def __getitem__(self, index: IntArray | slice) -> Bags:
        return Bags(self.size[index], self.surplus[index])

    @property
    def value(self) -> FloatArray:
        """n(γ−γ̄)²; their sum V bounds the weight of every matching."""
        return self.surplus**2 / self.size

    def blocks(self, length: int) -> Iterator[slice]:
        """Yield slices of `length` consecutive bags."""
        return (slice(start, start + length) for start in range(0, len(self), length))


@dataclass(frozen=True)
class Matching:
    """Pairs (first[i], second[i]), a bound on their distance from the optimum, and its reason."""

    first: IntArray
    second: IntArray
    shortfall: float = 0.0
    caveat: str = ""


def pair_weight(bags: Bags, first: IntArray, second: IntArray) -> FloatArray:
    """Return (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)² of the pairs."""
    a, b = bags[first], bags[second]
    gap = a.surplus / a.size - b.surplus / b.size
    return a.size * b.size / (a.size + b.size) * gap**2


def pairwise_loss(rows: Bags, columns: Bags) -> FloatArray:
    """Return (u_a+u_b)²/(n_a+n_b) for every row a and column b."""
    loss = np.add.outer(rows.surplus, columns.surplus)
    loss *= loss
    loss /= np.add.outer(rows.size, columns.size)
    return loss


def best_matching(bags: Bags) -> Matching:
    """Return argmax Σ_pairs weight: exact up to EXACT_LIMIT bags, blockwise with a bound above."""
    return exact_matching(bags) if len(bags) <= EXACT_LIMIT else blockwise_matching(bags)


def exact_matching(bags: Bags) -> Matching:
    """Return argmin Σ_pairs loss_ab + Σ_left_out loss_aa/2, by assignment and, rarely, Edmonds.

    The best assignment a ↦ partner(a) consists of cycles. A fixed point is an unmatched bag. In an
    even cycle, every second edge is a matching. Both such matchings have the same loss: otherwise
    the better one, used in both directions, would be a better assignment. Only odd cycles leave a
    gap between the matching and the assignment's bound.
    """
    cost = pairwise_loss(bags, bags)
    if len(bags) > 2 * WARM_SAMPLE:
        price, _ = sampled_prices(bags, WARM_SAMPLE)
        cost -= np.add.outer(price, price)  # the assignment is then about 10 times faster
    partner = linear_sum_assignment(cost)[1]
    first, second = np.concatenate([_split(cycle, bags) for cycle in _cycles(partner)]).T
    bound = pair_weight(bags, np.arange(len(bags)), partner).sum() / 2
    excess = float(bound - pair_weight(bags, first, second).sum())
    if excess <= ROUNDING * bags.value.sum():
        return Matching(first, second)
    try:
        return Matching(*_resolve_odd_cycles(bags, cost, partner, excess).T)
    except _UnprovedError as reason:
        return Matching(first, second, float(excess / bound), str(reason))


class _UnprovedError(Exception):
    """The exact solver failed or would take too long."""


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
    return max(halves, key=lambda pairs: float(pair_weight(bags, *pairs.T).sum()))


def _resolve_odd_cycles(bags: Bags, cost: FloatArray, partner: IntArray, excess: float) -> IntArray:
    """Return the pairs of the best matching, given that one is `excess` below the bound.

    The loss of a matching above the bound is the sum of the slacks loss_ab − p_a − p_b of its
    edges. A better matching has no edge with more slack than `excess`: few candidates remain.
    """
    tolerance = ROUNDING / 100 * float(bags.value.sum())
    price = assignment_prices(cost, partner, tolerance)
    slack = cost - np.add.outer(price, price)
    allowance = excess + len(bags) * tolerance
    edges = np.argwhere(np.triu(slack <= allowance, 1))
    try:
        return _edmonds(edges, pair_weight(bags, *edges.T))
    except ImportError:
        return _branch_and_bound(edges, slack, allowance)


def _edmonds(edges: IntArray, weight: FloatArray) -> IntArray:
    """Return the edges of the maximum-weight matching of a graph (rustworkx)."""
    import rustworkx

    if len(edges) > EDMONDS_EDGES:
        raise _UnprovedError(f"odd cycles left {len(edges)} candidate pairs, too many to try")
    # The solver needs integers. The rounding, half a unit in 2**50 of the heaviest edge times the
    # number of pairs, is below 1e-12 of the total.
    units = np.rint(weight * (2.0**50 / weight.max())).astype(np.int64)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(int(edges.max()) + 1))
    graph.add_edges_from(list(zip(*edges.T.tolist(), units.tolist(), strict=True)))
    matched = rustworkx.max_weight_matching(graph, weight_fn=int)
    return np.array(sorted(sorted(pair) for pair in matched), dtype=np.intp)


def _branch_and_bound(edges: IntArray, slack: FloatArray, allowance: float) -> IntArray:
    """Return argmin Σ slack_ab·x_ab + Σ_left_out slack_aa/2, x ∈ {0, 1}, each bag once (HiGHS)."""
    if len(edges) > BRANCHING_EDGES:
        raise _UnprovedError(
            f"odd cycles left {len(edges)} candidate pairs, too many to try without rustworkx: "
            "pip install decorrupt[matching]"
        )
    n_edges, left_out = len(edges), np.diag(slack) / 2
    idle = np.flatnonzero(left_out <= allowance)
    column = np.arange(n_edges + len(idle))
    # 32 bits, because scipy before 1.13 passes indices to HiGHS as they are.
    bag = np.concatenate([edges[:, 0], edges[:, 1], idle]).astype(np.int32)
    used = np.concatenate([column[:n_edges], column]).astype(np.int32)
    once = coo_array((np.ones(len(bag)), (bag, used)), shape=(len(slack), len(column)))
    cost = np.concatenate([slack[edges[:, 0], edges[:, 1]], left_out[idle]])
    solution = milp(
        # Scaled so that HiGHS' absolute tolerance, 1e-6, is a billionth of the allowance.
        np.maximum(cost, 0) * (1e3 / allowance),
        integrality=np.ones(len(column)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(once.tocsr(), 1, 1),
        options={"mip_rel_gap": 0.0},
    )
    if solution.x is None:
        raise _UnprovedError(f"branch and bound ended with: {solution.message}")
    chosen: IntArray = edges[solution.x[:n_edges] > 0.5]
    return chosen


def assignment_prices(cost: FloatArray, partner: IntArray, tolerance: float) -> FloatArray:
    """Return p with p_a + p_b ≤ cost_ab + tolerance and Σp = ½Σ cost[a, partner(a)].

    Bellman–Ford for the column prices q_b ≤ q_partner(a) + cost_ab − cost_a,partner(a), rows of
    low price first; the symmetric p is the mean of row and column prices.
    """
    own = cost[np.arange(len(cost)), partner]
    column = np.zeros(len(cost))
    settled = False
    while not settled:
        before = column.copy()
        for row in np.argsort(column[partner], kind="stable"):
            np.minimum(column, cost[row] + (column[partner[row]] - own[row]), out=column)
        settled = bool(np.max(before - column) <= tolerance)
    return np.asarray((own - column[partner] + column) / 2)


def sampled_prices(bags: Bags, n_sampled: int) -> tuple[FloatArray, FloatArray]:
    """Return p_a = min_k (loss_ak − p_k) over a sample solved exactly, and a's pooled mean with k.

    p_a + p_b ≤ loss_ab holds exactly where b was sampled, and approximately elsewhere.
    """
    every = (np.arange(n_sampled) + 0.5) * len(bags) / n_sampled
    sample = bags[_plane_order(bags, int(np.sqrt(n_sampled)))[every.astype(np.intp)]]
    cost = pairwise_loss(sample, sample)
    partner = linear_sum_assignment(cost)[1]
    # Approximate prices are enough: the callers check them or do not depend on them.
    known = assignment_prices(cost, partner, 1e-4 * sample.value.mean())
    price, pooled = np.empty(len(bags)), np.empty(len(bags))
    for block in bags.blocks(500):
        rows = bags[block]
        offer = pairwise_loss(rows, sample) - known
        best = offer.argmin(axis=1)
        price[block] = offer[np.arange(len(best)), best]
        pooled[block] = (rows.surplus + sample.surplus[best]) / (rows.size + sample.size[best])
    return np.minimum(price, bags.value), pooled


def _plane_order(bags: Bags, n_strips: int) -> IntArray:
    """Return an order in which neighbours have similar proportion and size: alternating strips."""
    by_proportion = np.argsort(bags.surplus / bags.size, kind="stable")
    strips = [
        strip[np.argsort(bags.size[strip], kind="stable")][:: 1 if number % 2 else -1]
        for number, strip in enumerate(np.array_split(by_proportion, n_strips))
    ]
    return np.concatenate(strips)


def blockwise_matching(bags: Bags) -> Matching:
    """Return a matching near argmin Σ loss: pair surplus with deficit, then improve by blocks."""
    half = len(bags) // 2
    order = np.argsort(bags.surplus, kind="stable")
    low, high = order[:half], order[::-1][:half].copy()
    price, pooled = sampled_prices(bags, min(CERTIFY_SAMPLE, len(bags)))
    shuffle = np.random.default_rng(0)  # fixed seed: the same bags give the same pairs
    for _ in range(SWEEPS):
        for block in np.array_split(shuffle.permutation(half), -(-half // BLOCK)):
            a, b = low[block], high[block]
            cost = pairwise_loss(bags[a], bags[b]) - np.add.outer(price[a], price[b])
            high[block] = b[linear_sum_assignment(cost)[1]]
    bound = bags.value.sum() - certified_loss(bags, price, pooled)
    shortfall = float(1 - pair_weight(bags, low, high).sum() / bound)
    if shortfall <= ROUNDING:
        return Matching(low, high)
    reason = f"the exact solver takes at most {EXACT_LIMIT} bags of unequal size, not {len(bags)}"
    return Matching(low, high, shortfall, reason)


def certified_loss(bags: Bags, price: FloatArray, pooled: FloatArray) -> float:
    """Return Σp after lowering p until p_a + p_b ≤ loss_ab: a lower bound on every matching."""
    if len(bags) > CERTIFY_LIMIT:
        return 0.0
    # Bags of equal size and proportion have one price. Real data has many such bags, which saves
    # most of the work.
    _, kind, count = np.unique(
        np.stack([bags.size, bags.surplus]), axis=1, return_index=True, return_counts=True
    )
    cells = _cells(bags[kind])
    tangent = np.unique(np.quantile(pooled, np.linspace(0, 1, TANGENTS)))
    price = _lowered(bags[kind], price[kind], count, cells, tangent)
    return max(0.0, float(count @ price))  # zero prices are always valid


def _cells(bags: Bags) -> list[IntArray]:
    n_cells = -(-len(bags) // CELL)
    return np.array_split(_plane_order(bags, int(np.sqrt(n_cells))), n_cells)


def _lowered(
    bags: Bags, price: FloatArray, count: IntArray, cells: list[IntArray], tangent: FloatArray
) -> FloatArray:
    """Return prices of at most `price` with p_a + p_b ≤ loss_ab for all a and b."""
    floor = np.array([_tangent_floor(bags[cell], price[cell], tangent) for cell in cells])
    room = np.full((len(cells), len(cells)), -np.inf)
    for at_one_tangent in floor.T:
        np.maximum(room, np.add.outer(at_one_tangent, at_one_tangent), out=room)
    price = price.copy()
    # For all other pairs the tangents prove the inequality, up to rounding.
    for one, other in np.argwhere(np.triu(room < -ROUNDING * bags.value.mean())):
        a, b = cells[one], cells[other]
        lacking = np.add.outer(price[a], price[b]) - pairwise_loss(bags[a], bags[b])
        from_a, from_b = (np.maximum(lacking.max(axis=axis), 0) for axis in (1, 0))
        if count[a] @ from_a <= count[b] @ from_b:
            price[a] -= from_a
        else:
            price[b] -= from_b
    return price


def _tangent_floor(bags: Bags, price: FloatArray, tangent: FloatArray) -> FloatArray:
    """Return min_a 2t·u_a − t²n_a − p_a for each t."""
    line = np.multiply.outer(bags.surplus, 2 * tangent) - np.multiply.outer(bags.size, tangent**2)
    return np.asarray((line - price[:, None]).min(axis=0))
