"""The published grid in batches against one gradient descent per setting, on one fold.

The baseline is the paper's method as written: the Gram matrix of the training rows, then two
products with it per step. All 216 settings would take minutes, so it is timed on a random sample
with the same number of settings per iteration count, and scaled up.

The sizes are the smallest, the median and the largest number of training rows in the paper's seven
data sets. The target is for the median. If $DECORRUPT_DATA is set, one cell of each of the seven
follows. There, differences can be large: with long steps a descent can be chaotic, and rounding
then decides the result. Alone, it needs PYTHONPATH=. for the package reproduction.
"""

import os

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from decorrupt import BagKFold
from decorrupt.losses import class_loss
from decorrupt.observed import read_bags
from measuring import Figure, run, seconds_of
from reproduction.plan import Plan, hashed_seed
from reproduction.published_grid import (
    PublishedGrid,
    fold_criteria,
    pair_coefficients,
)
from reproduction.split import split_into_bags
from reproduction.uci import read_uci

SMALLEST, MEDIAN, LARGEST = 800, 1088, 1696
COLUMNS, BAG_SIZE, FOLDS = 10, 16, 5
SAMPLE_OF_EACH_COUNT = 6
BAR, TOLERANCE = 3.0, 1e-6
PLAN = Plan.read()
LOSS = class_loss("logistic", 2)


def synthetic(n_rows):
    X, labels = make_classification(n_rows, COLUMNS, n_informative=6, random_state=0)
    order = np.random.default_rng(0).permutation(n_rows)
    bags = np.arange(n_rows) // BAG_SIZE
    shares = np.bincount(bags, labels[order]) / BAG_SIZE
    return StandardScaler().fit_transform(X[order]), shares[bags], bags


def real(name):
    """Return the training part of a cell of the plan."""
    data, seed = read_uci(name), hashed_seed(name, BAG_SIZE, 0)
    split, _ = split_into_bags(data.X, data.y, BAG_SIZE, PLAN.test_share, seed)
    return split.X, split.y, split.bags


def literal_run(X, observed, fold, setting):
    train, test = fold
    coef = pair_coefficients(observed.take(train))
    gram = rbf_kernel(X[train], gamma=setting.kernel_gamma)
    alpha = np.zeros(len(train))
    for t in range(setting.n_steps):
        scores = gram @ alpha
        slope = LOSS.row_slopes(coef, scores)
        length = setting.step_size * np.exp(-setting.step_decay * t)
        alpha -= length * (gram @ (slope + 2 * setting.reg_strength * alpha))
    scores = rbf_kernel(X[test], X[train], gamma=setting.kernel_gamma) @ alpha
    return float(LOSS.class_sums(pair_coefficients(observed.take(test)), scores).sum())


def sample(settings, rng):
    """Return indices of random settings, the same number for every iteration count."""
    counts = np.array([setting.n_steps for setting in settings])
    return [
        int(rng.choice(np.flatnonzero(counts == count)))
        for count in np.unique(counts)
        for _ in range(SAMPLE_OF_EACH_COUNT)
    ]


def compare(name, problem, bar=None):
    """Yield the ratio of the times, and the largest relative difference of a criterion."""
    X, y, bags = problem
    observed = read_bags(y, bags)
    fold = next(BagKFold(FOLDS).split(X, y, bags=bags))
    settings = PublishedGrid().settings()
    drawn = sample(settings, np.random.default_rng(0))
    (seconds_ours, criteria), *theirs = seconds_of(
        lambda: fold_criteria(X, observed, fold, PublishedGrid()),
        *(lambda one=settings[s]: literal_run(X, observed, fold, one) for s in drawn),
        repeats=2,
    )
    seconds_theirs = np.mean([seconds for seconds, _ in theirs]) * len(settings)
    error = max(
        abs(criteria[s] - value) / max(1.0, abs(value))
        for s, (_, value) in zip(drawn, theirs, strict=True)
    )
    what = f"one descent per setting / batch, {name}, {len(X):,} rows"
    note = f"{seconds_ours:.1f} s; difference {error:.1e}"
    yield Figure(what, seconds_theirs / seconds_ours, at_least=bar, note=note)
    if name == "synthetic":
        yield Figure("largest relative difference of a criterion", error, at_most=TOLERANCE)


def measure(quick):
    for n_rows in (SMALLEST,) if quick else (SMALLEST, MEDIAN, LARGEST):
        yield from compare("synthetic", synthetic(n_rows), BAR if n_rows == MEDIAN else None)
    if "DECORRUPT_DATA" in os.environ and not quick:
        for name in PLAN.datasets:
            yield from compare(name, real(name))


if __name__ == "__main__":
    run(measure)
