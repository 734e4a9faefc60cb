"""λ and kernel γ chosen over shared features, against the same grid by BagGridSearchCV.

Both sides have one BLAS thread: on products this small more threads only wait for each other,
which would slow the grid search down many times over on a busy machine.

Two grids, because the ratio depends on it: the library's default of 6 λ, where the promise is not
kept yet (3.4× for the corrected loss; 7.4× for the count likelihood but another choice), and a
path of 16 λ, where warm starts pay. The second was added after the first had missed.
"""

import sys
import time
import warnings
from itertools import product

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from decorrupt import (
    BagGridSearchCV,
    CountLikelihoodClassifier,
    CountLikelihoodClassifierCV,
    LabelProportionsClassifier,
    LabelProportionsClassifierCV,
)
from decorrupt.model_selection.path_search import DEFAULT_REG_STRENGTHS

ROWS, COLUMNS, BAG_SIZE = 1600, 10, 16
GRIDS = {"6 λ": list(DEFAULT_REG_STRENGTHS), "16 λ": np.logspace(-1, -6, 16).tolist()}
GAMMAS = [0.003, 0.03, 0.1]
WANTED = 5.0


def data(seed=0):
    X, labels = make_classification(ROWS, COLUMNS, n_informative=6, random_state=seed)
    bags = np.random.default_rng(seed).permutation(ROWS) // BAG_SIZE
    return StandardScaler().fit_transform(X), (np.bincount(bags, labels) / BAG_SIZE)[bags], bags


def timed(search, X, y, bags):
    with threadpool_limits(1):
        start = time.perf_counter()
        search.fit(X, y, bags=bags)
        return time.perf_counter() - start, search


def main():
    warnings.simplefilter("ignore")
    X, y, bags = data()
    reached = True
    print(f"{'method':<24} {'grid search':>12} {'shared paths':>13} {'ratio':>7}  same choice")
    cases = (
        (
            "corrected loss",
            LabelProportionsClassifierCV,
            LabelProportionsClassifier(convex="ignore", random_state=0),
            "corrected_accuracy",
        ),
        (
            "count likelihood",
            CountLikelihoodClassifierCV,
            CountLikelihoodClassifier(random_state=0),
            "count_log_likelihood",
        ),
    )
    for (label, reg_strengths), case in product(GRIDS.items(), cases):
        name, path_class, template, scoring = case
        path = path_class(
            template, reg_strengths=reg_strengths, kernel_gammas=GAMMAS, scoring=scoring
        )
        seconds, path = timed(path, X, y, bags)
        grid = {"kernel_gamma": GAMMAS, "reg_strength": reg_strengths}
        grid_seconds, search = timed(BagGridSearchCV(template, grid, scoring=scoring), X, y, bags)
        ratio, same = grid_seconds / seconds, path.best_params_ == search.best_params_
        reached &= ratio >= WANTED and same
        name = f"{name}, {label}"
        print(f"{name:<24} {grid_seconds:>10.1f} s {seconds:>11.1f} s {ratio:>6.1f}×  {same}")
    print(f"wanted: {WANTED:g}× and the same choice")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
