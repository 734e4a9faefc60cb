"""How much do labels add to bags? Labelled rows are bags of one row, in the same fit.

Rows of the breast cancer data are in bags of 64 with known counts. Some further rows
have labels. The curve shows the balanced accuracy on other rows for bags alone, labels alone, and
both together, for EM with a forest.

    python examples/labels_and_bags.py
"""

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from decorrupt import EMClassifier

BAG_SIZE = 64
NUMBERS = (0, 10, 30, 100)


def split(seed, n_labelled):
    """Return rows in bags, rows with labels, and test rows, of the breast cancer data."""
    X, labels = load_breast_cancer(return_X_y=True)
    rest, tested, rest_labels, tested_labels = train_test_split(
        X, labels, test_size=150, random_state=seed
    )
    return (
        (rest[n_labelled:], rest_labels[n_labelled:]),
        (rest[:n_labelled], rest_labels[:n_labelled]),
        (tested, tested_labels),
    )


def accuracies(seed, n_labels):
    """Return the balanced accuracy of bags alone, labels alone, and both."""
    bagged, labelled, tested = split(seed, max(NUMBERS))
    bags = np.arange(len(bagged[1])) // BAG_SIZE
    y = (np.bincount(bags, bagged[1]) / np.bincount(bags))[bags]
    some, own = labelled[0][:n_labels], labelled[1][:n_labels]
    X = np.vstack([bagged[0], some])
    both = fit(X, np.append(y, own), np.append(bags, 1000 + np.arange(n_labels)), tested, seed)
    if n_labels == 0:
        return both, np.nan, both
    alone = fit(some, own, None, tested, seed)
    return fit(bagged[0], y, bags, tested, seed), alone, both


def fit(X, y, bags, tested, seed):
    """Return the balanced accuracy on the test rows."""
    model = EMClassifier(random_state=seed).fit(X, y, bags=bags)
    return balanced_accuracy_score(tested[1], model.predict(tested[0]))


def main():
    """Print one line per number of labels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    print("| labels | bags of 64 alone | labels alone | bags and labels |")
    print("|---|---|---|---|")
    for n_labels in NUMBERS:
        found = np.array([accuracies(k, n_labels) for k in range(options.repetitions)])
        cells = ["–" if np.isnan(m) else f"{m:.3f}" for m in found.mean(axis=0)]
        print(f"| {n_labels} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
