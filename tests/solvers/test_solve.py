"""Solver dispatch: names, warnings, histories."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from decorrupt.solvers import SOLVERS, choose_solver, solve
from oracles.dense_risk import make_objective, never_rises, pair_coefs
from oracles.solved_problems import SOLVED, logistic_regression


def bags(n_columns=5, *, dtype=float, **options):
    features = np.random.default_rng(0).normal(size=(40, n_columns)).astype(dtype)
    return make_objective(features, *pair_coefs(20, 20), reg_strength=0.05, **options)


def test_an_unknown_solver_is_told_the_known_ones():
    with pytest.raises(ValueError, match="unknown solver 'sgd'") as error:
        solve(bags(), solver="sgd")
    assert all(name in str(error.value) for name in ("auto", *SOLVERS))


def test_auto_takes_newton_for_few_coefficients_and_lbfgs_for_many():
    assert choose_solver("auto", bags(5)) == "newton"
    assert choose_solver("auto", bags(2000)) == "lbfgs"
    assert [choose_solver(name, bags()) for name in SOLVERS] == list(SOLVERS)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_all_solvers_agree_on_an_easy_problem(fit_intercept):
    objective, optimum = logistic_regression(fit_intercept=fit_intercept)
    for name in SOLVERS:
        result = solve(objective, solver=name, tol=1e-7)
        assert_allclose(result.coef, optimum, atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_too_few_steps_are_a_status_and_not_a_warning(solver):
    objective, _ = SOLVED["dual, more columns than rows"]()
    start = np.full(objective.n_coef, 10.0)
    result = solve(objective, solver=solver, start=start, max_iter=1, tol=1e-10)
    assert not result.converged
    assert "stopped after 1 iterations, max_iter reached" in result.advice
    assert "required 1e-10. Increase max_iter" in result.advice


@pytest.mark.parametrize("problem", ["convex", "not convex", "corrected"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_result_is_consistent_with_itself(solver, problem):
    objective = {
        "convex": lambda: logistic_regression(fit_intercept=True)[0],
        "not convex": lambda: bags(fit_intercept=True),
        "corrected": lambda: bags(correction="abs"),
    }[problem]()
    start = np.random.default_rng(1).normal(size=objective.n_coef)
    kept = start.copy()
    result = solve(objective, solver=solver, start=start)
    value, gradient = objective.value_and_gradient(result.coef)
    assert result.coef.shape == (objective.n_coef,)
    assert result.coef.dtype == np.float64
    assert_allclose(result.objective, value, rtol=1e-12)
    assert_allclose(result.gradient_norm, np.linalg.norm(gradient), rtol=1e-8)
    assert result.objective_history.shape == (result.n_iter + 1,)
    assert_allclose(result.objective_history[0], objective.value_and_gradient(start)[0], rtol=1e-12)
    assert result.converged
    assert_array_equal(start, kept)
    assert result.gradient_norm <= 1e-6
    assert never_rises(result.objective_history)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_start_is_zero_unless_given(solver):
    objective = bags()
    first = solve(objective, solver=solver, max_iter=200).objective_history[0]
    assert first == objective.value_and_gradient(np.zeros(5))[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_at_the_minimum_takes_no_steps(solver):
    objective, optimum = SOLVED["logistic"]()
    result = solve(objective, solver=solver, start=optimum, tol=1e-8)
    assert result.n_iter == 0
    assert_array_equal(result.coef, optimum)


@pytest.mark.parametrize("n_columns", [5, 600])
@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision_converges_without_a_warning(solver, n_columns):
    double = solve(bags(n_columns), solver=solver)
    single = solve(bags(n_columns, dtype=np.float32), solver=solver)
    assert single.converged
    assert_allclose(single.objective, double.objective, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("objective_tol", [1e-3, 1e-5])
def test_objective_tol_bounds_the_distance_from_the_minimum(solver, objective_tol):
    objective, _ = logistic_regression()
    for reg_strength in (0.1, 1e-3, 1e-5):
        problem = objective.with_reg_strength(reg_strength)
        least = solve(problem, solver="newton", tol=1e-10).objective
        rough = solve(problem, solver=solver, tol=1e-10, objective_tol=objective_tol)
        assert rough.converged
        assert rough.gradient_norm <= 2 * np.sqrt(reg_strength * objective_tol)
        assert rough.objective - least <= objective_tol


@pytest.mark.parametrize(
    ("loss", "reg_strength", "fit_intercept"),
    [("squared", 0.01, False), ("squared", 0.01, True), ("logistic", 0.0, False)],
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_objective_that_falls_for_ever_is_reported(solver, loss, reg_strength, fit_intercept):
    rng = np.random.default_rng(0)
    features = 2 * rng.normal(size=(40, 3)) + np.repeat([[3.0], [0.0]], 20, axis=0)
    objective = make_objective(
        features, *pair_coefs(20, 20), loss, reg_strength, fit_intercept=fit_intercept
    )
    result = solve(objective, solver=solver)  # no warning: they are errors here
    assert not result.converged


@pytest.mark.parametrize("solver", SOLVERS)
def test_features_without_columns_have_nothing_to_solve(solver):
    # The features of a kernel that is zero on all rows.
    objective = make_objective(np.zeros((40, 0)), *pair_coefs(20, 20), reg_strength=0.1)
    result = solve(objective, solver=solver)
    assert result.converged
    assert result.coef.shape == (0,)


def test_auto_takes_lbfgs_for_many_rows_and_continues_with_newton(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)) * [1, 1e2, 1e-2, 1e3, 1]
    labels = rng.random(400) < 1 / (1 + np.exp(-X @ [1, 1e-2, 1e2, 1e-3, 0]))
    objective = make_objective(X, labels / 400, ~labels / 400, "logistic", 1e-9)
    assert choose_solver("auto", objective) == "newton"
    module = sys.modules["decorrupt.solvers.solve"]  # the package has a function of this name
    monkeypatch.setattr(module, "AUTO_NEWTON_ROWS", 399)
    assert choose_solver("auto", objective) == "lbfgs"
    monkeypatch.setattr(module, "AUTO_LBFGS_STEPS", 4)
    assert not solve(objective, solver="lbfgs", max_iter=4).converged
    found = solve(objective)
    assert found.converged
    assert 4 < found.n_iter < 60
    assert_allclose(found.coef, solve(objective, solver="newton").coef, rtol=1e-3)
    assert solve(objective, max_iter=4).n_iter == 4
