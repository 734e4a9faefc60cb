"""The choice of a solver, and what all solvers promise: status, history, precision."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from decorrupt.solvers import problem, solve, solve_lbfgs, solve_newton
from oracles.dense_kernel import gram
from oracles.dense_risk import make_objective, mirrored_bags, never_rises, pair_coefs
from oracles.solved_problems import SOLVED, logistic_regression

SOLVERS = {"newton": solve_newton, "lbfgs": solve_lbfgs}
for_both = pytest.mark.parametrize("method", SOLVERS.values(), ids=SOLVERS)


def bags(n_columns=5, *, dtype=float, **options):
    features = np.random.default_rng(0).normal(size=(40, n_columns)).astype(dtype)
    return make_objective(features, *pair_coefs(20, 20), reg_strength=0.05, **options)


def run(method, objective, start=None, *, tol=1e-6, max_iter=1000):
    start = np.zeros(objective.n_coef) if start is None else start
    return method(objective, start, tol=tol, max_iter=max_iter)


# The gradient and the distance from the minimum that are asked for. Below 1e-7, rounding stops the
# line search of L-BFGS, which compares objective values.
PRECISION = {"newton": (1e-10, 1e-8), "lbfgs": (1e-7, 1e-5)}


@pytest.mark.parametrize("known", SOLVED)
@pytest.mark.parametrize("name", SOLVERS)
def test_the_known_minimum_is_found(name, known):
    objective, optimum = SOLVED[known]()
    tol, distance = PRECISION[name]
    result = run(SOLVERS[name], objective, tol=tol, max_iter=5000)
    assert result.status == "converged"
    assert_allclose(result.coef, optimum, atol=distance * np.abs(optimum).max())
    assert_allclose(result.objective, objective.value_and_gradient(optimum)[0], rtol=1e-11)


@for_both
def test_the_minimum_is_found_from_far_away_and_with_sparse_features(method):
    objective, optimum = logistic_regression(fit_intercept=True)
    objective = replace(objective, features=sparse.csr_matrix(objective.features))
    start = np.full(objective.n_coef, 30.0)
    assert_allclose(run(method, objective, start, tol=1e-7).coef, optimum, atol=1e-5)


@for_both
@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_no_more_steps_are_made_than_allowed(method, max_iter):
    objective, _ = SOLVED["dual, more columns than rows"]()
    start = np.full(objective.n_coef, 10.0)
    result = run(method, objective, start, tol=1e-10, max_iter=max_iter)
    assert result.status == "max_iter reached"
    assert result.n_iter == max_iter
    assert len(result.objective_history) == max_iter + 1
    assert result.gradient_norm > 1e-10


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


# --- Newton's method: never a saddle point


TOL = 1e-10


run_newton = partial(run, solve_newton, tol=TOL, max_iter=500)


def least_curvature(objective, coef):
    return np.linalg.eigvalsh(objective.hessian(coef))[0]


def assert_minimum(objective, result):
    """Assert zero gradient, no negative curvature and a decreasing history."""
    assert result.status == "converged"
    assert np.linalg.norm(objective.value_and_gradient(result.coef)[1]) <= TOL
    assert least_curvature(objective, result.coef) > -1e-9
    assert never_rises(result.objective_history)


@pytest.mark.parametrize("correction", [None, "relu"])
def test_many_coefficients_go_to_the_minimum_of_lbfgs(correction):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(150, 600)) / np.sqrt(600)
    coefs = pair_coefs(75, 75, 0.8, 0.3)
    objective = make_objective(features, *coefs, "logistic", 0.02, correction=correction)
    start = np.zeros(600)
    fast = solve_newton(objective, start, tol=1e-8, max_iter=500)
    other = solve_lbfgs(objective, start, tol=1e-8, max_iter=5000)
    assert fast.status == other.status == "converged"
    assert_allclose(fast.coef, other.coef, atol=1e-6)
    assert_allclose(fast.objective, other.objective, rtol=1e-10)


def two_minima(n_coef, *, loss="logistic", reg_strength=1e-2):
    """Return the design's example: equal bags of proportions .9 and .6, both centred at zero."""
    features = mirrored_bags(n_coef)
    return make_objective(features, *pair_coefs(8, 8), loss, reg_strength)


