"""Maximum count likelihood with several starting points, for one λ or a λ path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, combine_strata, pooled_proportion
from decorrupt.risks.corrected import logistic_risk
from decorrupt.risks.count import count_risk
from decorrupt.risks.observations import CountObservations
from decorrupt.solvers.lbfgs import solve_lbfgs
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.result import SolverResult
from decorrupt.solvers.solve import DEFAULT_MAX_ITER, DEFAULT_TOL, choose_solver, solve

AUTO_STARTS = "auto"
COUNT_SOLVERS = ("auto", "lbfgs")
# A starting point does not need many digits.
START_TOL = 1e-3
START_MAX_ITER = 200
# The λ path from the intercept-only model down to the requested λ. Starting from smooth solutions
# gives lower objectives than starting directly at a small λ, at the same cost.
LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# Two starts whose objectives are this close have the same solution; the first start is reported.
SAME_OBJECTIVE = 1e-6
# With twice as many rows or more, the starts are compared on a sample of bags with this many rows.
SAMPLE_ROWS = 20_000
MIN_SAMPLE_BAGS = 50

# The starts of "auto". At large λ both starts of several classes lead to one solution; at small λ
# the mean map leads to objectives far above those of the path from the intercept. Seen on
# make_classification and make_blobs data with 3 and 8 classes.
TWO_CLASSES_STARTS = ("mean_map", "intercept")
SEVERAL_CLASSES_STARTS = ("intercept",)

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
    convex = replace(objective, risk=logistic_risk(combination, strata))
    start = intercept_start(objective, strata)
    return solve_lbfgs(convex, start, tol=START_TOL, max_iter=START_MAX_ITER).coef


def intercept_start(objective: Objective, strata: Strata) -> FloatArray:
    """Return θ = 0 and the intercept logit(γ̄), where γ̄ is the share of positives among all rows.

    Several classes have the intercepts log γ̄_c.
    """
    start = np.zeros(objective.n_coef)
    pooled = pooled_proportion(strata.sizes, strata.proportions)
    if objective.fit_intercept:
        start[-np.size(pooled) :] = np.log(pooled) if strata.n_classes else logit(pooled)
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
    starts: Sequence[str] | str = AUTO_STARTS,
    large_bags: float | str = "auto",
    count_noise: Any = None,
    observations: CountObservations | None = None,
    solver: str = "auto",
    tol: float = DEFAULT_TOL,
    objective_tol: float = 0.0,
    max_iter: int = DEFAULT_MAX_ITER,
) -> list[CountSolution]:
    """Return argmin_θ −(1/n)·Σ_k log P(count_k) + λ‖θ‖² for every λ, the best of several starts.

    The start "intercept" follows a path of decreasing λ from 0.1, or from the largest λ, and each
    λ starts at the previous solution. The start "mean_map" starts every λ at its own mean map. For
    each λ the solution with the smallest objective is kept. If every bag has one class only, the
    problem is convex (logistic regression) and one start is enough. With many rows of two classes,
    all this is done for a sample of the bags, and all bags are fitted once per λ, from the
    solution of the sample.

    Parameters
    ----------
    features : array or sparse matrix of shape (n_rows, rank)
        Z, with scores Zθ + b.
    strata : Strata
        The bags and their proportions; the starting points use proportions in [0, 1].
    reg_strengths : sequence of float
        λ, in any order.
    fit_intercept : bool
        Whether there is an unpenalised b, the last coefficient.
    starts : "auto" or sequence of {"mean_map", "intercept"}
        The starting points, at least one. "auto" is both for two classes, and "intercept" for
        several.
    large_bags, count_noise, observations
        See :func:`count_risk`.
    solver : {"auto", "lbfgs"}
        Newton's method is not available, because the curvature is not implemented.
    tol, objective_tol, max_iter
        See :func:`solve`.
    """
    starts = starts_to_try(starts, several_classes=strata.n_classes is not None)
    check_solver(solver)
    risk = count_risk(
        strata, large_bags=large_bags, count_noise=count_noise, observations=observations
    )
    objective = Objective(features, risk, max(reg_strengths), fit_intercept, strata.n_classes)
    if risk.is_convex:
        starts, solver = ["intercept"], choose_solver(solver, objective)
    else:
        solver = "lbfgs"

    options: dict[str, Any] = {
        "solver": solver,
        "tol": tol,
        "objective_tol": objective_tol,
        "max_iter": max_iter,
    }

    def minimize(problem: Objective, start: FloatArray) -> SolverResult:
        return solve(problem, start=start, **options)

    sample = None if risk.is_convex else sample_of_bags(strata)
    if sample is not None:
        bags = np.unique(strata.row_stratum[sample])
        starts_by_reg = fit_count_path(
            features[sample],
            strata.take(sample),
            reg_strengths,
            fit_intercept=fit_intercept,
            starts=starts,
            large_bags=large_bags,
            count_noise=count_noise,
            observations=None if observations is None else observations.take(bags),
            **options,
        )
        return [
            _best({start.start: minimize(problem, start.result.coef)}, problem, solver)
            for start, problem in zip(
                starts_by_reg, map(objective.with_reg_strength, reg_strengths), strict=True
            )
        ]
    found = {name: STARTS[name](objective, strata, reg_strengths, minimize) for name in starts}
    return [
        _best(
            {name: results[reg_strength] for name, results in found.items()},
            objective.with_reg_strength(reg_strength),
            solver,
        )
        for reg_strength in reg_strengths
    ]


def sample_of_bags(strata: Strata) -> NDArray[np.intp] | None:
    """Return the rows of random bags, about SAMPLE_ROWS in total; None if all rows are not many.

    A sample of few bags, or of bags that all have the same proportion, is no start: None as well.
    """
    if strata.n_classes is not None or len(strata.row_stratum) < 2 * SAMPLE_ROWS:
        return None
    order = np.random.default_rng(0).permutation(len(strata.ids))
    taken = order[np.cumsum(strata.sizes[order]) <= SAMPLE_ROWS]
    if len(taken) < MIN_SAMPLE_BAGS or not np.ptp(strata.proportions[taken]):
        return None
    is_taken = np.zeros(len(order), dtype=bool)
    is_taken[taken] = True
    return np.flatnonzero(is_taken[strata.row_stratum])


def _best(results: dict[str, SolverResult], objective: Objective, solver: str) -> CountSolution:
    least = min(result.objective for result in results.values())
    start = next(name for name in results if results[name].objective <= least + SAME_OBJECTIVE)
    result = results[start]
    risk = result.objective - objective.penalty(result.coef)
    return CountSolution(start, solver, result, -risk * objective.features.shape[0])


def starts_to_try(starts: Any, *, several_classes: bool) -> list[str]:
    """Return the starts: as listed, or for "auto" those that help with this number of classes.

    Raises
    ------
    ValueError
        Unless `starts` is "auto" or contains one or more known names.
    """
    if isinstance(starts, str) and starts == AUTO_STARTS:
        return list(SEVERAL_CLASSES_STARTS if several_classes else TWO_CLASSES_STARTS)
    names = [] if isinstance(starts, str) else list(starts)
    if not names or any(name not in STARTS for name in names):
        known = ", ".join(STARTS)
        raise ValueError(f"starts={starts!r}: give 'auto' or a list of one or more of {known}")
    return names


def check_solver(solver: str) -> None:
    """Raise a ValueError if the solver needs the curvature."""
    if solver not in COUNT_SOLVERS:
        raise ValueError(
            f"solver={solver!r} is not available for the count likelihood, whose curvature is not "
            f"implemented: choose one of {', '.join(COUNT_SOLVERS)}"
        )
