"""Maximum count likelihood with several starting points, for one λ or a λ path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logit

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, combine_strata, pooled_proportion
from decorrupt.losses import get_loss
from decorrupt.risks.corrected import CorrectedRisk
from decorrupt.risks.count import count_risk
from decorrupt.solvers.lbfgs import solve_lbfgs
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.result import SolverResult
from decorrupt.solvers.solve import DEFAULT_MAX_ITER, DEFAULT_TOL, choose_solver, solve

DEFAULT_STARTS = ("mean_map", "intercept")
COUNT_SOLVERS = ("auto", "lbfgs")
# A starting point does not need many digits.
START_TOL = 1e-3
START_MAX_ITER = 200
# The λ path from the intercept-only model down to the requested λ. Starting from smooth solutions
# gives lower objectives than starting directly at a small λ, at the same cost.
LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# Two starts whose objectives are this close have the same solution; the first start is reported.
SAME_OBJECTIVE = 1e-6

Minimize = Callable[[Objective, FloatArray], SolverResult]
Route = Callable[[Objective, Strata, Sequence[float], Minimize], dict[float, SolverResult]]


def mean_map_start(objective: Objective, strata: Strata) -> FloatArray:
    """Return the mean map, roughly: argmin_θ (1/n)Σ log(2cosh(f_j/2)) − ½⟨θ, m̂⟩ + λ‖θ‖².

    The problem is convex, and its score is the log-odds at the pooled prior. m̂ is the
    least-squares combination of bags for this prior.
    """
    combination = combine_strata(
        strata.sizes, strata.proportions, method="least_squares", target_prior="pooled"
    )
    risk = CorrectedRisk(combination.row_terms(strata), get_loss("logistic"))
    convex = replace(objective, risk=risk)
    start = intercept_start(objective, strata)
    return solve_lbfgs(convex, start, tol=START_TOL, max_iter=START_MAX_ITER).coef


def intercept_start(objective: Objective, strata: Strata) -> FloatArray:
    """Return θ = 0 and the intercept logit(γ̄), where γ̄ is the share of positives among all rows."""
    start = np.zeros(objective.n_coef)
    if objective.fit_intercept:
        start[-1] = logit(pooled_proportion(strata.sizes, strata.proportions))
    return start


def _from_mean_maps(
    objective: Objective, strata: Strata, reg_strengths: Sequence[float], minimize: Minimize
) -> dict[float, SolverResult]:
    """Start every λ at its own mean map, not at the solution of a larger λ."""
    problems = map(objective.with_reg_strength, set(reg_strengths))
    return {p.reg_strength: minimize(p, mean_map_start(p, strata)) for p in problems}


def _from_intercept(
    objective: Objective, strata: Strata, reg_strengths: Sequence[float], minimize: Minimize
) -> dict[float, SolverResult]:
    """Start the largest λ at the intercept only, and every other λ at the previous solution."""
    steps = {*reg_strengths}
    if not objective.risk.is_convex:
        steps |= {step for step in LADDER if step > max(reg_strengths)}
    coef = intercept_start(objective, strata)
    found = {}
    for reg_strength in sorted(steps, reverse=True):
        found[reg_strength] = minimize(objective.with_reg_strength(reg_strength), coef)
        coef = found[reg_strength].coef
    return found


STARTS: dict[str, Route] = {"mean_map": _from_mean_maps, "intercept": _from_intercept}


@dataclass(frozen=True)
class CountSolution:
    """The best of several starts at one λ.

    Attributes
    ----------
    start : str
        The name of the starting point.
    solver : str
        The name of the solver.
    result : SolverResult
        The solution.
    log_likelihood : float
        Σ_k log P(count_k) at the solution.
    """

    start: str
    solver: str
    result: SolverResult
    log_likelihood: float


def fit_count_path(
    features: Any,
    strata: Strata,
    reg_strengths: Sequence[float],
    *,
    fit_intercept: bool = True,
    starts: Sequence[str] = DEFAULT_STARTS,
    large_bags: float | str = "auto",
    proportion_noise: Any = 0.0,
    solver: str = "auto",
    tol: float = DEFAULT_TOL,
    objective_tol: float = 0.0,
    max_iter: int = DEFAULT_MAX_ITER,
) -> list[CountSolution]:
    """Return argmin_θ −(1/n)·Σ_k log P(count_k) + λ‖θ‖² for every λ, the best of several starts.

    The start "intercept" follows a path of decreasing λ from 0.1, or from the largest λ, and each
    λ starts at the previous solution. The start "mean_map" starts every λ at its own mean map. For
    each λ the solution with the smallest objective is kept. If every bag has one class only, the
    problem is convex (logistic regression) and one start is enough.

    Parameters
    ----------
    features : array or sparse matrix of shape (n_rows, rank)
        Z, with scores Zθ + b.
    strata : Strata
        The bags and their proportions.
    reg_strengths : sequence of float
        λ, in any order.
    fit_intercept : bool
        Whether there is an unpenalised b, the last coefficient.
    starts : sequence of {"mean_map", "intercept"}
        The starting points, at least one.
    large_bags, proportion_noise
        See :func:`count_risk`.
    solver : {"auto", "lbfgs"}
        Newton's method is not available, because the curvature is not implemented.
    tol, objective_tol, max_iter
        See :func:`solve`.
    """
    check_starts(starts)
    check_solver(solver)
    risk = count_risk(strata, large_bags=large_bags, proportion_noise=proportion_noise)
    objective = Objective(features, risk, max(reg_strengths), fit_intercept)
    if risk.is_convex:
        starts, solver = ["intercept"], choose_solver(solver, objective)
    else:
        solver = "lbfgs"

    def minimize(problem: Objective, start: FloatArray) -> SolverResult:
        return solve(
            problem,
            solver=solver,
            start=start,
            tol=tol,
            objective_tol=objective_tol,
            max_iter=max_iter,
        )

    found = {name: STARTS[name](objective, strata, reg_strengths, minimize) for name in starts}
    return [
        _best(
            {name: results[reg_strength] for name, results in found.items()},
            objective.with_reg_strength(reg_strength),
            solver,
        )
        for reg_strength in reg_strengths
    ]


def _best(results: dict[str, SolverResult], objective: Objective, solver: str) -> CountSolution:
    least = min(result.objective for result in results.values())
    start = next(name for name in results if results[name].objective <= least + SAME_OBJECTIVE)
    result = results[start]
    theta = result.coef[: objective.rank]
    risk = result.objective - objective.reg_strength * float(theta @ theta)
    return CountSolution(start, solver, result, -risk * objective.features.shape[0])


def check_starts(starts: Any) -> None:
    """Raise a ValueError unless `starts` holds one or more known names."""
    names = [starts] if isinstance(starts, str) else list(starts)
    unknown = [name for name in names if name not in STARTS]
    if isinstance(starts, str) or unknown or not names:
        raise ValueError(f"starts={starts!r}: give a list of one or more of {', '.join(STARTS)}")


def check_solver(solver: str) -> None:
    """Raise a ValueError if the solver needs the curvature."""
    if solver not in COUNT_SOLVERS:
        raise ValueError(
            f"solver={solver!r} is not available for the count likelihood, whose curvature is not "
            f"implemented: choose one of {', '.join(COUNT_SOLVERS)}"
        )
