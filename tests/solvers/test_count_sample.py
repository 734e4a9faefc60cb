"""Many rows: the starts of the count likelihood are compared on a sample of bags."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from decorrupt.corruption import Strata
from decorrupt.solvers import count_path
from decorrupt.solvers.count_path import fit_count_path, sample_of_bags


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(count_path, "SAMPLE_ROWS", 600)


def problem(n_rows=3000, bag_size=10, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(n_rows) < 0.4
    X = rng.normal(size=(n_rows, 3)) + 1.5 * labels[:, None]
    bags = rng.permutation(n_rows) // bag_size
    shares = np.bincount(bags, labels) / np.bincount(bags)
    return X - X.mean(axis=0), Strata(np.arange(len(shares)), bags, shares)


def test_the_sample_consists_of_whole_bags(few_are_many):
    _, strata = problem()
    rows = sample_of_bags(strata)
    assert len(rows) == 600
    assert_array_equal(np.unique(np.bincount(strata.row_stratum[rows])), [0, 10])
    assert_array_equal(sample_of_bags(strata), rows)


@pytest.mark.parametrize("reg_strengths", [[1e-3], [1e-3, 1e-1, 1e-3]])
def test_the_solution_is_that_of_all_starts_on_all_rows(monkeypatch, reg_strengths):
    X, strata = problem()
    whole = fit_count_path(X, strata, reg_strengths, tol=1e-7)
    monkeypatch.setattr(count_path, "SAMPLE_ROWS", 600)
    for found, expected in zip(
        fit_count_path(X, strata, reg_strengths, tol=1e-7), whole, strict=True
    ):
        assert found.result.converged
        assert found.start in count_path.STARTS
        assert_allclose(found.result.coef, expected.result.coef, atol=1e-5)
        assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-6)


def test_no_sample_of_few_rows_few_bags_equal_proportions_or_several_classes(few_are_many):
    _, strata = problem(n_rows=1190)
    assert sample_of_bags(strata) is None
    _, strata = problem(bag_size=60)
    assert sample_of_bags(strata) is None
    _, strata = problem()
    equal = Strata(strata.ids, strata.row_stratum, np.full(300, 0.5))
    assert sample_of_bags(equal) is None
    shares = np.column_stack([strata.proportions, 1 - strata.proportions, np.zeros(300)])
    assert sample_of_bags(Strata(strata.ids, strata.row_stratum, shares)) is None
