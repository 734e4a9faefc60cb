"""The projection onto convex unbiased combinations, compared with a QP solver."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from decorrupt.corruption import combine_bags
from decorrupt.corruption.convex import project_to_convex
from decorrupt.losses import LOSSES
from oracles.combinations import moments, nearest_convex_by_qp, wanted_moments

METHODS = ("superbag", "pairs", "least_squares")
seeds = st.integers(0, 10_000)
methods = st.sampled_from(METHODS)


def random_problem(seed):
    """Return (sizes, proportions, class prior), the prior sometimes at an end of the range."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12))
    sizes = np.round(10 ** rng.uniform(0.3, 2.3, count))
    if seed % 3 == 0:  # ties, also at the ends
        proportions = rng.choice([0.1, 0.3, 0.6, 0.8], count)
        proportions[:2] = 0.1, 0.8
    else:
        proportions = rng.uniform(0.02, 0.98, count)
    lowest, highest = proportions.min(), proportions.max()
    prior = [lowest, highest, *rng.uniform(lowest, highest, 4)][seed % 6]
    return sizes, proportions, float(prior)


def distance(combination, start, sizes):
    """Σ[(a−a⁰)²+(b−b⁰)²]/n."""
    return np.sum((combination - start) ** 2 / sizes[:, None])


def assert_feasible(combination, sizes, proportions, class_prior):
    neg, pos = combination.T
    size = 1 + np.abs(pos).max() + np.abs(neg).max()
    np.testing.assert_allclose(
        moments(combination, proportions), wanted_moments(class_prior), atol=1e-10 * size
    )
    assert (pos + neg).min() >= -1e-14 * size


@settings(max_examples=150)
@given(methods, seeds)
def test_agrees_with_the_quadratic_program(method, seed):
    sizes, proportions, prior = random_problem(seed)
    start = combine_bags(sizes, proportions, method=method, class_prior=prior)
    projected = project_to_convex(start, sizes, proportions, prior)
    assert_feasible(projected, sizes, proportions, prior)
    by_solver = nearest_convex_by_qp(start, sizes, proportions, prior)
    # In exact arithmetic |x−x*|² ≤ f(x) − f(x*) for feasible x: distances settle optimality.
    assert distance(projected, start, sizes) <= distance(by_solver, start, sizes) + 1e-9
    np.testing.assert_allclose(projected, by_solver, atol=1e-4 * (1 + np.abs(start).max()))


@given(seeds)
def test_optimality_conditions(seed):
    """e = max(0, e⁰ + n(m₀ + m₁γ)): bags in use are on one plane, all others above it."""
    sizes, proportions, _ = random_problem(seed)
    prior = float(np.quantile(proportions, 0.2) + 1e-3)
    assume(prior < proportions.max())
    start = combine_bags(sizes, proportions, class_prior=prior)
    neg, pos = project_to_convex(start, sizes, proportions, prior).T
    even, even_start = pos + neg, start.sum(axis=1)
    used = even > 1e-9
    assume(np.ptp(proportions[used]) > 1e-3)  # otherwise the plane is not determined
    rise = (even - even_start) / sizes
    slope, level = np.polyfit(proportions[used], rise[used], 1, w=np.sqrt(sizes[used]))
    plane = level + slope * proportions
    np.testing.assert_allclose(sizes[used] * rise[used], (sizes * plane)[used], atol=1e-9)
    assert (even_start + sizes * plane)[~used].max(initial=-math.inf) <= 1e-9


@given(seeds)
def test_the_odd_part_stays(seed):
    sizes, proportions, prior = random_problem(seed)
    start = combine_bags(sizes, proportions, class_prior=prior)
    neg, pos = project_to_convex(start, sizes, proportions, prior).T
    np.testing.assert_allclose(pos - neg, start[:, 1] - start[:, 0], rtol=1e-12, atol=1e-12)


@given(methods, seeds)
def test_projecting_twice_is_projecting_once(method, seed):
    sizes, proportions, prior = random_problem(seed)
    start = combine_bags(sizes, proportions, method=method, class_prior=prior)
    once = project_to_convex(start, sizes, proportions, prior)
    twice = project_to_convex(once, sizes, proportions, prior)
    np.testing.assert_allclose(twice, once, rtol=1e-9, atol=1e-11)


class TestAlreadyConvex:
    def test_proportions_on_both_sides_in_every_pair(self):
        arguments = ([10, 10, 10, 10], [0.9, 0.1, 0.7, 0.4])
        plain = combine_bags(*arguments, method="pairs")
        assert (plain.sum(axis=1) > 0).all()
        projected = combine_bags(*arguments, method="pairs", convex="project")
        np.testing.assert_allclose(projected, plain, rtol=1e-13)

    @given(seeds)
    def test_least_squares_at_the_pooled_prior(self, seed):
        sizes, proportions, _ = random_problem(seed)
        options = {"method": "least_squares", "class_prior": "pooled"}
        plain = combine_bags(sizes, proportions, **options)
        projected = combine_bags(sizes, proportions, convex="project", **options)
        np.testing.assert_allclose(projected, plain, rtol=1e-10, atol=1e-13)

    def test_arguments_are_not_written_to(self):
        sizes, proportions, prior = random_problem(2)
        start = combine_bags(sizes, proportions, class_prior=prior)
        before = [array.copy() for array in (start, sizes, proportions)]
        project_to_convex(start, sizes, proportions, prior)
        np.testing.assert_array_equal(before[0], start)
        np.testing.assert_array_equal(before[1], sizes)
        np.testing.assert_array_equal(before[2], proportions)


