"""Breast-cancer data cut into bags of 16: a classifier from the bags' malignancy rates alone.

Run it with ``make demo``. The training labels are used for one thing only, to compute each bag's
share of malignant samples. The last line shows what the labels themselves would have given.
"""

import sys
import time

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from decorrupt import AutoLabelProportionsClassifier

BAG_SIZE = 16
SEED = 0


def main() -> None:
    """Train on bags, then on labels, and print both."""
    X, target = load_breast_cancer(return_X_y=True)
    malignant = 1 - target
    X_train, X_test, y_train, y_test = train_test_split(
        X, malignant, test_size=0.2, stratify=malignant, random_state=SEED
    )
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

    n_bags = len(X_train) // BAG_SIZE
    rows = np.random.default_rng(SEED).permutation(len(X_train))[: n_bags * BAG_SIZE]
    bags = np.repeat(np.arange(n_bags), BAG_SIZE)
    shares = y_train[rows].reshape(n_bags, BAG_SIZE).mean(axis=1)
    print(f"Breast cancer: {len(rows)} training rows in {n_bags} bags of {BAG_SIZE},")
    print(f"malignant share by bag from {shares.min():.2f} to {shares.max():.2f}; labels hidden.\n")

    began = time.perf_counter()
    model = AutoLabelProportionsClassifier(random_state=SEED)
    from_bags = clone(model).fit(X_train[rows], shares[bags], bags=bags)
    print("Methods compared by the log-likelihood of held-out bags' counts, per row:")
    print(f"{from_bags.leaderboard_}\n")
    from_labels = clone(model).fit(X_train[rows], y_train[rows])

    print(
        f"{'trained on':<30}{'balanced accuracy':>18}{'accuracy':>10}   ({len(y_test)} test rows)"
    )
    _report("the bags' proportions only", from_bags, X_test, y_test)
    _report("the true labels (the ceiling)", from_labels, X_test, y_test)
    print(f"took {time.perf_counter() - began:.0f} s", file=sys.stderr)


def _report(name, model, X_test, y_test):
    predicted = model.predict(X_test)
    balanced = balanced_accuracy_score(y_test, predicted)
    print(f"{name:<30}{balanced:>18.3f}{accuracy_score(y_test, predicted):>10.3f}")


if __name__ == "__main__":
    main()
