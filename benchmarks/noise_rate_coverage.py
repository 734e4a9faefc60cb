"""Coverage of the bounds of estimated noise rates, and of the ± of accuracies that use them.

True labels of real data are flipped repeatedly at known rates. `rates` counts the 90 % bounds of
:func:`decorrupt.estimate_noise_rates` that hold. `accuracy` trains the forward
model as `decorrupt fit --estimate-noise-rates` does, and counts the held-out balanced accuracies
that are within two standard errors of the balanced accuracy on true labels.

    DECORRUPT_DATA=… python benchmarks/noise_rate_coverage.py {rates,accuracy}
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score

from decorrupt import estimate_noise_rates
from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.roles import Table
from decorrupt.app.training.settings import Settings
from decorrupt.app.training.source_roles import read_sources
from decorrupt.app.training.train import train
from decorrupt.corruption import corrupt_labels
from decorrupt.datasets import fetch_uci
from decorrupt.model_selection import auto_sources, corrected_accuracy
from decorrupt.progress import silence

RATES = (0.2, 0.1)
N_RESAMPLES = 50
DATA = {
    "rates": ("breast_cancer", "banknote", "cardiotocography", "german", "contraceptive"),
    "accuracy": ("german", "contraceptive"),
}
DRAWS = {"rates": 60, "accuracy": 20}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True)
    data = fetch_uci(name)
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


def accuracy(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Return the estimate, its standard errors (rows only; rows and rates), and the true value."""
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    frame["label"] = np.where(corrupt_labels(y, RATES, random_state=seed) == 1, "yes", "no")
    rows = read_sources(
        Table(frame, "rows"), label_column="label", source_column=None, positive_label="yes"
    )
    features = choose_features(frame, roles=rows.roles)
    few = partial(estimate_noise_rates, n_bootstrap=N_RESAMPLES)
    settings = Settings("forward", seed=seed, reg_strengths=(1e-2,))  # one, to save time
    with silence(), mock.patch.object(auto_sources, "estimate_noise_rates", few):
        trained = train(rows, features, settings)
    decisions, strata = np.empty(len(y)), trained.observed
    for model, test in trained.fold_models():
        decisions[test] = model.decision_function(trained.prepared.iloc[test])
    of_rows = corrected_accuracy(strata.row_proportions, decisions, bags=strata.row_bag)
    measured = trained.card["criteria"]["corrected_accuracy"]
    true = balanced_accuracy_score(y, decisions > 0)
    return [of_rows.value, of_rows.std_error, measured["std_error"], true]


def main(what: str) -> None:
    for name in DATA[what]:
        X, y = load(name)
        work = {"rates": rates, "accuracy": accuracy}[what]
        found = np.array([work(X, y, seed) for seed in range(DRAWS[what])])
        if what == "rates":
            for k, rate in enumerate(("flip_pos", "flip_neg")):
                side = found[:, 2 + k]
                print(
                    f"{name:<18}{rate}  mean error {np.mean(found[:, k]) - RATES[k]:+.3f}, the "
                    f"bound holds in {np.mean(side == 0):.0%}",
                    flush=True,
                )
            continue
        estimate, of_rows, of_both, true = found.T
        off = np.abs(estimate - true)
        print(
            f"{name:<18}estimate {estimate.mean():.3f}, true {true.mean():.3f}, root mean square "
            f"error {np.sqrt(np.mean(off**2)):.3f}; ± of the rows {of_rows.mean():.3f} covers "
            f"{np.mean(off < 2 * of_rows):.0%}, ± of rows and rates {of_both.mean():.3f} covers "
            f"{np.mean(off < 2 * of_both):.0%}",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # warnings of single draws
    main(sys.argv[1])
