"""L-BFGS: the minimum of convex problems, a correct status, a decreasing history."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from decorrupt.solvers import solve_lbfgs
from oracles.dense_risk import make_objective
from oracles.solved_problems import SOLVED

# Below this, rounding stops the line search, which compares objective values.
TOL = 1e-7


def run(objective, start=None, *, tol=TOL, max_iter=5000):
    start = np.zeros(objective.n_coef) if start is None else start
    return solve_lbfgs(objective, start, tol=tol, max_iter=max_iter)


@pytest.mark.parametrize("problem", SOLVED)
def test_it_finds_the_known_minimum(problem):
    objective, optimum = SOLVED[problem]()
    result = run(objective)
    assert result.status == "converged"
    assert_allclose(result.coef, optimum, atol=1e-5 * np.abs(optimum).max())
    assert_allclose(result.objective, objective.value_and_gradient(optimum)[0], rtol=1e-11)


def test_it_finds_the_minimum_from_far_away():
    objective, optimum = SOLVED["scikit-learn, intercept"]()
    result = run(objective, start=np.full(objective.n_coef, 30.0))
    assert_allclose(result.coef, optimum, atol=1e-5)


def test_sparse_features_lead_to_the_same_minimum():
    objective, optimum = SOLVED["scikit-learn"]()
    coef = objective.risk.coef
    wrapped = make_objective(
        sparse.csr_matrix(objective.features), coef[:, 1], coef[:, 0], "logistic", 0.03
    )
    assert_allclose(run(wrapped).coef, optimum, atol=1e-5)


@pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-7])
def test_converged_is_about_the_norm_of_the_gradient(tol):
    objective, _ = SOLVED["dual, very many columns"]()
    result = run(objective, tol=tol)
    assert result.status == "converged"
    assert np.linalg.norm(objective.value_and_gradient(result.coef)[1]) <= tol


@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_it_makes_no_more_steps_than_allowed(max_iter):
    objective, _ = SOLVED["dual, more columns than rows"]()
    result = run(objective, max_iter=max_iter)
    assert result.status == "max_iter reached"
    assert result.n_iter == max_iter
    assert result.gradient_norm > TOL
