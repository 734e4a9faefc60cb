"""Error of transition matrices estimated by anchors, for classes at several distances.

Run with ``python benchmarks/anchor_accuracy.py``; the table is in docs/evidence/noise_rates.md.
"""

import numpy as np

from decorrupt.corruption import corrupt_labels
from decorrupt.noise_rates import estimate_noise_rates

RATES = {
    "expert": np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9]]),
    "crowd": np.array([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]]),
    "rule": np.array([[0.7, 0.0, 0.3], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]),
}
CENTRES = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
N_ROWS, N_SEEDS = 6000, 3


def errors(distance: float, seed: int) -> np.ndarray:
    """Return estimated minus true matrices of all sources."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, N_ROWS)
    X = rng.normal(size=(N_ROWS, 2)) + distance * CENTRES[labels]
    sources = np.array(list(RATES))[np.arange(N_ROWS) % 3]
    noisy = corrupt_labels(labels, np.array([RATES[s] for s in sources]), random_state=seed)
    found = estimate_noise_rates(X, noisy, sources=sources, n_bootstrap=0, random_state=0)
    return np.array([found.rates[source] - matrix for source, matrix in RATES.items()])


if __name__ == "__main__":
    for distance in (1.5, 2.5, 4.0):
        found = np.array([errors(distance, seed) for seed in range(N_SEEDS)])
        diagonal = np.diagonal(found, axis1=-2, axis2=-1).mean()
        print(f"| {distance:g} | {np.abs(found).mean():.3f} | {diagonal:+.3f} |")
