"""Newton's method: the minimum of convex problems, and never a saddle point of others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decorrupt.solvers import solve_lbfgs, solve_newton
from oracles.dense_kernel import gram
from oracles.dense_risk import make_objective, mirrored_bags, never_rises, pair_coefs
from oracles.solved_problems import SOLVED

TOL = 1e-10


def run(objective, start=None, *, tol=TOL, max_iter=500):
    start = np.zeros(objective.n_coef) if start is None else start
    return solve_newton(objective, start, tol=tol, max_iter=max_iter)


def least_curvature(objective, coef):
    return np.linalg.eigvalsh(objective.hessian(coef))[0]


def assert_minimum(objective, result):
    """Assert zero gradient, no negative curvature and a decreasing history."""
    assert result.status == "converged"
    assert np.linalg.norm(objective.value_and_gradient(result.coef)[1]) <= TOL
    assert least_curvature(objective, result.coef) > -1e-9
    assert never_rises(result.objective_history)


@pytest.mark.parametrize("problem", SOLVED)
def test_it_finds_the_known_minimum(problem):
    objective, optimum = SOLVED[problem]()
    result = run(objective)
    assert result.status == "converged"
    assert_allclose(result.coef, optimum, rtol=1e-8, atol=1e-8 * np.abs(optimum).max())


def test_it_finds_the_minimum_from_far_away():
    objective, optimum = SOLVED["scikit-learn, intercept"]()
    result = run(objective, start=np.full(objective.n_coef, 30.0))
    assert result.status == "converged"
    assert_allclose(result.coef, optimum, rtol=1e-8, atol=1e-8)


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
    result = run(objective)
    assert_minimum(objective, result)
    assert result.objective < value - 0.1


def test_it_does_not_end_at_a_saddle_it_walks_into():
    # Along the last two axes J bends upwards, and by symmetry has no slope across them.
    features = np.zeros((16, 6))
    wide, narrow = 3 * np.eye(6)[:4], np.vstack([np.eye(6)[4:], 0.3 * np.eye(6)[4:]])
    features[:4], features[4:8], features[8:12], features[12:] = wide, -wide, narrow, -narrow
    objective = make_objective(features, *pair_coefs(8, 8), "logistic", 1e-2)
    start = np.array([0.0, 0.0, 0.0, 0.0, 2.0, -1.0])
    result = run(objective, start=start)
    assert_minimum(objective, result)
    assert result.objective < objective.value_and_gradient(np.zeros(6))[0] - 0.1


def test_the_two_minima_have_opposite_classifiers():
    objective = two_minima(8)
    towards = np.eye(8)[0]
    results = [run(objective, start=sign * towards) for sign in (1, -1)]
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
        assert_minimum(objective, run(objective))


@pytest.mark.parametrize("correction", ["abs", "relu"])
def test_corrected_sums_end_at_a_minimum(correction):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 8))
    coefs = pair_coefs(30, 30)
    objective = make_objective(features, *coefs, "logistic", 1e-2, correction=correction)
    result = run(objective)
    assert least_curvature(objective, result.coef) > -1e-9
    assert result.gradient_norm < 1e-8


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_it_makes_no_more_steps_than_allowed(max_iter):
    objective, _ = SOLVED["dual, more columns than rows"]()
    result = run(objective, start=np.full(objective.n_coef, 10.0), max_iter=max_iter)
    assert result.status == "max_iter reached"
    assert result.n_iter == max_iter
    assert len(result.objective_history) == max_iter + 1
    assert result.gradient_norm > TOL


@pytest.mark.parametrize("max_iter", [1, 2, 4, 8])
def test_cut_short_between_two_minima_it_still_never_rises(max_iter):
    # A plain Newton step from here would go up, to the nearest point without slope.
    for seed in range(5):
        objective = two_minima(8)
        start = np.random.default_rng(seed).normal(size=8)
        result = run(objective, start=start, max_iter=max_iter)
        assert never_rises(result.objective_history)
        assert result.n_iter <= max_iter


@pytest.mark.parametrize("problem", ["logistic", "scikit-learn", "huber, intercept"])
def test_a_gradient_at_the_limit_of_rounding_is_reached(problem):
    objective, _ = SOLVED[problem]()
    assert run(objective, tol=1e-14).gradient_norm <= 1e-14


def test_one_coefficient_is_enough():
    objective = make_objective(np.ones((4, 1)), np.full(4, 0.2), np.full(4, 0.05), "logistic", 1e-3)
    result = run(objective)
    assert result.status == "converged"
    assert result.coef[0] > 0


@pytest.mark.parametrize("loss", ["logistic", "sigmoid"])
def test_many_coefficients_without_a_penalty(loss):
    # More columns than rows and λ = 0: the Hessian is singular, and flat far out.
    rng = np.random.default_rng(0)
    features = rng.normal(size=(50, 600))
    labels = np.where(rng.uniform(size=50) < 0.5, 1, -1)
    coefs = np.where(labels > 0, 0.02, 0.0), np.where(labels > 0, 0.0, 0.02)
    objective = make_objective(features, *coefs, loss, 0.0)
    result = run(objective, tol=1e-6)
    assert np.isfinite(result.coef).all()
    assert result.gradient_norm <= 1e-6
