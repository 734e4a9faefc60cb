"""Weak labels: a classifier of digits with loops, from four annotators with unknown noise rates.

Labels of several annotators for the *same* rows are dependent, but the theory of several sources
assumes independent samples. If there are many rows, each annotator can label different rows
(Scott & Zhang 2019, Sec. 1). The noise rates are unknown and estimated in three ways: from an audit
of some rows, from the annotators' agreement on a few rows that all of them label (Dawid & Skene),
and from noisy labels and features only.

Run it with ``python examples/weak_labels.py``; it takes a few seconds. True labels are used to
simulate the annotators and the audit and to test the models. Only the last model is trained on
them.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

from decorrupt import CorruptedSourcesClassifier
from decorrupt.corruption import corrupt_labels
from decorrupt.noise_rates import (
    estimate_noise_rates,
    estimate_noise_rates_from_annotators,
    estimate_noise_rates_from_audit,
)

SEED = 0
WITH_LOOP = (0, 6, 8, 9)
N_CHECKED = 50
N_SHARED = 200
# Per annotator: flip_pos (loops missed) and flip_neg (loops reported where there are none).
TRUE_RATES = {"ann": (0.10, 0.05), "bob": (0.30, 0.05), "cy": (0.45, 0.10), "dot": (0.50, 0.20)}


def main() -> None:
    """Simulate labels, estimate the rates in three ways, train with each, print two tables."""
    pixels, digit = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        pixels / 16, np.isin(digit, WITH_LOOP).astype(int), test_size=0.25, random_state=SEED
    )
    X, truth = X_train[N_SHARED:], y_train[N_SHARED:]  # the first rows are labelled by all
    names = np.array(list(TRUE_RATES))
    annotator = names[np.random.default_rng(SEED).permutation(len(X)) % len(names)]
    label = corrupt_labels(truth, [TRUE_RATES[name] for name in annotator], random_state=SEED)

    found = {
        f"{N_CHECKED} checked rows each": audit(annotator, label, truth),
        f"{N_SHARED} shared rows": agreement(y_train[:N_SHARED]),
        "labels and features": estimate_noise_rates(X, label, sources=annotator, random_state=SEED),
    }
    print(f"{len(X)} rows, each labelled by one of four annotators\n")
    print_rates(found)

    model = CorruptedSourcesClassifier(
        decision="accuracy", reg_strength=1e-3, risk_correction="abs"
    )
    print(f"\n{'trained on their labels, with rates from':<44}accuracy ({len(X_test)} test rows)")
    naive = model.fit(X, label, sources=annotator, noise_rates=(0.0, 0.0))
    print_score("no rates: labels taken as correct", naive, X_test, y_test)
    for name, estimate in [*found.items()]:
        fitted = model.fit(X, label, sources=annotator, noise_rates=estimate.rates)
        print_score(name, fitted, X_test, y_test)
    fitted = model.fit(X, label, sources=annotator, noise_rates=TRUE_RATES)
    print_score("(the true rates)", fitted, X_test, y_test)
    print_score("(true labels: the upper limit)", model.fit(X, truth), X_test, y_test)


def audit(annotator, label, truth):
    """Return rates from the first rows of each annotator (a random sample: the order is random)."""
    rows = np.concatenate([np.flatnonzero(annotator == name)[:N_CHECKED] for name in TRUE_RATES])
    return estimate_noise_rates_from_audit(
        y_noisy=label[rows], y_true=truth[rows], sources=annotator[rows]
    )


def agreement(truth):
    """Return rates from rows that all annotators label."""
    labels = [
        corrupt_labels(truth, rates, random_state=SEED + 1 + k)
        for k, rates in enumerate(TRUE_RATES.values())
    ]
    who, row = np.repeat(list(TRUE_RATES), len(truth)), np.tile(np.arange(len(truth)), len(labels))
    return estimate_noise_rates_from_annotators(
        np.concatenate(labels), who, row, random_state=SEED
    )  # fmt: skip


def print_rates(found):
    """Print flip_pos and flip_neg per annotator, from each method and the truth."""
    print(f"{'flip_pos / flip_neg':<20}" + "".join(f"{name:>24}" for name in [*found, "(truth)"]))
    for name, true_pair in TRUE_RATES.items():
        pairs = [*(estimate.rates[name] for estimate in found.values()), true_pair]
        print(f"{name:<20}" + "".join(f"{f'{pos:.2f} / {neg:.2f}':>24}" for pos, neg in pairs))


def print_score(name, model, X, truth):
    """Print one line of the accuracy table."""
    print(f"{name:<44}{accuracy_score(truth, model.predict(X)):.3f}")


if __name__ == "__main__":
    main()
