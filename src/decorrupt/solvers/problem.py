"""A method as a problem: a risk, where to start, and a link; solved for one λ or a λ path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.losses import prior_shift
from decorrupt.risks import ScoreRisk
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.result import SolverResult
from decorrupt.solvers.solve import choose_solver, solve

Start = Callable[[Objective], FloatArray]
Minimize = Callable[[Objective, FloatArray], SolverResult]
Route = Callable[[Objective, Sequence[float], Minimize], Mapping[float, SolverResult]]
# Two starts whose objectives are this close have the same solution; the first start is reported.
SAME_OBJECTIVE = 1e-6


@dataclass(frozen=True)
class Problem:
    """What a method minimises: risk(Zθ + b) + λ‖θ‖² over features Z.

    Parameters
    ----------
    risk : ScoreRisk
        A smooth function of the scores.
    start : callable, optional
        From an objective to the coefficients at which the solver starts; by default zero. The
        other λ of a path start at the solution of the next larger one.
    routes : mapping of str to callable, optional
        Several ways to all solutions of a path, of which the best is taken for each λ; instead of
        `start`.
    link : callable, optional
        From the scores Zθ + b to log-odds, if they are not.
    class_prior : ndarray of shape (n_classes,), optional
        The class shares in the population that the scores describe, if computing the
        problem found them; by default :meth:`KernelClassifier.class_prior_of` says which.
    match_prior : ndarray of shape (n_classes,), optional
        The intercept is shifted so that the mean probabilities of the rows are these.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents, for `match_prior`; the risk has its own.
    n_rows : float, optional
        How many labelled rows the risk is worth, for the default λ; by default all rows.
    details : mapping
        What the estimator stores about the method, such as an estimated bag effect.
    """

    risk: ScoreRisk
    start: Start | None = None
    routes: Mapping[str, Route] | None = None
    link: Callable[[FloatArray], FloatArray] | None = None
    class_prior: FloatArray | None = None
    match_prior: FloatArray | None = None
    weights: Any = None
    n_rows: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Solution:
    """The solution at one λ.

    Attributes
    ----------
    result : SolverResult
        The coefficients and how they were found.
    objective : Objective
        The objective at this λ.
    solver, route : str
        The solver, and the best of the problem's routes, or of those compared on a sample.
    """

    result: SolverResult
    objective: Objective
    solver: str
    route: str

    @property
    def risk_value(self) -> float:
        """The risk without the penalty."""
        return self.result.objective - self.objective.penalty(self.result.coef)

    @cached_property
    def scores(self) -> FloatArray:
        """The scores of the training rows."""
        return self.objective.scores(self.result.coef)


def warm_path(start: Start | None) -> Route:
    """Return the route that starts the largest λ at `start`, every other at the previous one."""

    def route(
        objective: Objective, reg_strengths: Sequence[float], minimize: Minimize
    ) -> dict[float, SolverResult]:
        steps = sorted(set(reg_strengths), reverse=True)
        first = objective.with_reg_strength(steps[0])
        coef = np.zeros(objective.n_coef) if start is None else start(first)
        found = {}
        for reg_strength in steps:
            found[reg_strength] = minimize(objective.with_reg_strength(reg_strength), coef)
            coef = found[reg_strength].coef
        return found

    return route


def solve_problem(
    problem: Problem,
    features: Any,
    reg_strengths: Sequence[float],
    *,
    n_classes: int,
    fit_intercept: bool,
    solver: Any = "auto",
    **options: Any,
) -> list[Solution]:
    """Return argmin_θ risk(Zθ + b) + λ‖θ‖² for every λ.

    Parameters
    ----------
    problem : Problem
        The method.
    features : ndarray or sparse matrix of shape (n_rows, rank)
        Z.
    reg_strengths : sequence of float
        The λ, in any order.
    n_classes, fit_intercept
        See :class:`Objective`.
    solver, options
        See :func:`solve`.
    """
    objective = Objective(features, problem.risk, max(reg_strengths), fit_intercept, n_classes)
    name = choose_solver(solver, objective)

    def minimize(one: Objective, start: FloatArray) -> SolverResult:
        return solve(one, solver=solver, start=start, **options)

    routes = problem.routes or {"start": warm_path(problem.start)}
    found = {key: route(objective, reg_strengths, minimize) for key, route in routes.items()}
    solutions = []
    for reg_strength in reg_strengths:
        by_route = {key: results[reg_strength] for key, results in found.items()}
        best = best_route(by_route)
        here = objective.with_reg_strength(reg_strength)
        result = _with_prior(by_route[best], here, problem)
        solutions.append(Solution(result, here, name, result.route or best))
    return solutions


def best_route(by_route: Mapping[str, SolverResult]) -> str:
    """Return the first route whose solution is as good as the best."""
    least = min(result.objective for result in by_route.values())
    return next(k for k, one in by_route.items() if one.objective <= least + SAME_OBJECTIVE)


def _with_prior(result: SolverResult, objective: Objective, problem: Problem) -> SolverResult:
    """Return the solution with an intercept that matches the class prior, if it is given."""
    class_prior = problem.match_prior
    if class_prior is None or not objective.fit_intercept:
        return result
    coef = result.coef.copy()
    _, intercept = objective.split(coef)
    intercept += prior_shift(objective.scores(coef), class_prior, problem.weights)
    return replace(result, coef=coef)
