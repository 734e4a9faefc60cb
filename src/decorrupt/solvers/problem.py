"""A method as a problem: a risk and where to start; solved along a λ path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from decorrupt._typing import FloatArray
from decorrupt.losses import prior_scores, prior_shift
from decorrupt.observed import Observed
from decorrupt.risks import ScoreRisk
from decorrupt.solvers.lbfgs import STALLED, SolverResult, solve_lbfgs
from decorrupt.solvers.newton import solve_newton
from decorrupt.solvers.objective import Objective

DEFAULT_TOL = 1e-6
DEFAULT_MAX_ITER = 1000
# A dense Hessian costs rank/2 passes over the features; L-BFGS takes some tens of passes in total.
NEWTON_COEFS = 64
# With more rows the Hessian does not fit into the cache, and L-BFGS is usually faster. After this
# many iterations it is not (columns of very different scale), and Newton's method continues.
NEWTON_ROWS = 20_000
LBFGS_STEPS = 60
# Newton's method ends what rounding stopped, if the spectrum of its Hessian is affordable.
MAX_HESSIAN_COEFS = 512
# A dense Hessian needs two copies of the features: no more than 400 MB each.
MAX_HESSIAN_ENTRIES = 50_000_000
# The λ path from the intercept-only model down to the requested λ. Starting from smooth solutions
# gives lower objectives than starting directly at a small λ, at the same cost.
LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# With twice as many rows or more, a sample of bags with this many rows is solved first.
SAMPLE_ROWS = 20_000
MIN_SAMPLE_BAGS = 50

Minimize = Callable[[Objective, FloatArray], SolverResult]
Start = Callable[[Objective, Minimize], FloatArray]


@dataclass(frozen=True)
class Problem:
    """What a method minimises: risk(Zθ + b) + λ‖θ‖² over features Z.

    Parameters
    ----------
    risk : ScoreRisk
        A smooth function of the scores.
    n_rows : float
        How many labelled rows the risk is worth, for the default λ.
    start : callable, optional
        From the objective at the largest λ, and a function that minimises, to the coefficients at
        which the solver starts; by default zero. Smaller λ start at the solution before.
    match_prior : ndarray of shape (n_classes,), optional
        The intercept is shifted so that the mean probabilities of the rows are these.
    """

    risk: ScoreRisk
    n_rows: float
    start: Start | None = None
    match_prior: FloatArray | None = None


@dataclass(frozen=True)
class Solution:
    """The solution at one λ: how it was found, and the objective."""

    result: SolverResult
    objective: Objective

    @property
    def risk_value(self) -> float:
        """The risk without the penalty."""
        penalty, _ = self.objective.penalty_and_slope(self.result.coef)
        return self.result.objective - penalty

    @cached_property
    def scores(self) -> FloatArray:
        """The scores of the training rows."""
        return self.objective.scores(self.result.coef)


def solve_problem(
    problem: Problem,
    features: Any,
    reg_strengths: Sequence[float],
    *,
    n_classes: int,
    fit_intercept: bool,
    **options: Any,
) -> list[Solution]:
    """Return argmin_θ risk(Zθ + b) + λ‖θ‖² for every λ, from the largest to the smallest.

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
    options
        See :func:`solve`.
    """
    minimize: Minimize = partial(solve, **options)
    steps = sorted(set(reg_strengths), reverse=True)
    objective = Objective(features, problem.risk, steps[0], fit_intercept, n_classes)
    coef: FloatArray = np.zeros(objective.n_coef)
    if problem.start is not None:
        coef = problem.start(objective, minimize)
    solutions = {}
    for step in steps:
        here = replace(objective, reg_strength=step)
        result = minimize(here, coef)
        coef = result.coef
        if problem.match_prior is not None and fit_intercept:
            shifted = coef.copy()
            weights = getattr(problem.risk, "weights", None)
            here.split(shifted)[1][...] += prior_shift(
                here.scores(coef), problem.match_prior, weights
            )
            result = replace(result, coef=shifted)
        solutions[step] = Solution(result, here)
    return [solutions[step] for step in reg_strengths]


def solve(
    objective: Objective,
    start: FloatArray | None = None,
    *,
    tol: float = DEFAULT_TOL,
    objective_tol: float = 0.0,
    max_iter: int = DEFAULT_MAX_ITER,
) -> SolverResult:
    """Return argmin_θ J(θ): Newton for few coefficients and rows, otherwise L-BFGS.

    Newton's method also continues where rounding of the objective stops L-BFGS early, or where
    L-BFGS takes more than 60 iterations for few coefficients. For several classes it is always
    L-BFGS. This function does not warn: the caller checks `status`.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    start : ndarray of shape (n_coef,), optional
        The starting point; zero by default.
    tol : float
        The gradient norm to reach.
    objective_tol : float
        Also stop if a convex J is within this distance of its minimum: λ‖θ‖² makes J strongly
        convex, so J − min J ≤ ‖∇J‖²/(4λ). The same value is suitable for a whole λ path.
    max_iter : int
        Maximum number of iterations.
    """
    start = np.zeros(objective.n_coef) if start is None else start
    tol = max(tol, 2 * np.sqrt(objective_tol * objective.reg_strength))
    if objective.features.dtype == np.float32:
        tol = max(tol, _gradient_rounding(objective, start))
    is_small = objective.has_curvature and objective.n_coef <= NEWTON_COEFS
    if is_small and objective.features.shape[0] <= NEWTON_ROWS:
        result = solve_newton(objective, start, tol=tol, max_iter=max_iter)
        return replace(result, gradient_tol=tol)
    steps = min(max_iter, LBFGS_STEPS) if is_small else max_iter
    result = solve_lbfgs(objective, start, tol=tol, max_iter=steps)
    has_spectrum = objective.n_coef <= MAX_HESSIAN_COEFS
    is_affordable = objective.n_coef * objective.features.shape[0] <= MAX_HESSIAN_ENTRIES
    may_continue = objective.has_curvature and has_spectrum and is_affordable
    if may_continue and (result.status == STALLED or (is_small and not result.converged)):
        # It has no line search that rounding can stop.
        left = max(max_iter - result.n_iter, 0)
        rest = solve_newton(objective, result.coef, tol=tol, max_iter=left)
        history = np.concatenate([result.objective_history, rest.objective_history[1:]])
        result = replace(rest, objective_history=history)
    return replace(result, gradient_tol=tol)


def _gradient_rounding(objective: Objective, start: FloatArray) -> float:
    """Return the ‖∇J‖ below which a further decrease of J is smaller than its rounding.

    J has the relative precision ε, so near a minimum the gradient has the precision √ε relative to
    its size, ‖Zᵀ·slope‖ ≤ ‖Z‖·‖slope‖.
    """
    _, slope = objective.risk.value_and_slope(objective.scores(start))
    features = objective.features
    values = features.data if issparse(features) else features
    size = np.linalg.norm(values) * np.linalg.norm(slope)
    return float(np.sqrt(np.finfo(features.dtype).eps) / 4 * size)


def prior_start(class_prior: FloatArray) -> Start:
    """Return the start at θ = 0 with the intercept of the class prior."""

    def start(objective: Objective, minimize: Minimize) -> FloatArray:  # noqa: ARG001
        coef = np.zeros(objective.n_coef)
        if objective.fit_intercept:
            objective.split(coef)[1][...] = prior_scores(class_prior)
        return coef

    return start


def count_start(
    objective: Objective,
    minimize: Minimize,
    *,
    observed: Observed,
    risk_of: Callable[[Observed], ScoreRisk],
) -> FloatArray:
    """Return the start of the count likelihood: the intercept alone, then down a path of λ.

    Of two classes and many rows, a sample of bags is solved first, down to the same λ.

    Parameters
    ----------
    objective : Objective
        That of all rows.
    minimize : callable
        From an objective and a start to a SolverResult.
    observed : Observed
        The bags.
    risk_of : callable
        From bags to their risk.
    """
    start = prior_start(observed.class_prior)(objective, minimize)
    if objective.risk.is_convex:
        return start
    rows = sample_of_bags(observed) if objective.n_classes == 2 else None
    if rows is not None:
        part = risk_of(observed.take(rows))
        objective = replace(objective, features=objective.features[rows], risk=part)
    for step in (step for step in LADDER if step > objective.reg_strength):
        start = minimize(replace(objective, reg_strength=step), start).coef
    return start if rows is None else minimize(objective, start).coef


def sample_of_bags(observed: Observed) -> NDArray[np.intp] | None:
    """Return the rows of random bags, about SAMPLE_ROWS in total; None if all rows are not many.

    Also None if the sample has under 50 bags or constant proportions.
    """
    if len(observed.row_bag) < 2 * SAMPLE_ROWS:
        return None
    order = np.random.default_rng(0).permutation(observed.n_bags)
    n_rows = np.bincount(observed.row_bag, minlength=observed.n_bags)
    taken = order[np.cumsum(n_rows[order]) <= SAMPLE_ROWS]
    if len(taken) < MIN_SAMPLE_BAGS or not np.ptp(observed.proportions[taken], axis=0).any():
        return None
    is_taken = np.zeros(len(order), dtype=bool)
    is_taken[taken] = True
    return np.flatnonzero(is_taken[observed.row_bag])
