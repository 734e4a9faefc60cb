"""The published grid by shared descents against one gradient descent a grid point and fold.

The rival is the paper's method as written: the Gram matrix of the training rows, then two products
with it a step. 216 settings × 5 folds of it would take minutes, so it is timed on a random sample
of them, drawn evenly over the iteration counts, and scaled up. Both sides run on one thread, and
of each run the better of two times counts.

The ratio grows with the rows, because the rival's Gram matrix leaves the processor's cache: the
sizes are the least, the median and the greatest number of training rows in the paper's seven data
sets. The promise is looked at for the median.
"""

import sys
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from decorrupt import BagKFold, get_loss
from decorrupt.corruption import strata_from_bags
from decorrupt.experiments.published_grid import pair_terms, search_published_grid

LEAST, MEDIAN, GREATEST = 800, 1088, 1696
COLUMNS, BAG_SIZE, FOLDS = 10, 16, 5
SAMPLE_OF_EACH_COUNT = 6
WANTED, TOLERANCE = 50.0, 1e-6
LOSS = get_loss("logistic")


def problem(n_rows, seed=0):
    X, labels = make_classification(n_rows, COLUMNS, n_informative=6, random_state=seed)
    bags = np.random.default_rng(seed).permutation(n_rows) // BAG_SIZE
    shares = np.bincount(bags, labels) / BAG_SIZE
    return StandardScaler().fit_transform(X), shares[bags], bags


def literal_run(X, strata, fold, setting):
    train, test = fold
    terms = pair_terms(strata.take(train))
    gram = rbf_kernel(X[train], gamma=setting.kernel_gamma)
    alpha = np.zeros(len(train))
    for t in range(setting.n_steps):
        scores = gram @ alpha
        slope = terms.coef_pos * LOSS.slope(scores) - terms.coef_neg * LOSS.slope(-scores)
        length = setting.step_size * np.exp(-setting.step_decay * t)
        alpha -= length * (gram @ (slope + 2 * setting.reg_strength * alpha))
    scores = rbf_kernel(X[test], X[train], gamma=setting.kernel_gamma) @ alpha
    return pair_terms(strata.take(test)).risk(LOSS, scores)


def sample(settings, rng):
    """Return random (setting, fold) numbers, equally many of every iteration count."""
    counts = np.array([setting.n_steps for setting in settings])
    return [
        (int(rng.choice(np.flatnonzero(counts == count))), int(rng.integers(FOLDS)))
        for count in np.unique(counts)
        for _ in range(SAMPLE_OF_EACH_COUNT)
    ]


def timed(function, *args, **options):
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        result = function(*args, **options)
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def compare(n_rows):
    """Return the ratio of the times, and the largest difference of a criterion."""
    X, y, bags = problem(n_rows)
    strata = strata_from_bags(bags, y)
    folds = list(BagKFold(FOLDS).split(X, y, bags=bags))
    seconds_ours, choice = timed(search_published_grid, X, y, bags, folds=folds)
    drawn = sample(choice.settings, np.random.default_rng(0))
    runs = [timed(literal_run, X, strata, folds[k], choice.settings[s]) for s, k in drawn]
    seconds_theirs = sum(run[0] for run in runs) / len(runs) * len(choice.settings) * FOLDS
    error = max(
        abs(choice.criteria[s, k] - value) / max(1.0, abs(value))
        for (s, k), (_, value) in zip(drawn, runs, strict=True)
    )
    ratio = seconds_theirs / seconds_ours
    times = f"{seconds_ours:>14.1f} s {seconds_theirs:>16.0f} s"
    print(f"{n_rows:>5} {times} {ratio:>6.1f}× {error:>12.1e}", flush=True)
    return ratio, error


def main():
    print(" rows  shared descents  one descent a run   ratio   difference")
    found = {n_rows: compare(n_rows) for n_rows in (LEAST, MEDIAN, GREATEST)}
    print(f"wanted: {WANTED:g}× at {MEDIAN} rows, no difference above {TOLERANCE:g}")
    same = all(error <= TOLERANCE for _, error in found.values())
    return 0 if found[MEDIAN][0] >= WANTED and same else 1


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
