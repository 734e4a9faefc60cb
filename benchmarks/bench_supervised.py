"""Fits from proportions against supervised logistic regression on the same features and labels.

`fit` as a user calls it, from X to the fitted model, with kernel="linear": X is a matrix of 256
kernel features, or 50 plain columns. LogisticRegression (lbfgs, the same penalty) has the true
labels and stops when the largest gradient component of the mean loss is 1e-5. Ours stop when the
norm of the gradient is 1e-5, which is stricter. Bags have 32 rows.

The limit: the time of a corrected-loss fit divided by the time of its matrix products alone, two
per evaluation of the objective.

At 10,000 rows, the only kernel features of a quick run, two figures miss their bars: the count
likelihood is solved from two starts (from 40,000 rows on, the start is chosen on a sample), and the
passes over X before and after the solver (validation, kernel width, centring, assumption check)
take as long as ten evaluations. The quick run guards these two against regressions with limits of
1.5 times what was measured.
"""

import warnings

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression

from decorrupt import CorrectedLossClassifier, CountLikelihoodClassifier, MeanMapClassifier
from decorrupt.solvers.objective import Objective
from measuring import Figure, bagged, run, seconds_of

# Name, bar, and the limit of a quick run where it is not the bar with its slack.
BARS = {
    CorrectedLossClassifier: ("corrected loss", 1.2, None),
    MeanMapClassifier: ("mean map", 1.2, None),
    CountLikelihoodClassifier: ("count likelihood", 2.5, 1.5 * 3.1),
}
RANK, COLUMNS, BAG_SIZE = 256, 50, 32
REG_STRENGTH, TOL = 1e-4, 1e-5
LIMIT_BAR, QUICK_LIMIT = 1.5, 1.5 * 2.0


def kernel_features(n_rows):
    """Return 256 random features of two overlapping classes, and the labels."""
    rng = np.random.default_rng(0)
    labels = rng.random(n_rows) < 0.4
    X = rng.standard_normal((n_rows, 10)) + 0.6 * labels[:, None]
    sampler = RBFSampler(gamma=0.1, n_components=RANK, random_state=0)
    return sampler.fit_transform(X), labels


def plain_columns(n_rows):
    """Return 50 correlated columns of two overlapping classes, and the labels."""
    rng = np.random.default_rng(0)
    labels = rng.random(n_rows) < 0.4
    X = rng.standard_normal((n_rows, COLUMNS)) + 0.25 * labels[:, None]
    mixing = np.eye(COLUMNS) + rng.standard_normal((COLUMNS, COLUMNS)) / np.sqrt(COLUMNS)
    return X @ mixing, labels


def supervised(X, labels):
    penalty = 1 / (2 * REG_STRENGTH * len(X))
    return LogisticRegression(C=penalty, solver="lbfgs", tol=TOL, max_iter=1000).fit(X, labels)


def from_bags(kind, X, y, bags):
    model = kind(kernel="linear", reg_strength=REG_STRENGTH, tol=TOL)
    return model.fit(X, y, bags=bags)


def compare(name, X, labels, repeats):
    """Yield the ratio of every method, its rows correct and the limit of the corrected loss."""
    y, bags = bagged(X, labels, BAG_SIZE)
    (base, reference), *ours = seconds_of(
        lambda: supervised(X, labels),
        *(lambda kind=kind: from_bags(kind, X, y, bags) for kind in BARS),
        repeats=repeats,
    )
    for (method, bar, quick_limit), (seconds, model) in zip(BARS.values(), ours, strict=True):
        correct = (
            f"{model.score(X, labels):.3f} correct, supervised {reference.score(X, labels):.3f}"
        )
        note = f"{seconds:.2f} s; {correct}"
        yield Figure(
            f"{method} / supervised, {name}",
            seconds / base,
            at_most=bar,
            note=note,
            quick_limit=quick_limit,
        )


def evaluations(X, y, bags):
    """Return how often a corrected-loss fit evaluates its objective."""
    count, value_and_gradient = 0, Objective.value_and_gradient

    def counted(self, coef):
        nonlocal count
        count += 1
        return value_and_gradient(self, coef)

    Objective.value_and_gradient = counted
    from_bags(CorrectedLossClassifier, X, y, bags)
    Objective.value_and_gradient = value_and_gradient
    return count


def limit(name, X, labels, repeats):
    """Return the time of a fit divided by the time of its matrix products."""
    y, bags = bagged(X, labels, BAG_SIZE)
    n_evaluations, coef, slope = evaluations(X, y, bags), np.ones(X.shape[1]), np.ones(len(X))

    def products():
        for _ in range(n_evaluations):
            X @ coef
            X.T @ slope

    (fit_seconds, _), (seconds, _) = seconds_of(
        lambda: from_bags(CorrectedLossClassifier, X, y, bags), products, repeats=repeats
    )
    what = f"corrected loss / its matrix products, {name}"
    note = f"{n_evaluations} evaluations"
    ratio = fit_seconds / seconds
    return Figure(what, ratio, at_most=LIMIT_BAR, note=note, quick_limit=QUICK_LIMIT)


def measure(quick):
    warnings.simplefilter("ignore")
    for n_rows in (10_000,) if quick else (10_000, 100_000, 1_000_000):
        X, labels = kernel_features(n_rows)
        name, repeats = f"{n_rows:,} × {RANK}", 2 if n_rows > 500_000 else 3
        yield from compare(name, X, labels, repeats)
        yield limit(name, X, labels, repeats)
    n_rows = 100_000 if quick else 200_000
    X, labels = plain_columns(n_rows)
    yield from compare(f"{n_rows:,} × {COLUMNS}", X, labels, 3)


if __name__ == "__main__":
    run(measure)
