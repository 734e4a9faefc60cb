"""The method of the tutorial "Add a method" is correct, and works wherever other methods do."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone

from decorrupt.losses import probabilities
from helpers.bags import rows_in_bags

FILE = Path(__file__).parents[2] / "examples" / "squared_matching.py"
ROW_BAG = [0, 1, 2, 1, 0, 2, 2]


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(FILE))


def test_the_value_is_that_of_the_formula(example):
    observed = rows_in_bags([0, 0, 0, 1], [0.5, 1.0])
    value, _ = example["SquaredMatchingRisk"](observed).value_and_slope(np.zeros(4))
    assert value == pytest.approx(0.25 * 0.5**2)


@pytest.mark.parametrize("shares", [[0.2, 0.9, 0.4], np.eye(3) * 0.7 + 0.1])
def test_the_slope_is_the_gradient(example, shares):
    observed = rows_in_bags(ROW_BAG, shares)
    risk = example["SquaredMatchingRisk"](observed)
    shape = (7,) if observed.n_classes == 2 else (7, 3)
    error = check_grad(
        lambda s: risk.value_and_slope(s.reshape(shape))[0],
        lambda s: risk.value_and_slope(s.reshape(shape))[1].ravel(),
        np.random.default_rng(0).normal(size=np.prod(shape)),
    )
    assert error < 1e-6


def test_the_curvature_is_the_hessian_where_every_mean_equals_its_proportion(example):
    """There the Gauss-Newton part is the whole Hessian."""
    rng = np.random.default_rng(0)
    scores, direction, step = rng.normal(size=7), rng.normal(size=7), 1e-5
    means = rows_in_bags(ROW_BAG, np.zeros(3)).mean_by_bag(probabilities(scores))
    risk = example["SquaredMatchingRisk"](rows_in_bags(ROW_BAG, means))
    slopes = [risk.value_and_slope(scores + s * direction)[1] for s in (step, -step)]
    expected = (slopes[0] - slopes[1]) / (2 * step)
    apply = risk.curvature(scores)
    np.testing.assert_allclose(apply(direction), expected, atol=1e-7)
    columns = np.column_stack([direction, -direction])
    np.testing.assert_allclose(apply(columns), np.column_stack([expected, -expected]), atol=1e-7)


def test_it_learns_from_bags_and_is_an_estimator(example, bag_data):
    kind = example["SquaredMatchingClassifier"]
    model = clone(kind(kernel="linear", reg_strength=1e-4))
    model.fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert model.score(bag_data.X, bag_data.labels) > 0.88


def test_it_learns_several_classes(example):
    rng = np.random.default_rng(0)
    labels, bags = rng.integers(0, 3, 300), np.arange(300) // 5
    X = rng.normal(size=(300, 2)) + 3 * np.eye(3)[labels][:, :2]
    shares = rows_in_bags(bags, np.zeros(60)).mean_by_bag(np.eye(3)[labels])[bags]
    model = example["SquaredMatchingClassifier"](kernel="linear", reg_strength=1e-4)
    assert model.fit(X, shares, bags=bags).score(X, labels) > 0.88


def test_the_automatic_choice_compares_it(example):
    search = example["compare"]()
    assert {row.method for row in search.leaderboard_} == {"mean_map", "squared_matching"}
