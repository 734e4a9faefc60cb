"""Coverage of the bounds of estimated noise rates.

True labels of real data are flipped repeatedly at known rates, and the 90 % bounds of
:func:`decorrupt.estimate_noise_rates` that hold are counted.

    DECORRUPT_DATA=… python benchmarks/noise_rate_coverage.py
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer

from data_sets import read_uci
from decorrupt import estimate_noise_rates
from decorrupt.corruption import corrupt_labels

RATES = (0.2, 0.1)
DATA = ("breast_cancer", "banknote", "cardiotocography", "german", "contraceptive")
DRAWS = 60


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True)
    data = read_uci(name)
    return np.asarray(data.X), (np.asarray(data.y) == max(data.y)).astype(int)


def rates(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Return both rates, and whether they are within or above their bounds (0, 1)."""
    noisy = corrupt_labels(y, RATES, random_state=seed)
    found = estimate_noise_rates(X, noisy, n_bootstrap=0, random_state=seed)
    (pair,), (ends,) = found.rates.values(), found.intervals.values()
    sides = [
        (rate > high) - (rate < low)
        for rate, (low, high) in zip(RATES, ends.values(), strict=True)
    ]  # fmt: skip
    return [*pair, *sides]


def main() -> None:
    for name in DATA:
        X, y = load(name)
        found = np.array([rates(X, y, seed) for seed in range(DRAWS)])
        for k, rate in enumerate(("flip_pos", "flip_neg")):
            side = found[:, 2 + k]
            print(
                f"{name:<18}{rate}  mean error {np.mean(found[:, k]) - RATES[k]:+.3f}, the "
                f"bound holds in {np.mean(side == 0):.0%}",
                flush=True,
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # warnings of single draws
    main()
