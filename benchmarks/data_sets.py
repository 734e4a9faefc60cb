"""Data sets that are not the paper's, and simulated bags that random bags do not resemble.

`DEVELOP` are the data on which constants of the code were decided, `TEST` and other seeds of the
simulations those that only report. Every simulation makes rows, labels and bags. The first
`TRAINING_ROWS` rows are for training; the bags of the other rows are not used. Rows are
standardised by the caller.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn import datasets

sys.path.append(str(Path(__file__).resolve().parents[1]))  # scripts run from any folder
from reproduction.uci import read_uci

TRAINING_ROWS, TEST_ROWS = 768, 2000
ROWS = TRAINING_ROWS + TEST_ROWS


def digits(positive, among=range(10)):
    X, y = datasets.load_digits(return_X_y=True)
    rows = np.isin(y, list(among))
    return X[rows], np.isin(y[rows], list(positive))


def median_target(loaded):
    return loaded.data, loaded.target > np.median(loaded.target)


def one_class(loaded, positive):
    return loaded.data, loaded.target == positive


def adult(seed):
    found = read_uci("adult")
    rows = np.random.default_rng(seed).permutation(len(found.y))[:3000]
    encoded = pd.get_dummies(pd.DataFrame(found.X[rows]).infer_objects())
    return encoded.to_numpy(dtype=float), found.y[rows] == 1


def with_noise(pair, n_columns, seed):
    X, y = pair
    noise = np.random.default_rng(seed).standard_normal((len(X), n_columns))
    return np.column_stack([X, noise]), y == 1


DEVELOP = {
    "circles": lambda: with_noise(
        datasets.make_circles(3000, noise=0.15, factor=0.5, random_state=0), 3, 0
    ),
    "quantiles": lambda: with_noise(
        datasets.make_gaussian_quantiles(n_samples=3000, n_features=5, n_classes=2, random_state=0),
        0,
        0,
    ),
    "clusters": lambda: with_noise(
        datasets.make_classification(
            3000, 20, n_informative=6, n_clusters_per_class=4, random_state=0
        ),
        0,
        0,
    ),
    "hyperplane": lambda: with_noise(
        datasets.make_classification(
            3000, 30, n_informative=5, flip_y=0.1, n_clusters_per_class=1, random_state=1
        ),
        0,
        0,
    ),
    "digits_4_9": lambda: digits([9], [4, 9]),
    "digits_even": lambda: digits(range(0, 10, 2)),
    "adult_a": lambda: adult(0),
}
TEST = {
    "breast_cancer": lambda: one_class(datasets.load_breast_cancer(), 1),
    "wine": lambda: one_class(datasets.load_wine(), 1),
    "iris": lambda: one_class(datasets.load_iris(), 1),
    "diabetes": lambda: median_target(datasets.load_diabetes()),
    "digits_3_8": lambda: digits([8], [3, 8]),
    "digits_high": lambda: digits(range(5, 10)),
    "hastie": lambda: with_noise(datasets.make_hastie_10_2(3000, random_state=0), 0, 0),
    "moons": lambda: with_noise(datasets.make_moons(3000, noise=0.25, random_state=0), 8, 0),
    "adult_b": lambda: adult(1),
}


# Simulations.


def random_bags(rng, bag_size):
    """Return bags of rows in random order; only those of training rows have this size."""
    bags = np.full(ROWS, -1)
    bags[:TRAINING_ROWS] = rng.permutation(TRAINING_ROWS) // bag_size
    return bags


def drawn(rng, log_odds):
    return rng.random(len(log_odds)) < expit(log_odds)


def xor(rng):
    X = rng.standard_normal((ROWS, 4))
    return X, drawn(rng, 4 * np.sign(X[:, 0] * X[:, 1])), random_bags(rng, 16)


def checkerboard(rng):
    X = rng.uniform(0, 3, (ROWS, 2))
    return X, np.floor(X).sum(axis=1) % 2 == 1, random_bags(rng, 32)


def heavy_tails(rng):
    logs = rng.standard_normal((ROWS, 5))
    log_odds = 2 * logs[:, 0] - 2 * logs[:, 1] + logs[:, 2]
    return np.exp(1.5 * logs), drawn(rng, log_odds), random_bags(rng, 16)


def sparse(rng):
    X = (rng.random((ROWS, 100)) < 0.1).astype(float)
    log_odds = X[:, :20] @ rng.choice([-3.0, 3.0], 20)
    return X, drawn(rng, log_odds), random_bags(rng, 8)


def rare_class(rng):
    X = rng.standard_normal((ROWS, 6))
    log_odds = -5 + 2 * X[:, 0] + 1.5 * X[:, 1] + np.abs(X[:, 2])
    return X, drawn(rng, log_odds), random_bags(rng, 16)


def by_a_column(rng):
    """Bags are intervals of one column that also matters for the label."""
    X = rng.standard_normal((ROWS, 6))
    log_odds = 1.5 * X[:, 0] - 1.5 * X[:, 1] + X[:, 2]
    edges = np.quantile(X[:, 0], np.linspace(0, 1, 33)[1:-1])
    return X, drawn(rng, log_odds), np.searchsorted(edges, X[:, 0])


def by_two_columns(rng):
    """Bags are the cells of two columns of categories, which are in X as indicators."""
    first, second = rng.integers(0, 8, ROWS), rng.integers(0, 4, ROWS)
    columns = rng.standard_normal((ROWS, 4)) + 0.5 * first[:, None] * np.array([1, 0, 0, 0]) / 8
    X = np.column_stack([columns, np.eye(8)[first], np.eye(4)[second]])
    log_odds = X @ np.r_[1.5, -1.5, 0, 0, rng.normal(0, 1, 12)]
    return X, drawn(rng, log_odds), 4 * first + second


def with_bag_effect(rng):
    """Bags differ in the rate of positives by more than their rows explain."""
    n_bags = TRAINING_ROWS // 24
    X, bags = rng.standard_normal((ROWS, 5)), random_bags(rng, 24)
    like = np.where(bags < 0, rng.integers(0, n_bags, ROWS), bags)
    X += 0.7 * rng.standard_normal((n_bags, 5))[like]
    effect = np.where(bags < 0, 0.0, rng.normal(0, 0.7, n_bags)[like])
    return X, drawn(rng, 2 * X[:, 0] - X[:, 1] + effect), bags


def few_bags(rng, proportions):
    """A few large bags with different shares of positives; classes differ in their means."""
    n_own = TRAINING_ROWS // len(proportions)
    shares = np.r_[np.repeat(proportions, n_own), np.full(TEST_ROWS, np.mean(proportions))]
    labels = rng.random(ROWS) < shares
    X = rng.standard_normal((ROWS, 5)) + np.outer(labels, [1.2, -0.8, 0, 0, 0])
    bags = np.r_[np.repeat(np.arange(len(proportions)), n_own), np.full(TEST_ROWS, -1)]
    return X, labels, bags


SIMULATIONS = {
    "xor": xor,
    "checkerboard": checkerboard,
    "heavy_tails": heavy_tails,
    "sparse": sparse,
    "rare_class": rare_class,
    "by_a_column": by_a_column,
    "by_two_columns": by_two_columns,
    "with_bag_effect": with_bag_effect,
    "two_bags": lambda rng: few_bags(rng, (0.3, 0.7)),
    "three_bags": lambda rng: few_bags(rng, (0.2, 0.5, 0.8)),
}


def simulate(name, seed):
    """Return training rows, labels and bags, and test rows and labels."""
    rng = np.random.default_rng([seed, *name.encode()])
    X, labels, bags = SIMULATIONS[name](rng)
    train = slice(TRAINING_ROWS)
    return X[train], labels[train], bags[train], X[TRAINING_ROWS:], labels[TRAINING_ROWS:]
