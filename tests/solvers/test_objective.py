"""J(θ, b) = risk(Zθ + b) + λ‖θ‖²: value written out, derivatives compared with differences."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from decorrupt.losses import class_loss
from decorrupt.risks import CorrectedRisk
from decorrupt.risks.risk import KINK_WIDTH
from decorrupt.solvers import Objective, solve
from oracles.dense_risk import LOSS_NAMES, central_differences, class_sums, make_objective

N_ROWS, RANK, N_CLASSES = 15, 4, 3
every_loss = pytest.mark.parametrize("loss", LOSS_NAMES)
# correction, fit_intercept, container of the features
CASES = list(product((None, "abs", "relu"), (False, True), (np.asarray, sparse.csr_matrix)))


def problem(
    loss="logistic", correction=None, fit_intercept=False, wrap=np.asarray, *, seed=0, scale=1.0
):
    """Return an objective with signed coefficients, and a point."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(N_ROWS, RANK))
    coef_pos, coef_neg = scale * rng.normal(size=(2, N_ROWS)) / 3
    objective = make_objective(
        wrap(features),
        coef_pos,
        coef_neg,
        loss,
        0.3 * scale,
        correction=correction,
        fit_intercept=fit_intercept,
    )
    return objective, rng.normal(size=RANK + fit_intercept)


def value(objective):
    return lambda coef: objective.value_and_gradient(coef)[0]


def gradient(objective):
    return lambda coef: objective.value_and_gradient(coef)[1]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_the_value_is_risk_plus_penalty_without_the_intercept(loss, fit_intercept):
    objective, coef = problem(loss, fit_intercept=fit_intercept)
    theta, intercept = coef[:RANK], coef[-1] if fit_intercept else 0.0
    scores = [row @ theta + intercept for row in objective.features]
    coef_neg, coef_pos = objective.risk.coef.T
    expected = sum(class_sums(loss, coef_pos, coef_neg, scores))
    expected += 0.3 * sum(theta**2)
    assert_allclose(objective.value_and_gradient(coef)[0], expected, rtol=1e-12)
    assert_allclose(objective.scores(coef), scores, rtol=1e-12)


@every_loss
def test_gradient_and_hessian_are_those_of_the_differences(loss):
    for case in CASES:
        objective, coef = problem(loss, *case)
        scale = 1 + np.linalg.norm(gradient(objective)(coef))
        assert check_grad(value(objective), gradient(objective), coef) < 1e-5 * scale
        assert_derivatives(objective, coef, 1e-7 * scale, str(case))


@every_loss
def test_within_a_kink_too(loss):
    # Coefficients the size of the kink's width put both sums into the bends of |r| and max(r, 0).
    for case in CASES:
        objective, coef = problem(loss, *case, seed=3, scale=KINK_WIDTH)
        assert_derivatives(objective, coef, 1e-7 * KINK_WIDTH, str(case))


def assert_derivatives(objective, coef, atol, case):
    slopes = central_differences(value(objective), coef)
    assert_allclose(gradient(objective)(coef), slopes, atol=atol, err_msg=case)
    bends = central_differences(gradient(objective), coef)
    hessian = objective.hessian(coef)
    assert_allclose(hessian, hessian.T, atol=1e-12 * np.abs(hessian).max(), err_msg=case)
    assert_allclose(hessian, bends, atol=1e-6 * np.abs(bends).max(), err_msg=case)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_single_precision_features_keep_the_derivatives_close(loss, fit_intercept):
    objective, coef = problem(loss, fit_intercept=fit_intercept)
    single, _ = problem(loss, fit_intercept=fit_intercept, wrap=lambda Z: Z.astype(np.float32))
    assert single.scores(coef).dtype == np.float32
    assert gradient(single)(coef).dtype == np.float64
    scale = np.abs(gradient(objective)(coef)).max()
    assert_allclose(gradient(single)(coef), gradient(objective)(coef), atol=1e-5 * scale)
    assert_allclose(single.hessian(coef), objective.hessian(coef), atol=1e-4 * scale)


def class_problem(wrap=np.asarray, *, fit_intercept=True):
    """Return an objective of three classes with signed coefficients, and a point."""
    rng = np.random.default_rng(0)
    coef = rng.normal(size=(N_ROWS, N_CLASSES)) / N_ROWS
    risk = CorrectedRisk(coef, class_loss("logistic", N_CLASSES))
    features = wrap(rng.normal(size=(N_ROWS, RANK)))
    objective = Objective(features, risk, 0.3, fit_intercept, N_CLASSES)
    return objective, rng.normal(size=(RANK + fit_intercept) * N_CLASSES)


class TestSeveralClasses:
    """J(Θ, b) = risk(ZΘ + b) + 2λ‖Θ‖²."""

    @pytest.mark.parametrize("fit_intercept", [False, True])
    def test_the_value_is_risk_plus_twice_the_penalty(self, fit_intercept):
        objective, coef = class_problem(fit_intercept=fit_intercept)
        table = coef.reshape(-1, N_CLASSES)
        scores = objective.features @ table[:RANK] + (table[RANK] if fit_intercept else 0)
        assert_allclose(objective.scores(coef), scores)
        expected = objective.risk.value_and_slope(scores)[0] + 2 * 0.3 * np.sum(table[:RANK] ** 2)
        assert_allclose(objective.value_and_gradient(coef)[0], expected)
        assert objective.n_coef == coef.size

    @pytest.mark.parametrize("fit_intercept", [False, True])
    @pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix, sparse.csr_array])
    def test_the_gradient_is_that_of_the_differences(self, wrap, fit_intercept):
        objective, coef = class_problem(wrap, fit_intercept=fit_intercept)
        differences = central_differences(lambda c: objective.value_and_gradient(c)[0], coef)
        assert_allclose(objective.value_and_gradient(coef)[1], differences, atol=1e-8)

    def test_clean_labels_are_multinomial_regression(self):
        rng = np.random.default_rng(1)
        X, labels = rng.normal(size=(60, 3)), np.arange(60) % 3
        X[:, 0] += labels
        objective = Objective(
            X, CorrectedRisk(np.eye(3)[labels] / 60, class_loss("logistic", 3)), 0.01, True, 3
        )
        result = solve(objective, tol=1e-8)
        assert result.converged
        # sklearn's ½‖Θ‖² + C·Σ losses is ours, 2λ‖Θ‖² + mean loss, at C = 1/(4λn).
        model = LogisticRegression(C=1 / (4 * 0.01 * 60), tol=1e-10, max_iter=10_000).fit(X, labels)
        coef = result.coef.reshape(4, 3)
        assert_allclose(coef[:3].T, model.coef_, atol=1e-6)
        assert_allclose(coef[3] - coef[3].mean(), model.intercept_, atol=1e-6)
