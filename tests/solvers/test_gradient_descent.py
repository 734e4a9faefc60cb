"""The paper's gradient descent: every step equals that on the dual coefficients with K."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from decorrupt.solvers import (
    DEFAULT_STEP_DECAY,
    DEFAULT_STEP_SIZE,
    GradientDescent,
    solve,
    solve_gradient_descent,
)
from oracles.dense_kernel import descend_dual, gram
from oracles.dense_risk import (
    LOSS_NAMES,
    clean_coefs,
    make_objective,
    pair_coefs,
    row_slopes,
    stable_step,
)
from oracles.solved_problems import SOLVED


def rows(n_rows=30, n_columns=3):
    return np.random.default_rng(0).normal(size=(n_rows, n_columns))


@pytest.mark.parametrize("reg_strength", [0.0, 0.05])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_every_step_is_that_of_the_dual_coefficients(loss, kernel, reg_strength):
    X = rows()
    matrix = gram(X, X, kernel, 0.5)
    coefs = pair_coefs(15, 15)
    features = X if kernel == "linear" else np.linalg.cholesky(matrix + 1e-12 * np.eye(30))
    alpha = descend_dual(
        matrix,
        lambda scores: row_slopes(loss, *coefs, scores),
        reg_strength,
        step_size=0.02,
        step_decay=1e-2,
        n_steps=100,
    )
    objective = make_objective(features, *coefs, loss, reg_strength)
    result = solve_gradient_descent(
        objective, np.zeros(objective.n_coef), max_iter=100, step_size=0.02, step_decay=1e-2
    )
    expected = matrix @ alpha
    assert_allclose(objective.scores(result.coef), expected, atol=1e-9 * np.abs(expected).max())
    assert np.abs(expected).max() > 1e-2  # it went somewhere


def test_the_default_steps_are_those_of_the_paper():
    X = rows()
    coefs = clean_coefs(np.where(X[:, 0] > 0, 1, -1))
    alpha = descend_dual(
        X @ X.T,
        lambda scores: row_slopes("logistic", *coefs, scores),
        0.01,
        step_size=DEFAULT_STEP_SIZE,
        step_decay=DEFAULT_STEP_DECAY,
        n_steps=40,
    )
    result = solve(
        make_objective(X, *coefs, reg_strength=0.01), solver="gradient_descent", max_iter=40
    )
    assert_allclose(result.coef, X.T @ alpha, rtol=1e-10)


def test_the_intercept_takes_plain_gradient_steps():
    X = rows()
    coefs = clean_coefs(np.where(X[:, 0] > 0.3, 1, -1))
    alpha, intercept = np.zeros(30), 0.0
    for t in range(50):
        slopes = row_slopes("logistic", *coefs, X @ X.T @ alpha + intercept)
        length = 0.05 * np.exp(-0.01 * t)
        alpha = alpha - length * (X @ X.T @ (slopes + 2 * 0.01 * alpha))
        intercept = intercept - length * slopes.sum()
    objective = make_objective(X, *coefs, reg_strength=0.01, fit_intercept=True)
    result = solve_gradient_descent(
        objective, np.zeros(4), max_iter=50, step_size=0.05, step_decay=0.01
    )
    assert_allclose(result.coef, [*(X.T @ alpha), intercept], rtol=1e-10)


def test_sparse_features_take_the_same_steps():
    X = rows()
    coefs = clean_coefs(np.where(X[:, 0] > 0, 1, -1))
    dense, thin = (
        solve(make_objective(wrap(X), *coefs), solver="gradient_descent", max_iter=30).coef
        for wrap in (np.asarray, sparse.csr_matrix)
    )
    assert_allclose(thin, dense, rtol=1e-10)


@pytest.mark.parametrize("problem", ["scikit-learn", "scikit-learn, intercept", "huber"])
def test_given_long_enough_it_reaches_the_minimum(problem):
    objective, optimum = SOLVED[problem]()
    solver = GradientDescent(step_size=stable_step(objective), step_decay=0.0)
    result = solve(objective, solver=solver, max_iter=3000)
    assert_allclose(result.coef, optimum, atol=1e-5)


def test_the_number_of_steps_is_exactly_the_budget():
    objective = make_objective(rows(), *pair_coefs(15, 15), reg_strength=0.0)
    start = np.full(3, 0.5)
    result = solve_gradient_descent(objective, start, max_iter=25, step_size=0.01)
    assert (result.n_iter, len(result.objective_history)) == (25, 26)
    assert result.objective_history[0] == objective.value_and_gradient(start)[0]
    assert (result.status, result.converged) == ("budget spent", True)
    assert (start == 0.5).all()
    nothing = solve_gradient_descent(objective, start, max_iter=0)
    assert (nothing.n_iter, nothing.coef.tolist()) == (0, start.tolist())


@pytest.mark.parametrize("correction", [None, "abs"])
@pytest.mark.parametrize("loss", ["logistic", "squared", "sigmoid"])
def test_steps_too_long_are_reported_and_do_not_raise(loss, correction):
    coefs = clean_coefs(np.where(rows()[:, 0] > 0, 1, -1))
    objective = make_objective(rows(), *coefs, loss, 0.1, correction=correction)
    result = solve(  # no warning: they are errors here
        objective, solver=GradientDescent(step_size=1e6, step_decay=0.0), max_iter=1000
    )
    assert not result.converged
    assert result.n_iter < 1000


@pytest.mark.parametrize("step_size", [0.0, -0.1, np.nan, np.inf])
def test_a_bad_step_size_is_refused(step_size):
    objective = make_objective(rows(), *pair_coefs(15, 15))
    with pytest.raises(ValueError, match=r"step_size=.* must be positive"):
        solve_gradient_descent(objective, np.zeros(3), max_iter=1, step_size=step_size)


@pytest.mark.parametrize("step_decay", [-1e-3, np.nan])
def test_a_bad_step_decay_is_refused(step_decay):
    objective = make_objective(rows(), *pair_coefs(15, 15))
    with pytest.raises(ValueError, match=r"step_decay=.* at least 0"):
        solve_gradient_descent(objective, np.zeros(3), max_iter=1, step_decay=step_decay)
