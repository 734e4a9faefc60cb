"""Counts released with differential privacy: accuracy with and without knowledge of the noise.

Rows of two classes are in bags of 8; only the count of each bag is released, with geometric noise
of privacy level ε. The count likelihood is trained three times: on the noisy counts as if they were
exact, with the noise stated, and on the counts without noise (ε = ∞).

    python examples/privacy_noise.py
"""

import argparse

import numpy as np
from sklearn.metrics import balanced_accuracy_score

from decorrupt import CountLikelihoodClassifier, GeometricNoise

BAG_SIZE = 8
LEVELS = (0.1, 0.5, 1.0, np.inf)


def make_rows(rng, n_bags):
    """Return rows of two overlapping classes, their bags and their labels."""
    bags = np.repeat(np.arange(n_bags), BAG_SIZE)
    labels = rng.random(len(bags)) < rng.beta(2, 3, n_bags)[bags]
    X = rng.normal(size=(len(bags), 5)) + 0.9 * labels[:, None]
    return X, labels.astype(int), bags


def released(rng, counts, epsilon):
    """Return the counts with geometric noise, whole numbers that can be below 0 or above 8."""
    if np.isinf(epsilon):
        return counts
    stop = 1 - np.exp(-epsilon)
    return counts + rng.geometric(stop, len(counts)) - rng.geometric(stop, len(counts))


def accuracy(rows, tested, proportions, **params):
    """Return the balanced accuracy on rows that were not used in training."""
    X, _, bags = rows
    model = CountLikelihoodClassifier(kernel="rbf", reg_strength=1e-3, random_state=0, **params)
    model.fit(X, proportions[bags], bags=bags)
    return balanced_accuracy_score(tested[1], model.predict(tested[0]))


def compare(epsilon, n_bags, seed):
    """Return the accuracies without and with knowledge of the noise."""
    rng = np.random.default_rng(seed)
    rows, tested = make_rows(rng, n_bags), make_rows(rng, 100)
    counts = np.bincount(rows[2], rows[1])
    noisy = released(rng, counts, epsilon)
    rounded = np.clip(noisy, 0, BAG_SIZE) / BAG_SIZE
    blind = accuracy(rows, tested, rounded)
    noise = None if np.isinf(epsilon) else GeometricNoise(epsilon)
    return blind, accuracy(rows, tested, noisy / BAG_SIZE, count_noise=noise)


def main():
    """Print one line per privacy level."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bags", type=int, default=300)
    parser.add_argument("--repetitions", type=int, default=10)
    options = parser.parse_args()
    print("| ε | noise ignored | noise stated |")
    print("|---|---|---|")
    for epsilon in LEVELS:
        found = np.array([compare(epsilon, options.bags, k) for k in range(options.repetitions)])
        errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        cells = [f"{m:.3f} ± {e:.3f}" for m, e in zip(found.mean(axis=0), errors, strict=True)]
        print(f"| {'∞' if np.isinf(epsilon) else epsilon} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
