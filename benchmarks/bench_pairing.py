"""Sorted pairing of 1,000,000 bags against networkx's maximum-weight matching.

networkx is timed at 100, 200 and 400 bags and extrapolated by a power law t = c·M^p, because a
million bags would take it too long. A full run also measures 1,000 bags of unequal sizes: the time
of the exact method, and the share of the optimal weight that pairs have that are sorted by their
surplus n(γ−γ̄), as more bags are.
"""

from collections.abc import Iterator

import networkx
import numpy as np

from decorrupt.corruption import pair_bags
from measuring import Figure, exponent, run, seconds_of

BAR = 1_000
MANY_BAGS = 1_000_000
NETWORKX_BAGS = (100, 200, 400)
UNEQUAL_BAGS = 1_000
BAG_SIZE = 32


def equal_bags(n_bags: int, rng: np.random.Generator) -> np.ndarray:
    """Return proportions of bags of 32 rows; their ties make networkx four times as fast."""
    return rng.binomial(BAG_SIZE, rng.random(n_bags)) / BAG_SIZE


def networkx_pairs(proportions: list[float]) -> set[tuple[int, int]]:
    graph = networkx.Graph()
    graph.add_weighted_edges_from(
        (a, b, (proportions[a] - proportions[b]) ** 2)
        for a in range(len(proportions))
        for b in range(a)
    )
    return networkx.max_weight_matching(graph)


def unequal_bags(rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield a name, proportions and sizes; sorted pairs lose most where both are related."""
    uniform, rare = rng.random(UNEQUAL_BAGS), rng.beta(0.5, 5, UNEQUAL_BAGS)
    log_odds = rng.normal(0, 1, UNEQUAL_BAGS)
    lognormal = np.exp(3 + log_odds)
    yield "sizes 5 to 50", uniform, rng.integers(5, 51, UNEQUAL_BAGS)
    yield "lognormal sizes", uniform, lognormal
    yield "rare positives, sizes 20 to 200", rare, rng.integers(20, 201, UNEQUAL_BAGS)
    yield "rare positives, lognormal sizes", rare, lognormal
    yield "large bags have more positives", 1 / (1 + np.exp(-log_odds)), lognormal


def total_weight(proportions, sizes, first, second) -> float:
    """Return Σ (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)² of the pairs."""
    a, b = sizes[first], sizes[second]
    return float(np.sum(a * b / (a + b) * (proportions[first] - proportions[second]) ** 2))


def sorted_share(name: str, proportions: np.ndarray, sizes: np.ndarray) -> Figure:
    """Return the weight of the sorted pairs relative to the optimal pairs."""
    ((seconds, (pos, neg, _)),) = seconds_of(lambda: pair_bags(proportions, sizes), repeats=1)
    optimum, half = total_weight(proportions, sizes, pos, neg), UNEQUAL_BAGS // 2
    mean = np.average(proportions, weights=sizes)
    by_surplus, alone = (
        total_weight(proportions, sizes, order[:half], order[::-1][:half]) / optimum
        for order in map(np.argsort, (sizes * (proportions - mean), proportions))
    )
    note = f"exact {seconds:.2f} s; sorted by proportion only {alone:.3f}"
    return Figure(f"sorted / optimal, {name}", by_surplus, note=note)


def measure(quick):
    rng = np.random.default_rng(0)
    measured = []
    for n_bags in NETWORKX_BAGS:
        some = equal_bags(n_bags, rng).tolist()  # networkx is even slower on numpy floats
        ((seconds, _),) = seconds_of(lambda some=some: networkx_pairs(some), repeats=1)
        measured.append(seconds)
    power = exponent(NETWORKX_BAGS, measured)
    expected = measured[-1] * (MANY_BAGS / NETWORKX_BAGS[-1]) ** power
    many = equal_bags(MANY_BAGS, rng)
    ((taken, _),) = seconds_of(lambda: pair_bags(many))
    note = f"{taken:.2f} s; networkx t ∝ M^{power:.2f}"
    yield Figure(
        f"networkx, extrapolated / sorted, {MANY_BAGS:,} bags",
        expected / taken,
        at_least=BAR,
        note=note,
    )
    if not quick:
        for name, proportions, sizes in unequal_bags(rng):
            yield sorted_share(name, proportions, sizes)


if __name__ == "__main__":
    run(measure)
