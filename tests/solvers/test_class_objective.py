"""J(Θ, b) = risk(ZΘ + b) + 2λ‖Θ‖²: several classes in the objective and the solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from decorrupt.risks.multiclass import ClassCorrectedRisk
from decorrupt.solvers import Objective, choose_solver, solve, solve_path
from oracles.dense_risk import central_differences

N_ROWS, RANK, N_CLASSES = 15, 4, 3


def problem(wrap=np.asarray, *, fit_intercept=True):
    rng = np.random.default_rng(0)
    risk = ClassCorrectedRisk(rng.normal(size=(N_ROWS, N_CLASSES)) / N_ROWS)
    features = wrap(rng.normal(size=(N_ROWS, RANK)))
    objective = Objective(features, risk, 0.3, fit_intercept, N_CLASSES)
    return objective, rng.normal(size=(RANK + fit_intercept) * N_CLASSES)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_value_is_risk_plus_twice_the_penalty(fit_intercept):
    objective, coef = problem(fit_intercept=fit_intercept)
    table = coef.reshape(-1, N_CLASSES)
    scores = objective.features @ table[:RANK] + (table[RANK] if fit_intercept else 0)
    assert_allclose(objective.scores(coef), scores)
    expected = objective.risk.value_and_slope(scores)[0] + 2 * 0.3 * np.sum(table[:RANK] ** 2)
    assert_allclose(objective.value_and_gradient(coef)[0], expected)
    assert objective.n_coef == coef.size


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_the_gradient_is_that_of_the_differences(wrap, fit_intercept):
    objective, coef = problem(wrap, fit_intercept=fit_intercept)
    differences = central_differences(lambda c: objective.value_and_gradient(c)[0], coef)
    assert_allclose(objective.value_and_gradient(coef)[1], differences, atol=1e-8)


def test_single_precision_features_stay_so():
    objective, coef = problem()
    single, _ = problem(lambda Z: Z.astype(np.float32))
    assert single.scores(coef).dtype == np.float32
    gradient = single.value_and_gradient(coef)[1]
    assert gradient.dtype == np.float64
    assert_allclose(gradient, objective.value_and_gradient(coef)[1], atol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_clean_labels_are_multinomial_regression(solver):
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(60, 3)), np.arange(60) % 3
    X[:, 0] += labels
    objective = Objective(X, ClassCorrectedRisk(np.eye(3)[labels] / 60), 0.01, True, 3)
    result = solve(objective, solver=solver, tol=1e-8)
    assert result.converged
    # sklearn's ½‖Θ‖² + C·Σ losses is ours, 2λ‖Θ‖² + mean loss, at C = 1/(4λn).
    model = LogisticRegression(C=1 / (4 * 0.01 * 60), tol=1e-10, max_iter=10_000).fit(X, labels)
    coef = result.coef.reshape(4, 3)
    assert_allclose(coef[:3].T, model.coef_, atol=1e-6)
    assert_allclose(coef[3] - coef[3].mean(), model.intercept_, atol=1e-6)


def test_a_path_reaches_the_same_solutions():
    rng = np.random.default_rng(2)
    risk = ClassCorrectedRisk(np.eye(3)[np.arange(30) % 3] / 30)
    objective = Objective(rng.normal(size=(30, 4)), risk, 1.0, True, 3)
    path = solve_path(objective, [0.01, 0.1], tol=1e-9)
    for reg_strength, result in zip([0.01, 0.1], path, strict=True):
        alone = solve(objective.with_reg_strength(reg_strength), tol=1e-9)
        assert_allclose(result.coef, alone.coef, atol=1e-6)


@pytest.mark.parametrize("solver", ["newton", "gradient_descent"])
def test_solvers_for_two_classes_are_refused(solver):
    objective, _ = problem()
    assert choose_solver("auto", objective) == "lbfgs"
    with pytest.raises(ValueError, match=f"solver='{solver}' is for two classes.*'lbfgs'"):
        solve(objective, solver=solver)
