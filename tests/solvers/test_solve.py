"""The choice of a solver, and what all solvers promise: status, history, precision."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from decorrupt.solvers import problem, solve, solve_lbfgs, solve_newton
from oracles.dense_risk import make_objective, never_rises, pair_coefs
from oracles.solved_problems import SOLVED, logistic_regression

SOLVERS = {"newton": solve_newton, "lbfgs": solve_lbfgs}
for_both = pytest.mark.parametrize("method", SOLVERS.values(), ids=SOLVERS)


def bags(n_columns=5, *, dtype=float, **options):
    features = np.random.default_rng(0).normal(size=(40, n_columns)).astype(dtype)
    return make_objective(features, *pair_coefs(20, 20), reg_strength=0.05, **options)


def run(method, objective, start=None, *, tol=1e-6, max_iter=1000):
    start = np.zeros(objective.n_coef) if start is None else start
    return method(objective, start, tol=tol, max_iter=max_iter)


@for_both
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_an_easy_problem(fit_intercept, method):
    objective, optimum = logistic_regression(fit_intercept=fit_intercept)
    assert_allclose(run(method, objective, tol=1e-7).coef, optimum, atol=1e-5)
    assert_allclose(solve(objective, tol=1e-7).coef, optimum, atol=1e-5)


def test_too_few_steps_are_a_status_with_advice():
    objective, _ = SOLVED["dual, more columns than rows"]()
    result = solve(objective, np.full(objective.n_coef, 10.0), max_iter=1, tol=1e-10)
    assert not result.converged
    assert "stopped after 1 iterations, max_iter reached" in result.advice
    assert "required 1e-10. Increase max_iter" in result.advice


@pytest.mark.parametrize("kind", ["convex", "not convex", "corrected"])
@for_both
def test_the_result_is_consistent_with_itself(method, kind):
    objective = {
        "convex": lambda: logistic_regression(fit_intercept=True)[0],
        "not convex": lambda: bags(fit_intercept=True),
        "corrected": lambda: bags(correction="abs"),
    }[kind]()
    start = np.random.default_rng(1).normal(size=objective.n_coef)
    kept = start.copy()
    result = run(method, objective, start)
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


def test_the_start_is_zero_unless_given():
    objective = bags()
    assert solve(objective).objective_history[0] == objective.value_and_gradient(np.zeros(5))[0]


@for_both
def test_a_start_at_the_minimum_takes_no_steps(method):
    objective, optimum = SOLVED["logistic"]()
    result = run(method, objective, optimum, tol=1e-8)
    assert result.n_iter == 0
    assert_array_equal(result.coef, optimum)


@pytest.mark.parametrize("n_columns", [5, 600])
def test_single_precision_converges(n_columns):
    double, single = solve(bags(n_columns)), solve(bags(n_columns, dtype=np.float32))
    assert single.converged
    assert_allclose(single.objective, double.objective, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_newton_rows", [0, 20_000], ids=["lbfgs", "newton"])
@pytest.mark.parametrize("objective_tol", [1e-3, 1e-5])
def test_objective_tol_bounds_the_distance_from_the_minimum(
    objective_tol, n_newton_rows, monkeypatch
):
    monkeypatch.setattr(problem, "NEWTON_ROWS", n_newton_rows)
    objective, _ = logistic_regression()
    for reg_strength in (0.1, 1e-3, 1e-5):
        here = replace(objective, reg_strength=reg_strength)
        least = run(solve_newton, here, tol=1e-10).objective
        rough = solve(here, tol=1e-10, objective_tol=objective_tol)
        assert rough.converged
        assert rough.gradient_norm <= 2 * np.sqrt(reg_strength * objective_tol)
        assert rough.objective - least <= objective_tol


@pytest.mark.parametrize(
    ("loss", "reg_strength", "fit_intercept"),
    [("squared", 0.01, False), ("squared", 0.01, True), ("logistic", 0.0, False)],
)
@for_both
def test_an_objective_that_falls_for_ever_is_reported(method, loss, reg_strength, fit_intercept):
    rng = np.random.default_rng(0)
    features = 2 * rng.normal(size=(40, 3)) + np.repeat([[3.0], [0.0]], 20, axis=0)
    objective = make_objective(
        features, *pair_coefs(20, 20), loss, reg_strength, fit_intercept=fit_intercept
    )
    assert not run(method, objective).converged  # no warning: they are errors here


@for_both
def test_features_without_columns_have_nothing_to_solve(method):
    # The features of a kernel that is zero on all rows.
    objective = make_objective(np.zeros((40, 0)), *pair_coefs(20, 20), reg_strength=0.1)
    for result in (run(method, objective), solve(objective)):
        assert result.converged
        assert result.coef.shape == (0,)


def calls(monkeypatch):
    """Return the list of solvers that `solve` will have called."""
    called = []
    for name, method in SOLVERS.items():

        def counted(*args, name=name, method=method, **options):
            called.append(name)
            return method(*args, **options)

        monkeypatch.setattr(problem, f"solve_{name}", counted)
    return called


def test_newton_for_few_coefficients_of_two_classes_and_lbfgs_for_many(monkeypatch):
    called = calls(monkeypatch)
    solve(bags(5))
    solve(bags(600))
    assert called == ["newton", "lbfgs"]


def test_lbfgs_for_many_rows_is_continued_by_newton(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)) * [1, 1e2, 1e-2, 1e3, 1]
    labels = rng.random(400) < 1 / (1 + np.exp(-X @ [1, 1e-2, 1e2, 1e-3, 0]))
    objective = make_objective(X, labels / 400, ~labels / 400, "logistic", 1e-9)
    expected = run(solve_newton, objective).coef
    called = calls(monkeypatch)
    monkeypatch.setattr(problem, "NEWTON_ROWS", 399)
    monkeypatch.setattr(problem, "LBFGS_STEPS", 4)
    result = solve(objective)
    assert called == ["lbfgs", "newton"]
    assert result.converged
    assert 4 < result.n_iter < 60
    assert_allclose(result.coef, expected, rtol=1e-3)
    assert solve(objective, max_iter=4).n_iter == 4
