"""The Laplacian mean map against a solve of its objective, the alternating one at rest."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from decorrupt.corruption import combine_bags
from decorrupt.observed import Observed, class_columns, read_bags
from oracles.mean_map import (
    fit_from_mean_operator,
    laplacian_class_means,
    laplacian_mean_operator,
    laplacian_objective,
    link_weights,
    top_rows,
)
from reproduction.mean_map_variants import (
    WEAK_LINK,
    alternating_mean_map,
    label_top_rows,
    laplacian_combination,
    laplacian_mean_map,
)

N_FEATURES = 3


def observe(sizes, proportions):
    row_bag = np.repeat(np.arange(len(sizes)), sizes)
    return Observed(
        np.array([0, 1]), np.arange(len(sizes)), row_bag, class_columns(np.array(proportions))
    )


def draw(seed, n_bags=7):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n_bags, N_FEATURES))
    return observe(rng.integers(1, 20, n_bags), rng.uniform(size=n_bags)), means


def oracle_links(means, sizes):
    """Return the links of Gaussian similarities, pair by pair."""
    n_bags = len(means)
    squares = np.array([[np.sum((a - b) ** 2) for b in means] for a in means])
    scale = squares.sum() / (n_bags * (n_bags - 1))
    return link_weights(sizes, np.exp(-squares / scale), WEAK_LINK)


def odd_part(combination):
    return combination[:, 1] - combination[:, 0]


@given(st.integers(0, 10_000), st.sampled_from([1e-4, 0.1, 1.0, 100.0]))
def test_equals_a_dense_solve_of_the_written_objective(seed, smoothness):
    observed, means = draw(seed)
    sizes, shares = observed.sizes, observed.proportions[:, 1]
    combination = laplacian_combination(means, observed, smoothness)
    links = oracle_links(means, sizes)
    expected = laplacian_mean_operator(sizes, shares, means, links, smoothness)
    assert_allclose(odd_part(combination) @ means, expected, rtol=1e-8)
    assert_allclose(combination.sum(axis=1), sizes / sizes.sum(), rtol=1e-12)


def test_the_dense_solve_minimises_the_written_objective():
    observed, means = draw(0, n_bags=4)
    sizes, shares = observed.sizes, observed.proportions[:, 1]
    links = oracle_links(means, sizes)
    at = laplacian_class_means(sizes, shares, means, links, 0.5)
    lowest = laplacian_objective(*at, sizes, shares, means, links, 0.5)
    for step in 1e-2 * np.random.default_rng(1).normal(size=(20, 2, 4, N_FEATURES)):
        moved = at[0] + step[0], at[1] + step[1]
        assert laplacian_objective(*moved, sizes, shares, means, links, 0.5) > lowest


def test_without_end_of_smoothness_it_is_the_mean_map():
    observed, means = draw(2, n_bags=30)
    mean_map = combine_bags(
        observed.sizes, observed.proportions, method="least_squares", class_prior="pooled"
    )
    gaps = [
        np.abs(
            odd_part(laplacian_combination(means, observed, smoothness)) - odd_part(mean_map)
        ).max()
        for smoothness in (1.0, 1e2, 1e4, 1e6)
    ]
    assert gaps[0] > 1e-3
    assert gaps[3] < 1e-6
    # The difference decreases as 1/smoothness.
    assert_allclose([gaps[2] / gaps[1], gaps[3] / gaps[2]], 1e-2, rtol=0.05)


@given(st.integers(0, 10_000), st.sampled_from([1e-3, 1.0, 1e3]))
def test_unbiased_where_all_bags_share_their_class_means(seed, smoothness):
    observed, means = draw(seed)
    shares, prior = observed.proportions[:, 1], observed.class_prior[1]
    neg, pos = laplacian_combination(means, observed, smoothness).T
    assert_allclose(pos @ shares, prior, atol=1e-7)
    assert_allclose(pos @ (1 - shares), 0, atol=1e-7)
    assert_allclose(neg @ shares, 0, atol=1e-7)
    assert_allclose(neg @ (1 - shares), 1 - prior, atol=1e-7)


@pytest.fixture
def uneven_bags():
    """300 rows in 12 bags of 5 to 49 rows, a fifth of the rows positive."""
    rng = np.random.default_rng(11)
    sizes = np.array([5, 9, 13, 17, 21, 25, 25, 29, 33, 37, 37, 49])
    bags = np.repeat(np.arange(12), sizes)
    labels = (rng.random(300) < np.repeat(rng.uniform(0, 0.5, 12), sizes)).astype(int)
    X = rng.normal(size=(300, 2)) + 2 * labels[:, None]
    shares = np.bincount(bags, labels) / sizes
    return SimpleNamespace(
        X=X, labels=labels, bags=bags, sizes=sizes, shares=shares, y=shares[bags]
    )


@pytest.mark.parametrize("smoothness", [0.01, 1.0])
def test_laplacian_is_the_minimiser_for_the_smooth_class_means(uneven_bags, smoothness):
    d = uneven_bags
    means = read_bags(d.y, d.bags).mean_by_bag(d.X)
    links = oracle_links(means, d.sizes)
    operator = laplacian_mean_operator(d.sizes, d.shares, means, links, smoothness)
    expected = fit_from_mean_operator(d.X, operator, d.labels.mean(), 0.02)
    theta, intercept = laplacian_mean_map(
        d.X, d.y, d.bags, reg_strength=0.02, smoothness=smoothness
    )
    assert_allclose(theta, expected[0], rtol=1e-5)
    assert intercept == pytest.approx(expected[1], rel=1e-5)


@pytest.mark.parametrize("data_name", ["bag_data", "uneven_bags"])
def test_alternating_comes_to_rest_at_its_own_top_rows(request, data_name):
    d = request.getfixturevalue(data_name)
    model = alternating_mean_map(d.X, d.y, d.bags, reg_strength=1e-3)
    scores = model.decision_function(d.X)
    counts = {bag: int((d.labels[d.bags == bag]).sum()) for bag in np.unique(d.bags)}
    labels = label_top_rows(scores, read_bags(d.y, d.bags))
    assert_array_equal(labels == 1, top_rows(scores, d.bags, counts))
    refit = clone(model).fit(d.X, labels)
    assert_allclose(refit.coef_, model.coef_)
    assert balanced_accuracy_score(d.labels, scores > 0) > 0.85
