"""Sorted pairing of 1,000,000 bags against networkx's maximum-weight matching.

networkx is timed at 100, 200 and 400 bags and extrapolated by a power law t = c·M^p, because a
million bags would take it too long. The other pairings have bags of unequal sizes.
"""

import warnings

import networkx
import numpy as np

from decorrupt.corruption.pairing import InexactPairingWarning, pair_bags
from measuring import Figure, exponent, run, seconds_of

BAR = 1_000
MANY_BAGS = 1_000_000
NETWORKX_BAGS = (100, 200, 400)
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


def unequal_bags(n_bags: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rare positives and sizes from 20 to 200: V = Σn(γ−γ̄)² alone is then a loose bound."""
    return rng.beta(0.5, 5, n_bags), rng.integers(20, 201, n_bags)


def measure(quick):
    rng = np.random.default_rng(0)
    warnings.simplefilter("ignore", InexactPairingWarning)
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
    for what, n_bags in () if quick else (("exact", 2_000), ("blockwise", 100_000)):
        proportions, sizes = unequal_bags(n_bags, rng)
        ((seconds, pairs),) = seconds_of(
            lambda data=(proportions, sizes): pair_bags(*data), repeats=1
        )
        note = f"{seconds:.2f} s; shortfall ≤ {pairs.shortfall:.2g}"
        expected = measured[-1] * (n_bags / NETWORKX_BAGS[-1]) ** power
        yield Figure(
            f"networkx, extrapolated / {what}, {n_bags:,} bags", expected / seconds, note=note
        )


if __name__ == "__main__":
    run(measure)
