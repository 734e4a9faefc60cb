"""Sorted pairs of bags of unequal sizes: the share of the weight of the optimal pairs.

1,000 bags; the weight of a pairing is Σ (n_a·n_b/(n_a+n_b))·(γ_a−γ_b)². The note has the time of
the exact method.
"""

import warnings
from collections.abc import Iterator

import numpy as np

from decorrupt.corruption import pair_bags
from measuring import Figure, run, seconds_of

N_BAGS = 1_000


def unequal_bags(rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield a name, proportions and sizes; sorted pairs lose most where both are related."""
    uniform, rare = rng.random(N_BAGS), rng.beta(0.5, 5, N_BAGS)
    log_odds = rng.normal(0, 1, N_BAGS)
    lognormal = np.exp(3 + log_odds)
    yield "sizes 5 to 50", uniform, rng.integers(5, 51, N_BAGS)
    yield "lognormal sizes", uniform, lognormal
    yield "rare positives, sizes 20 to 200", rare, rng.integers(20, 201, N_BAGS)
    yield "rare positives, lognormal sizes", rare, lognormal
    yield "large bags have more positives", 1 / (1 + np.exp(-log_odds)), lognormal


def total_weight(proportions, sizes, pairs) -> float:
    """Return the weight of a pairing."""
    a, b = sizes[pairs.pos], sizes[pairs.neg]
    return float(np.sum(a * b / (a + b) * (proportions[pairs.pos] - proportions[pairs.neg]) ** 2))


def measure(_quick):
    warnings.simplefilter("ignore")
    for name, proportions, sizes in unequal_bags(np.random.default_rng(0)):
        ((seconds, best),) = seconds_of(lambda p=proportions, s=sizes: pair_bags(p, s), repeats=1)
        found = pair_bags(proportions, sizes, method="sorted")
        share = total_weight(proportions, sizes, found) / total_weight(proportions, sizes, best)
        yield Figure(f"sorted / optimal, {name}", share, note=f"exact {seconds:.2f} s")


if __name__ == "__main__":
    run(measure)