class TestEnds:
    def test_prior_at_the_lowest_proportion_by_hand(self):
        """Only the bags at the end can be used, with Σe = 1: nearest to e⁰ in the metric 1/n."""
        sizes, proportions = np.array([10.0, 30.0, 20.0]), np.array([0.2, 0.2, 0.7])
        start = np.column_stack([np.zeros(3), [0.9, 0.3, -0.2]])
        projected = project_to_convex(start, sizes, proportions, 0.2)
        # .2 too much is taken off in proportion to the sizes
        np.testing.assert_allclose(projected.sum(axis=1), [0.85, 0.15, 0], atol=1e-12)

    def test_an_end_bag_can_be_dropped_too(self):
        sizes, proportions = np.array([10.0, 10.0, 20.0]), np.array([0.7, 0.7, 0.2])
        start = np.column_stack([np.zeros(3), [2.0, -1.0, 0.0]])
        projected = project_to_convex(start, sizes, proportions, 0.7)
        np.testing.assert_allclose(projected.sum(axis=1), [1, 0, 0], atol=1e-12)

    @pytest.mark.parametrize("nearness", [1e-3, 1e-6, 1e-9])
    def test_prior_next_to_an_end(self, nearness):
        """Almost all weight on the lowest bag, the rest is fixed by the two sums."""
        sizes, proportions = np.array([10.0, 20.0, 15.0]), np.array([0.3, 0.5, 0.9])
        prior = 0.3 + nearness
        combination = combine_bags(sizes, proportions, class_prior=prior, convex="project")
        assert_feasible(combination, sizes, proportions, prior)
        even = combination.sum(axis=1)
        assert even[0] == pytest.approx(1, abs=5.1 * nearness)


class TestRefusals:
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("prior", [0.25, 0.85, 0.2999999])
    def test_no_convex_combination_outside_the_range(self, method, prior):
        with pytest.raises(ValueError, match="no convex combination exists") as caught:
            combine_bags([5, 5, 8], [0.3, 0.5, 0.8], method=method, class_prior=prior,
                           convex="project")  # fmt: skip
        assert f"class_prior={prior:g}" in str(caught.value)
        assert "[0.3, 0.8]" in str(caught.value)
        assert "class_prior='pooled'" in str(caught.value)

    def test_the_advice_can_be_followed(self):
        with pytest.raises(ValueError, match="no convex combination") as caught:
            combine_bags([5, 5], [0.9, 0.6], convex="project")
        # combine_bags knows None and "project" only.
        assert "convex='check'" not in str(caught.value)

    def test_it_is_indeed_impossible(self):
        """e ≥ 0, Σe = 1 and Σeγ = π make π a mean of the proportions."""
        even = np.random.default_rng(0).dirichlet(np.ones(3), 1000)
        reachable = even @ np.array([0.3, 0.5, 0.8])
        assert (reachable.min(), reachable.max()) > (0.3, 0.3)
        assert reachable.max() < 0.8


def test_projected_risk_is_convex_row_by_row():
    sizes, proportions = np.array([10.0, 20.0, 5.0, 8.0]), np.array([0.9, 0.7, 0.95, 0.45])
    for method in METHODS:
        plain = combine_bags(sizes, proportions, method=method)
        assert plain.sum(axis=1).min() < 0
        projected = combine_bags(sizes, proportions, method=method, convex="project")
        for loss in LOSSES.values():
            if loss.has_even_curvature:
                assert loss.concavity(projected).max() < 1e-14


HARD = [
    # easy_llp starts far from unbiased when big bags are not random draws
    ([1002, 3788, 27, 3128, 4348, 4592], [0.741, 0.908, 0.426, 0.9, 0.215, 0.635], 0.2183771),
    (
        [501645, 337, 966, 244344, 202252, 3303],
        [4.1e-05, 0.023843, 0.110439, 0.001741, 0.143911, 0.000425],
        0.002048,
    ),
    (
        [49691, 8, 61348, 2, 50546, 1844, 1],
        [0.01657, 2.7e-05, 0.000873, 0.001397, 0.065374, 0.04622, 0.000157],
        2.73e-05,
    ),
]


@pytest.mark.parametrize(("sizes", "proportions", "prior"), HARD)
def test_a_start_far_away_is_projected_all_the_same(sizes, proportions, prior):
    """The even part must sum to one and to the prior, regardless of the starting point."""
    neg, pos = combine_bags(
        sizes, proportions, method="easy_llp", class_prior=prior, convex="project"
    ).T
    even = pos + neg
    assert even.min() >= -1e-9
    assert even.sum() == pytest.approx(1, abs=1e-8)
    assert even @ np.array(proportions) == pytest.approx(prior, abs=1e-8)
