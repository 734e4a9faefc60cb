"""Search of λ and kernel γ with shared features, against BagGridSearchCV on the same grid.

The bar is for 4,000 rows with the library's default grid of 6 λ; the count likelihood uses both
starts. Sharing features saves less with fewer rows: 1,600 rows are shown as well, with the default
grid and with 16 λ. The choice is the same if it is also the best of the grid search; otherwise the
table shows how far below the best it is, in standard errors. Starts that led to the same solution
count as the same choice. A quick run has 1,600 rows and the corrected loss alone.
"""

import warnings
from itertools import product

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagGridSearchCV,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
)
from decorrupt.model_selection.grids import DEFAULT_REG_STRENGTHS
from measuring import Figure, bagged, run, seconds_of

COLUMNS, BAG_SIZE = 10, 16
GRIDS = {"6 λ": list(DEFAULT_REG_STRENGTHS), "16 λ": np.logspace(-1, -6, 16).tolist()}
GAMMAS = [0.003, 0.03, 0.1]
# Rows, grid, seed; the bar is for the first, and for the second in a quick run.
PROBLEMS = ((4000, "6 λ", 0), (1600, "6 λ", 0), (1600, "16 λ", 0), (1600, "6 λ", 1))
BAR, QUICK_LIMIT = 5.0, 2.0
# Scores closer than this, in standard errors, are the same solution from two starts.
SAME_SOLUTION = 0.01


def data(n_rows, seed):
    X, labels = make_classification(n_rows, COLUMNS, n_informative=6, random_state=seed)
    return StandardScaler().fit_transform(X), *bagged(X, labels, BAG_SIZE, seed)


CASES = (
    (
        "corrected loss",
        CorrectedLossClassifier(fit_intercept=False),
        "corrected_accuracy",
    ),
    (
        "count likelihood",
        CountLikelihoodClassifier(),
        "count_log_likelihood",
    ),
)


def shortfall(search, chosen):
    """Return how far `chosen` is below the best score of the grid search, in standard errors."""
    results = search.cv_results_
    score = results["pooled_test_score"][results["params"].index(chosen)]
    return (search.best_score_ - score) / search.best_score_std_error_


def compare(problem, name, template, scoring, *, is_judged):
    """Yield the ratio of the times, and how far the choice is below the best of the grid search."""
    n_rows, label, seed = problem
    X, y, bags = data(n_rows, seed)
    paths = AutoLabelProportionsClassifier(
        candidates=[(name, template)],
        ensemble="best",
        reg_strengths=GRIDS[label],
        kernel_gammas=GAMMAS,
        scoring=scoring,
        random_state=0,
        check_assumptions=False,
    )
    template = clone(template).set_params(random_state=0)
    grid = {"kernel_gamma": GAMMAS, "reg_strength": GRIDS[label]}
    (seconds, path), (grid_seconds, search) = seconds_of(
        lambda: paths.fit(X, y, bags=bags),
        lambda: BagGridSearchCV(template, grid, scoring=scoring).fit(X, y, bags=bags),
        repeats=1,
    )
    below = shortfall(search, path.best_params_)
    choice = "same choice" if below <= SAME_SOLUTION else f"{below:.2f} std. errors below"
    yield Figure(
        f"grid search / paths, {n_rows:,} rows, {label}, seed {seed}, {name}",
        grid_seconds / seconds,
        at_least=BAR if is_judged else None,
        quick_limit=QUICK_LIMIT,
        note=f"{seconds:.1f} s; {choice}",
    )
    if is_judged:
        yield Figure(f"std. errors below the best, {name}", below, at_most=SAME_SOLUTION)


def measure(quick):
    warnings.simplefilter("ignore")
    judged = PROBLEMS[1] if quick else PROBLEMS[0]
    for problem, case in [(judged, CASES[0])] if quick else product(PROBLEMS, CASES):
        yield from compare(problem, *case, is_judged=problem == judged)


if __name__ == "__main__":
    run(measure)
