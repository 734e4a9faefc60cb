"""The λ above which the objective is convex, and below which it has no minimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import eigvalsh

from decorrupt.losses import get_loss
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import convexity_floor, least_admissible_reg
from oracles.dense_risk import LOSS_NAMES, make_objective, pair_coefs

# sup |φ''|; the sigmoid's lies where tanh²(t/2) = 1/3.
LARGEST_CURVATURE = {"logistic": 1 / 4, "squared": 2, "huber": 2, "sigmoid": 1 / (6 * 3**0.5)}
SIGMOID_WORST_SCORE = np.log(2 + 3**0.5)
WIDTHS = pytest.mark.parametrize("n_columns", [12, 300], ids=["dense", "krylov"])


def draw(n_columns, n_rows=40, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_rows, n_columns)) * np.geomspace(1, 0.1, n_columns)
    coef_pos, coef_neg = rng.normal(size=(2, n_rows)) / n_rows
    return features, coef_pos, coef_neg


def worst_bend(loss, coef_pos, coef_neg):
    """Return C, the largest negative curvature of each row over all scores."""
    if loss == "sigmoid":
        return LARGEST_CURVATURE[loss] * np.abs(coef_pos - coef_neg)
    return LARGEST_CURVATURE[loss] * np.maximum(-(coef_pos + coef_neg), 0)


def risk_of(coef_pos, coef_neg, loss):
    return CorrectedRisk(np.column_stack([coef_neg, coef_pos]), get_loss(loss))


def floor(features, coef_pos, coef_neg, loss):
    return convexity_floor(features, risk_of(coef_pos, coef_neg, loss))


def least(features, coef_pos, coef_neg, loss):
    return least_admissible_reg(features, risk_of(coef_pos, coef_neg, loss))


def least_curvature(objective, theta):
    return np.linalg.eigvalsh(objective.hessian(theta))[0]


@WIDTHS
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("loss", LARGEST_CURVATURE)
def test_the_floor_is_half_the_largest_eigenvalue_of_the_bent_kernel(loss, wrap, n_columns):
    features, *coefs = draw(n_columns)
    root = np.diag(np.sqrt(worst_bend(loss, *coefs)))
    bent = root @ (features @ features.T) @ root
    expected = 0.5 * eigvalsh(bent)[-1]
    assert_allclose(floor(wrap(features), *coefs, loss), expected, rtol=1e-6)


@WIDTHS
@pytest.mark.parametrize("loss", LARGEST_CURVATURE)
def test_from_the_floor_on_every_hessian_is_positive(loss, n_columns):
    features, *coefs = draw(n_columns)
    bound = floor(features, *coefs, loss)
    objective = make_objective(features, *coefs, loss, bound * (1 + 1e-9))
    rng = np.random.default_rng(1)
    for spread in (0.0, 0.1, 0.5, 1.0, 3.0):
        theta = spread * rng.normal(size=n_columns)
        assert least_curvature(objective, theta) > -1e-9


@pytest.mark.parametrize("loss", ["logistic", "huber", "sigmoid"])
def test_just_below_the_floor_some_hessian_is_not(loss):
    # More columns than rows, so that any scores can be had: the rows that bend downwards where
    # they bend most, the others where they are flat.
    features, coef_pos, coef_neg = draw(60, n_rows=15)
    if loss == "sigmoid":
        scores = SIGMOID_WORST_SCORE * np.where(coef_pos > coef_neg, -1.0, 1.0)
    else:
        scores = np.where(coef_pos + coef_neg < 0, 0.0, 40.0)
    theta = np.linalg.pinv(features) @ scores
    bound = floor(features, coef_pos, coef_neg, loss)
    below = make_objective(features, coef_pos, coef_neg, loss, 0.99 * bound)
    above = make_objective(features, coef_pos, coef_neg, loss, 1.01 * bound)
    assert least_curvature(below, theta) < 0 < least_curvature(above, theta)


@WIDTHS
@pytest.mark.parametrize("loss", ["logistic", "squared", "huber"])
def test_it_is_zero_where_every_row_bends_upwards(loss, n_columns):
    features, *_ = draw(n_columns)
    coefs = pair_coefs(20, 20, 0.7, 0.5)  # γ− ≤ ½ ≤ γ+: the very edge
    assert floor(features, *coefs, loss) == 0.0


@WIDTHS
def test_the_squared_loss_has_a_minimum_from_where_its_hessian_is_singular(n_columns):
    for seed in range(3):
        features, *coefs = draw(n_columns, seed=seed)
        bound = least(features, *coefs, "squared")
        assert bound > 0
        objective = make_objective(features, *coefs, "squared", bound)
        scale = np.abs(objective.hessian(np.zeros(n_columns))).max()
        assert abs(least_curvature(objective, np.zeros(n_columns))) < 1e-6 * scale
        assert floor(features, *coefs, "squared") >= bound * (1 - 1e-9)


def test_below_that_the_squared_loss_falls_for_ever():
    features, *coefs = draw(12)
    bound = least(features, *coefs, "squared")
    objective = make_objective(features, *coefs, "squared", 0.9 * bound)
    values, vectors = np.linalg.eigh(objective.hessian(np.zeros(12)))
    heights = [objective.value_and_gradient(r * vectors[:, 0])[0] for r in (1e2, 1e3, 1e4)]
    assert values[0] < 0
    assert heights[2] < 10 * heights[1] < 0


@WIDTHS
def test_any_penalty_will_do_for_a_convex_squared_risk(n_columns):
    features, *_ = draw(n_columns)
    found = least(features, *pair_coefs(20, 20, 0.9, 0.1), "squared")
    assert 0 <= found < 1e-15


@pytest.mark.parametrize("loss", [name for name in LOSS_NAMES if name != "squared"])
def test_any_penalty_will_do_for_a_loss_of_bounded_slope(loss):
    assert least(*draw(12), loss) == 0.0


@WIDTHS
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_rows_without_features_do_not_matter(wrap, n_columns):
    features, *_ = draw(n_columns)
    features[:20] = 0.0  # exactly the rows that bend downwards
    assert_allclose(floor(wrap(features), *pair_coefs(20, 20), "logistic"), 0.0, atol=1e-15)


@WIDTHS
def test_features_that_sum_to_zero_in_every_row(n_columns):
    # As one-hot codes less their base, or a difference of two counts: Z·1 = 0 to the last bit.
    rng = np.random.default_rng(0)
    features = rng.integers(-3, 4, size=(40, n_columns)).astype(float)
    features[:, -1] -= features.sum(axis=1)
    assert (features.sum(axis=1) == 0).all()
    coefs = pair_coefs(20, 20)
    bent = features.T @ (worst_bend("logistic", *coefs)[:, None] * features)
    expected = 0.5 * eigvalsh(bent)[-1]
    assert_allclose(floor(features, *coefs, "logistic"), expected, rtol=1e-6)


def far_bag():
    """Return features whose downward rows lie far from the origin, where an intercept reaches."""
    features = np.random.default_rng(0).normal(size=(40, 3))
    features[:20] = 2 * features[:20] + [5.0, 0.0, 0.0]
    return features, *pair_coefs(20, 20)


def test_with_an_intercept_the_squared_loss_needs_a_larger_penalty():
    # The intercept is not penalised, so it can follow the rows that bend downwards.
    features, *coefs = far_bag()
    bound = least_admissible_reg(features, risk_of(*coefs, "squared"), fit_intercept=True)
    assert bound > least(features, *coefs, "squared")
    objective = make_objective(features, *coefs, "squared", bound, fit_intercept=True)
    assert abs(least_curvature(objective, np.zeros(4))) < 1e-9


def test_with_an_intercept_no_penalty_makes_a_downward_row_convex():
    # Rows that bend upwards can lie where they are flat; then the intercept alone bends J down.
    features, *coefs = far_bag()
    objective = make_objective(features, *coefs, "logistic", 1e3, fit_intercept=True)
    away = np.array([-100.0, 0.0, 0.0, 500.0])
    assert least_curvature(objective, away) < 0
    risk = risk_of(*coefs, "logistic")
    assert convexity_floor(features, risk, fit_intercept=True) == np.inf
