"""Starts and routes: the mean map, the path from the constant model, a sample of bags."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from decorrupt.observed import Observed, class_columns
from decorrupt.risks import count_risk
from decorrupt.solvers import (
    Objective,
    Problem,
    from_intercept,
    from_mean_maps,
    from_sample,
    mean_map_start,
    sample_of_bags,
    solve_problem,
    starts,
)
from oracles.mean_map import fit_from_mean_operator, pooled_mean_operator


def problem(n_rows=3000, bag_size=10, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(n_rows) < 0.4
    X = rng.normal(size=(n_rows, 3)) + 1.5 * labels[:, None]
    bags = rng.permutation(n_rows) // bag_size
    shares = class_columns(np.bincount(bags, labels) / np.bincount(bags))
    return X - X.mean(axis=0), Observed(np.array([0, 1]), np.arange(len(shares)), bags, shares)


def count_problem(observed):
    routes = {
        "mean_map": from_mean_maps(observed),
        "intercept": from_intercept(observed.class_prior),
    }
    return Problem(count_risk(observed), routes=routes)


def test_the_mean_map_is_that_of_its_definition(monkeypatch):
    monkeypatch.setattr(starts, "START_TOL", 1e-9)
    X, observed = problem(n_rows=300)
    objective = Objective(X, count_risk(observed), 0.05, fit_intercept=True)
    means = np.array([X[observed.row_bag == k].mean(axis=0) for k in range(30)])
    shares = observed.proportions[:, 1]
    mean_operator = pooled_mean_operator(observed.sizes, shares, means)
    theta, intercept = fit_from_mean_operator(X, mean_operator, shares.mean(), 0.05)
    assert_allclose(mean_map_start(observed)(objective), [*theta, intercept], atol=1e-6)


class TestSample:
    @pytest.fixture
    def few_are_many(self, monkeypatch):
        monkeypatch.setattr(starts, "SAMPLE_ROWS", 600)

    @pytest.mark.usefixtures("few_are_many")
    def test_it_consists_of_whole_bags(self):
        _, observed = problem()
        rows = sample_of_bags(observed)
        assert len(rows) == 600
        assert_array_equal(np.unique(np.bincount(observed.row_bag[rows])), [0, 10])
        assert_array_equal(sample_of_bags(observed), rows)

    @pytest.mark.usefixtures("few_are_many")
    @pytest.mark.parametrize("reg_strengths", [[1e-3], [1e-3, 1e-1, 1e-3]])
    def test_the_solution_is_that_of_all_starts_on_all_rows(self, reg_strengths):
        X, observed = problem()
        options = {"n_classes": 2, "fit_intercept": True, "solver": "lbfgs", "tol": 1e-7}
        whole = solve_problem(count_problem(observed), X, reg_strengths, **options)
        rows = sample_of_bags(observed)
        sample = from_sample(count_problem(observed.take(rows)), rows)
        sampled = Problem(count_risk(observed), routes={"sample": sample})
        found = solve_problem(sampled, X, reg_strengths, **options)
        for one, expected in zip(found, whole, strict=True):
            assert one.result.converged
            assert one.route in ("mean_map", "intercept")
            assert_allclose(one.result.coef, expected.result.coef, atol=1e-5)
            assert_allclose(one.risk_value, expected.risk_value, rtol=1e-6)

    @pytest.mark.usefixtures("few_are_many")
    def test_none_of_few_rows_few_bags_or_equal_proportions(self):
        _, observed = problem(n_rows=1190)
        assert sample_of_bags(observed) is None
        _, observed = problem(bag_size=60)
        assert sample_of_bags(observed) is None
        _, observed = problem()
        half = np.full((300, 2), 0.5)
        equal = Observed(observed.classes, observed.ids, observed.row_bag, half)
        assert sample_of_bags(equal) is None
