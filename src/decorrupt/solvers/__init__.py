"""Solvers for min risk(Zθ) + λ‖θ‖²; all return a SolverResult."""

from decorrupt.solvers.convexity import convexity_floor, is_minimum, least_admissible_reg
from decorrupt.solvers.gradient_descent import (
    DEFAULT_STEP_DECAY,
    DEFAULT_STEP_SIZE,
    GradientDescent,
    solve_gradient_descent,
)
from decorrupt.solvers.lbfgs import solve_lbfgs
from decorrupt.solvers.newton import solve_newton
from decorrupt.solvers.objective import Objective
from decorrupt.solvers.result import SolverResult
from decorrupt.solvers.solve import (
    DEFAULT_MAX_ITER,
    DEFAULT_TOL,
    SOLVERS,
    choose_solver,
    is_gradient_descent,
    solve,
    solve_path,
)

__all__ = [
    "DEFAULT_MAX_ITER",
    "DEFAULT_STEP_DECAY",
    "DEFAULT_STEP_SIZE",
    "DEFAULT_TOL",
    "SOLVERS",
    "GradientDescent",
    "Objective",
    "SolverResult",
    "choose_solver",
    "convexity_floor",
    "is_gradient_descent",
    "is_minimum",
    "least_admissible_reg",
    "solve",
    "solve_gradient_descent",
    "solve_lbfgs",
    "solve_newton",
    "solve_path",
]
