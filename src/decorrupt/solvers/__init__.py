"""Solvers for min risk(Zθ) + λ‖θ‖²; all return a SolverResult."""

from decorrupt.solvers.calibration import SLOPE_PENALTY, fit_slope_and_shift
from decorrupt.solvers.convexity import convexity_floor, is_minimum, least_admissible_reg
from decorrupt.solvers.lbfgs import solve_lbfgs
from decorrupt.solvers.newton import solve_newton
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.problem import Problem, Solution, solve_problem, warm_path
from decorrupt.solvers.result import OUT_OF_STEPS, SolverResult
from decorrupt.solvers.solve import (
    DEFAULT_MAX_ITER,
    DEFAULT_TOL,
    SOLVERS,
    choose_solver,
    solve,
)
from decorrupt.solvers.starts import (
    from_intercept,
    from_mean_maps,
    from_sample,
    mean_map_start,
    prior_start,
    sample_of_bags,
)

__all__ = [
    "DEFAULT_MAX_ITER",
    "DEFAULT_TOL",
    "OUT_OF_STEPS",
    "SLOPE_PENALTY",
    "SOLVERS",
    "Objective",
    "Problem",
    "Solution",
    "SolverResult",
    "choose_solver",
    "convexity_floor",
    "fit_slope_and_shift",
    "from_intercept",
    "from_mean_maps",
    "from_sample",
    "is_minimum",
    "least_admissible_reg",
    "mean_map_start",
    "prior_start",
    "sample_of_bags",
    "solve",
    "solve_lbfgs",
    "solve_newton",
    "solve_problem",
    "warm_path",
]
