"""Tables with given margins, against enumeration, linear programming and scipy."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls
from scipy.stats import multinomial

from decorrupt import EcologicalInference
from decorrupt.ecological import bounds, fit_margins, goodman


def tables_with(groups, outcomes):
    """Return all whole 2 × 3 tables with the given margins."""
    ranges = [range(int(min(groups[0], k)) + 1) for k in outcomes]
    first = [row for row in product(*ranges) if sum(row) == groups[0]]
    return np.array([[row, np.subtract(outcomes, row)] for row in first])


@st.composite
def places(draw):
    n_places, n_groups, n_outcomes = draw(st.tuples(*[st.integers(2, 4)] * 3))
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    tables = rng.integers(0, 9, (n_places, n_groups, n_outcomes)).astype(float)
    return tables.sum(axis=2), tables.sum(axis=1)


@settings(max_examples=20, deadline=None)
@given(places())
def test_bounds_are_those_of_linear_programming(margins):
    groups, outcomes = margins
    low, high = bounds(groups, outcomes)
    r, c = groups.shape[1] - 1, outcomes.shape[1] - 1
    n_groups, n_outcomes = groups.shape[1], outcomes.shape[1]
    target = np.zeros((n_groups, n_outcomes))
    target[r, c] = 1
    equal = np.vstack(
        [
            np.kron(np.eye(n_groups), np.ones(n_outcomes)),
            np.kron(np.ones(n_groups), np.eye(n_outcomes)),
        ]
    )
    ends = []
    for sign in (1, -1):
        solved = [
            linprog(sign * target.ravel(), A_eq=equal, b_eq=np.concatenate(margin)).fun
            for margin in zip(groups, outcomes, strict=True)
        ]
        ends.append(sign * sum(solved))
    np.testing.assert_allclose([low[r, c], high[r, c]], ends, atol=1e-6)


def test_bounds_of_a_tiny_place_are_the_extremes_of_all_its_tables():
    groups, outcomes = np.array([5.0, 3.0]), np.array([4.0, 3.0, 1.0])
    every = tables_with(groups, outcomes)
    low, high = bounds(groups[None], outcomes[None])
    np.testing.assert_array_equal(low, every.min(axis=0))
    np.testing.assert_array_equal(high, every.max(axis=0))


def test_proportional_fitting_is_close_to_the_expectation_over_all_tables():
    groups, outcomes = np.array([12.0, 9.0]), np.array([8.0, 7.0, 6.0])
    rates = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    every = tables_with(groups, outcomes)
    prob = np.array(
        [
            np.prod([multinomial.pmf(row, row.sum(), p) for row, p in zip(t, rates, strict=True)])
            for t in every
        ]
    )
    expected = np.tensordot(prob / prob.sum(), every, axes=1)
    fitted = fit_margins(groups[:, None] * rates, groups, outcomes)
    np.testing.assert_allclose(fitted, expected, atol=0.15)


@settings(max_examples=30, deadline=None)
@given(places())
def test_proportional_fitting_keeps_the_margins(margins):
    groups, outcomes = margins
    start = np.random.default_rng(0).uniform(0.1, 1, (groups.shape[1], outcomes.shape[1]))
    fitted = fit_margins(np.broadcast_to(start, (len(groups), *start.shape)), groups, outcomes)
    np.testing.assert_allclose(fitted.sum(axis=2), groups, atol=1e-7)
    np.testing.assert_allclose(fitted.sum(axis=1), outcomes, atol=1e-7)


def test_an_unfinished_fit_keeps_the_people_of_every_group():
    groups, outcomes = np.array([50.0, 50.0]), np.array([60.0, 40.0])
    tables = groups[:, None] * np.array([[0.999, 0.001], [0.001, 0.999]])
    fitted = fit_margins(tables, groups, outcomes, max_sweeps=5)
    np.testing.assert_allclose(fitted.sum(axis=1), groups)


def test_goodman_is_non_negative_least_squares():
    rng = np.random.default_rng(3)
    groups = rng.integers(10, 90, (30, 3)).astype(float)
    outcomes = np.array([rng.multinomial(int(n), [0.5, 0.3, 0.2]) for n in groups.sum(axis=1)])
    weight = groups.sum(axis=1) ** -0.5
    expected = np.array(
        [nnls(groups * weight[:, None], outcomes[:, c] * weight)[0] for c in range(3)]
    ).T
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(goodman(groups, outcomes.astype(float)), expected, atol=1e-9)


def test_tables_of_places_have_their_margins():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 60, (25, 3)) + 1
    outcomes = np.array([rng.multinomial(n, [0.4, 0.4, 0.2]) for n in groups.sum(axis=1)])
    for n_draws in (2, 20):
        model = EcologicalInference(n_draws=n_draws).fit(groups, outcomes)
        np.testing.assert_allclose(model.place_tables_.sum(axis=2), groups, rtol=1e-7)
        np.testing.assert_allclose(model.place_tables_.sum(axis=1), outcomes, atol=1e-6)
        np.testing.assert_allclose(model.table_, model.place_tables_.sum(axis=0))
        assert (model.bounds_[0] <= model.table_ + 1e-6).all()
        assert (model.table_ <= model.bounds_[1] + 1e-6).all()


def test_a_place_with_one_group_has_a_known_table():
    groups = np.array([[10, 0], [0, 20], [8, 8]])
    outcomes = np.array([[7, 3], [4, 16], [6, 10]])
    model = EcologicalInference(n_draws=20).fit(groups, outcomes)
    np.testing.assert_allclose(model.place_tables_[0], [[7, 3], [0, 0]], atol=1e-8)
    np.testing.assert_allclose(model.place_tables_[1], [[0, 0], [4, 16]], atol=1e-8)
