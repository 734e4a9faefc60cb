"""A λ path in the low-rank factor against six L-BFGS-B runs on the dense dual objective.

The baseline is what a careful user writes with scipy: the full Gram matrix, the dual coefficients,
L-BFGS-B (ftol 1e-5, 100 iterations, 80 corrections), a random start for every λ. Our time is from X
to the last solution, including the factor. Our objective must not be above the baseline's at any λ.
Both sides run on one thread; the best of three runs counts.
"""

import sys
import time

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from decorrupt import combine_strata, get_loss
from decorrupt.corruption import RiskTerms
from decorrupt.features import Kernel, fit_feature_map
from decorrupt.features.maps import DEFAULT_RANK_TOL
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import Objective, solve_path

ROWS, COLUMNS, BAG_SIZE = 5120, 10, 32
REG_STRENGTHS = [1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5]
TARGET = 8.0
# The same tolerance as the baseline's ftol.
OBJECTIVE_TOL = 1e-5
# The library's default, and the loosest of three values (1e-3, 4e-3, 6e-3) at which, on this
# problem, no objective is above the baseline's. The target is for the default.
RANK_TOLS = {"default": DEFAULT_RANK_TOL, "loosest": 6e-3}
RUNS = 3
LOSS = get_loss("logistic")


def problem(seed=0):
    X, y = make_classification(ROWS, COLUMNS, n_informative=6, random_state=seed)
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(seed).permutation(ROWS)
    bags = np.empty(ROWS, dtype=int)
    bags[order] = np.arange(ROWS) // BAG_SIZE
    shares = np.bincount(bags, y) / BAG_SIZE
    pos, neg = combine_strata(np.full(len(shares), BAG_SIZE), shares)
    return X, RiskTerms(pos[bags] / BAG_SIZE, neg[bags] / BAG_SIZE)


def dense_dual(X, terms):
    gram = rbf_kernel(X, gamma=1 / COLUMNS)
    rng = np.random.default_rng(0)
    found = []
    for reg_strength in REG_STRENGTHS:

        def objective(alpha, reg_strength=reg_strength):
            scores = gram @ alpha
            slope = terms.coef_pos * LOSS.slope(scores) - terms.coef_neg * LOSS.slope(-scores)
            value = terms.risk(LOSS, scores) + reg_strength * alpha @ scores
            return value, gram @ (slope + 2 * reg_strength * alpha)

        start = 0.01 * rng.standard_normal(ROWS)
        options = {"ftol": 1e-5, "maxiter": 100, "maxcor": 80}
        found.append(minimize(objective, start, jac=True, method="L-BFGS-B", options=options).fun)
    return found


def low_rank_path(X, terms, rank_tol):
    kernel = Kernel("rbf", 1 / COLUMNS)
    features = fit_feature_map(X, kernel, rank_tol=rank_tol, random_state=0)
    objective = Objective(features.matrix, CorrectedRisk(terms, LOSS), REG_STRENGTHS[0])
    path = solve_path(objective, REG_STRENGTHS, objective_tol=OBJECTIVE_TOL)
    return [result.objective for result in path], features.rank


def timed(function, *args):
    """Return the shortest time of several runs, and the result."""
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        result = function(*args)
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def main():
    X, terms = problem()
    seconds_theirs, theirs = timed(dense_dual, X, terms)
    print(f"dense dual: {seconds_theirs:.2f} s")
    reached = {}
    for name, rank_tol in RANK_TOLS.items():
        seconds, (ours, rank) = timed(low_rank_path, X, terms, rank_tol)
        ratio = seconds_theirs / seconds
        not_above = all(our <= their for our, their in zip(ours, theirs, strict=True))
        reached[name] = ratio >= TARGET and not_above
        print(f"{name} rank_tol {rank_tol:g}: {seconds:.2f} s at rank {rank}, ratio {ratio:.1f}×")
        print(f"    no objective above the baseline: {not_above}")
        for reg_strength, their, our in zip(REG_STRENGTHS, theirs, ours, strict=True):
            print(f"    λ {reg_strength:<6g} {their:>12.6f} {our:>12.6f}")
    print(f"target: {TARGET:g}×")
    return 0 if reached["default"] else 1


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
