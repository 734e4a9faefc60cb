"""The method of the tutorial "Add a method" is correct, and works wherever other methods do."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone

from decorrupt.observed import Observed, class_columns

FILE = Path(__file__).parents[2] / "examples" / "squared_matching.py"


def observed(row_bag, proportions):
    ids = np.arange(len(proportions))
    return Observed(np.arange(2), ids, np.array(row_bag), class_columns(proportions))


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(FILE))


def test_the_value_is_that_of_the_formula(example):
    bags = observed([0, 0, 0, 1], [0.5, 1.0])
    value, _ = example["SquaredMatchingRisk"](bags).value_and_slope(np.zeros(4))
    assert value == pytest.approx(0.25 * 0.5**2)


def test_the_slope_is_the_gradient_and_the_curvature_its_first_part(example):
    rng = np.random.default_rng(0)
    bags = observed([0, 1, 2, 1, 0, 2, 2], [0.2, 0.9, 0.4])
    risk = example["SquaredMatchingRisk"](bags)
    scores = rng.normal(size=7)
    error = check_grad(
        lambda s: risk.value_and_slope(s)[0], lambda s: risk.value_and_slope(s)[1], scores
    )
    assert error < 1e-6
    # Where every mean equals its proportion, the Gauss-Newton part is the whole Hessian.
    fitted = observed(bags.row_bag, bags.proportions[:, 1] + risk._parts(scores)[1])
    risk, step, direction = example["SquaredMatchingRisk"](fitted), 1e-5, rng.normal(size=7)
    slopes = [risk.value_and_slope(scores + s * direction)[1] for s in (step, -step)]
    np.testing.assert_allclose(
        risk.curvature(scores)(direction), (slopes[0] - slopes[1]) / (2 * step), atol=1e-7
    )


def test_it_learns_from_bags_and_is_an_estimator(example, bag_data):
    model = clone(example["SquaredMatchingClassifier"](kernel="linear", reg_strength=1e-4))
    model.fit(bag_data.X, bag_data.y, bags=bag_data.bags)
    assert model.score(bag_data.X, bag_data.labels) > 0.88
    with pytest.raises(ValueError, match="Only binary"):
        model.fit(bag_data.X, np.eye(3)[bag_data.bags % 3], bags=bag_data.bags)


def test_the_automatic_choice_compares_it(example):
    search = example["compare"]()
    assert {row.method for row in search.leaderboard_} == {"mean_map", "squared_matching"}