@pytest.mark.parametrize("loss", ["logistic", "huber"])
@pytest.mark.parametrize("n_coef", [8, 600])
def test_it_leaves_an_exact_saddle(n_coef, loss):
    objective = two_minima(n_coef, loss=loss)
    value, gradient = objective.value_and_gradient(np.zeros(n_coef))
    assert np.linalg.norm(gradient) < 1e-16
    assert least_curvature(objective, np.zeros(n_coef)) < -1e-2
    result = run_newton(objective)
    assert_minimum(objective, result)
    assert result.objective < value - 0.1


def test_it_does_not_end_at_a_saddle_it_walks_into():
    # Along the last two axes J bends upwards, and by symmetry has no slope across them.
    features = np.zeros((16, 6))
    wide, narrow = 3 * np.eye(6)[:4], np.vstack([np.eye(6)[4:], 0.3 * np.eye(6)[4:]])
    features[:4], features[4:8], features[8:12], features[12:] = wide, -wide, narrow, -narrow
    objective = make_objective(features, *pair_coefs(8, 8), "logistic", 1e-2)
    start = np.array([0.0, 0.0, 0.0, 0.0, 2.0, -1.0])
    result = run_newton(objective, start=start)
    assert_minimum(objective, result)
    assert result.objective < objective.value_and_gradient(np.zeros(6))[0] - 0.1


def test_the_two_minima_have_opposite_classifiers():
    objective = two_minima(8)
    towards = np.eye(8)[0]
    results = [run_newton(objective, start=sign * towards) for sign in (1, -1)]
    for result in results:
        assert_minimum(objective, result)
    scores = [objective.scores(result.coef) for result in results]
    assert_allclose(results[0].objective, results[1].objective, rtol=1e-9)
    assert (scores[0][:8] * scores[1][:8] < 0).any()


@pytest.mark.parametrize("loss", ["logistic", "huber", "sigmoid"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_bags_that_bend_downwards_end_at_a_minimum(kernel, loss):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3)) + np.repeat([[0.4], [-0.4]], 30, axis=0)
        features = (
            X
            if kernel == "linear"
            else np.linalg.cholesky(gram(X, X, "rbf", 0.5) + 1e-9 * np.eye(60))
        )
        objective = make_objective(features, *pair_coefs(30, 30), loss, 1e-2)
        assert not objective.risk.is_convex
        assert_minimum(objective, run_newton(objective))


@pytest.mark.parametrize("correction", ["abs", "relu"])
def test_corrected_sums_end_at_a_minimum(correction):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 8))
    coefs = pair_coefs(30, 30)
    objective = make_objective(features, *coefs, "logistic", 1e-2, correction=correction)
    result = run_newton(objective)
    assert least_curvature(objective, result.coef) > -1e-9
    assert result.gradient_norm < 1e-8


@pytest.mark.parametrize("max_iter", [1, 2, 4, 8])
def test_cut_short_between_two_minima_it_still_never_rises(max_iter):
    # A plain Newton step from here would go up, to the nearest point without slope.
    for seed in range(5):
        objective = two_minima(8)
        start = np.random.default_rng(seed).normal(size=8)
        result = run_newton(objective, start=start, max_iter=max_iter)
        assert never_rises(result.objective_history)
        assert result.n_iter <= max_iter


@pytest.mark.parametrize("problem", ["logistic", "scikit-learn", "huber, intercept"])
def test_a_gradient_at_the_limit_of_rounding_is_reached(problem):
    objective, _ = SOLVED[problem]()
    assert run_newton(objective, tol=1e-14).gradient_norm <= 1e-14


@pytest.mark.parametrize("loss", ["logistic", "sigmoid"])
def test_many_coefficients_without_a_penalty(loss):
    # More columns than rows and λ = 0: the Hessian is singular, and flat far out.
    rng = np.random.default_rng(0)
    features = rng.normal(size=(50, 600))
    labels = np.where(rng.uniform(size=50) < 0.5, 1, -1)
    coefs = np.where(labels > 0, 0.02, 0.0), np.where(labels > 0, 0.0, 0.02)
    objective = make_objective(features, *coefs, loss, 0.0)
    result = run_newton(objective, tol=1e-6)
    assert np.isfinite(result.coef).all()
    assert result.gradient_norm <= 1e-6
