"""Where to start: the constant model, the mean map, and routes down a λ path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import combine_bags
from decorrupt.losses import prior_scores
from decorrupt.observed import Observed
from decorrupt.risks import logistic_risk
from decorrupt.solvers.lbfgs import solve_lbfgs
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.problem import Minimize, Problem, Route, Start, best_route, warm_path
from decorrupt.solvers.result import SolverResult

# A starting point does not need many digits.
START_TOL = 1e-3
START_MAX_ITER = 200
# The λ path from the intercept-only model down to the requested λ. Starting from smooth solutions
# gives lower objectives than starting directly at a small λ, at the same cost.
LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# With twice as many rows or more, the starts are compared on a sample of bags with this many rows.
SAMPLE_ROWS = 20_000
MIN_SAMPLE_BAGS = 50


def prior_start(class_prior: FloatArray) -> Start:
    """Return the start at θ = 0 with the intercept of the class prior."""

    def start(objective: Objective) -> FloatArray:
        coef = np.zeros(objective.n_coef)
        if objective.fit_intercept:
            objective.split(coef)[1][...] = prior_scores(class_prior)
        return coef

    return start


def mean_map_start(observed: Observed) -> Start:
    """Return the start at the mean map, roughly.

    It is argmin_θ (1/n)Σ log(2cosh(f_j/2)) − ½⟨θ, m̂⟩ + λ‖θ‖² for two classes: a convex problem.
    """

    def start(objective: Objective) -> FloatArray:
        combination = combine_bags(
            observed.sizes, observed.proportions, method="least_squares", class_prior="pooled"
        )
        convex = replace(objective, risk=logistic_risk(combination, observed))
        first = prior_start(observed.class_prior)(objective)
        return solve_lbfgs(convex, first, tol=START_TOL, max_iter=START_MAX_ITER).coef

    return start


def from_mean_maps(observed: Observed) -> Route:
    """Return the route that starts every λ at its own mean map, not at a larger λ's solution."""

    def route(
        objective: Objective, reg_strengths: Sequence[float], minimize: Minimize
    ) -> dict[float, SolverResult]:
        start = mean_map_start(observed)
        problems = map(objective.with_reg_strength, set(reg_strengths))
        return {one.reg_strength: minimize(one, start(one)) for one in problems}

    return route


def from_intercept(class_prior: FloatArray) -> Route:
    """Return the route that starts a large λ at the constant, and every other at the previous."""

    def route(
        objective: Objective, reg_strengths: Sequence[float], minimize: Minimize
    ) -> Mapping[float, SolverResult]:
        steps = [*reg_strengths]
        if not objective.risk.is_convex:
            steps += [step for step in LADDER if step > max(reg_strengths)]
        return warm_path(prior_start(class_prior))(objective, steps, minimize)

    return route


def from_sample(problem: Problem, rows: NDArray[np.intp]) -> Route:
    """Return the route that starts every λ at the solution for a sample of the rows."""

    def route(
        objective: Objective, reg_strengths: Sequence[float], minimize: Minimize
    ) -> dict[float, SolverResult]:
        small = replace(objective, features=objective.features[rows], risk=problem.risk)
        routes = problem.routes or {}
        found = {name: own(small, reg_strengths, minimize) for name, own in routes.items()}
        solutions = {}
        for value in set(reg_strengths):
            best = best_route({name: results[value] for name, results in found.items()})
            result = minimize(objective.with_reg_strength(value), found[best][value].coef)
            solutions[value] = replace(result, route=best)
        return solutions

    return route


def sample_of_bags(observed: Observed) -> NDArray[np.intp] | None:
    """Return the rows of random bags, about SAMPLE_ROWS in total; None if all rows are not many.

    Also None if the sample has under 50 bags or constant proportions.
    """
    if len(observed.row_bag) < 2 * SAMPLE_ROWS:
        return None
    order = np.random.default_rng(0).permutation(observed.n_bags)
    n_rows = np.bincount(observed.row_bag, minlength=observed.n_bags)  # whatever they represent
    taken = order[np.cumsum(n_rows[order]) <= SAMPLE_ROWS]
    if len(taken) < MIN_SAMPLE_BAGS or not np.ptp(observed.proportions[taken], axis=0).any():
        return None
    is_taken = np.zeros(len(order), dtype=bool)
    is_taken[taken] = True
    return np.flatnonzero(is_taken[observed.row_bag])
