"""Solvers for min risk(Zθ) + λ‖θ‖²; all return a SolverResult."""

from decorrupt.solvers.calibration import SLOPE_PENALTY, fit_slope_and_shift
from decorrupt.solvers.convexity import convexity_floor, is_minimum, least_admissible_reg
from decorrupt.solvers.lbfgs import SolverResult, solve_lbfgs
from decorrupt.solvers.newton import solve_newton
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.problem import (
    DEFAULT_MAX_ITER,
    DEFAULT_TOL,
    Problem,
    Solution,
    count_start,
    prior_start,
    sample_of_bags,
    solve,
    solve_problem,
)

__all__ = [
    "DEFAULT_MAX_ITER",
    "DEFAULT_TOL",
    "SLOPE_PENALTY",
    "Objective",
    "Problem",
    "Solution",
    "SolverResult",
    "convexity_floor",
    "count_start",
    "fit_slope_and_shift",
    "is_minimum",
    "least_admissible_reg",
    "prior_start",
    "sample_of_bags",
    "solve",
    "solve_lbfgs",
    "solve_newton",
    "solve_problem",
]
