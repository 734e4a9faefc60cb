"""The combination of the Laplacian mean map, compared with a dense solve of its objective."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from decorrupt.corruption import combine_bags, mean_operator
from decorrupt.corruption.mean_operator import (
    WEAK_LINK,
    bag_means,
    check_similarity,
    gaussian_similarity,
    laplacian_combination,
)
from decorrupt.observed import Observed, class_columns
from oracles.mean_map import (
    laplacian_class_means,
    laplacian_mean_operator,
    laplacian_objective,
    least_squares_class_means,
    link_weights,
    pooled_mean_operator,
)

N_FEATURES = 3


def draw(seed, n_bags=7):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n_bags, N_FEATURES))
    return rng.integers(1, 20, n_bags), rng.uniform(size=n_bags), means


def laplacian(*problem):
    combination, converged = laplacian_combination(*problem)
    assert converged
    return combination


def odd_part(combination):
    return combination[:, 1] - combination[:, 0]


@st.composite
def bags(draw_from):
    n_bags = draw_from(st.integers(2, 8))
    sizes = draw_from(st.lists(st.integers(1, 50), min_size=n_bags, max_size=n_bags))
    shares = st.lists(st.integers(0, 20), min_size=n_bags, max_size=n_bags, unique=True)
    return np.array(sizes), np.array(draw_from(shares)) / 20


@given(bags(), st.integers(0, 2**32 - 1))
def test_pooled_least_squares_is_the_mean_map(bag_numbers, seed):
    """Rows weighted by a_k/γ̄ average to μ⁺, by b_k/(1−γ̄) to μ⁻."""
    sizes, proportions = bag_numbers
    means = np.random.default_rng(seed).normal(size=(len(sizes), N_FEATURES))
    prior = np.average(proportions, weights=sizes)
    neg, pos = combine_bags(sizes, proportions, method="least_squares", class_prior="pooled").T
    expected = least_squares_class_means(sizes, proportions, means)
    assert_allclose(pos @ means / prior, expected[0], atol=1e-9)
    assert_allclose(neg @ means / (1 - prior), expected[1], atol=1e-9)
    assert_allclose((pos - neg) @ means, pooled_mean_operator(sizes, proportions, means), atol=1e-9)


@given(st.integers(0, 10_000), st.sampled_from([1e-4, 0.1, 1.0, 100.0]))
def test_equals_a_dense_solve_of_the_written_objective(seed, smoothness):
    sizes, proportions, means = draw(seed)
    similarity = gaussian_similarity(means)
    links = link_weights(sizes, similarity, WEAK_LINK)
    combination = laplacian(sizes, proportions, similarity, smoothness)
    expected = laplacian_mean_operator(sizes, proportions, means, links, smoothness)
    assert_allclose(odd_part(combination) @ means, expected, rtol=1e-8)
    assert_allclose(combination.sum(axis=1), sizes / sizes.sum(), rtol=1e-12)


def test_the_dense_solve_minimises_the_written_objective():
    sizes, proportions, means = draw(0, n_bags=4)
    links = link_weights(sizes, gaussian_similarity(means), WEAK_LINK)
    at = laplacian_class_means(sizes, proportions, means, links, 0.5)
    lowest = laplacian_objective(*at, sizes, proportions, means, links, 0.5)
    for step in 1e-2 * np.random.default_rng(1).normal(size=(20, 2, 4, N_FEATURES)):
        moved = at[0] + step[0], at[1] + step[1]
        assert laplacian_objective(*moved, sizes, proportions, means, links, 0.5) > lowest


def test_without_end_of_smoothness_it_is_the_mean_map():
    sizes, proportions, means = draw(2, n_bags=30)
    mean_map = combine_bags(sizes, proportions, method="least_squares", class_prior="pooled")
    gaps = []
    for smoothness in (1.0, 1e2, 1e4, 1e6):
        combination = laplacian(sizes, proportions, gaussian_similarity(means), smoothness)
        gaps.append(np.abs(odd_part(combination) - odd_part(mean_map)).max())
    assert gaps[0] > 1e-3
    assert gaps[3] < 1e-6
    # The difference decreases as 1/smoothness.
    assert_allclose([gaps[2] / gaps[1], gaps[3] / gaps[2]], 1e-2, rtol=0.05)


@given(bags(), st.sampled_from([1e-3, 1.0, 1e3]), st.integers(0, 2**32 - 1))
def test_unbiased_where_all_bags_share_their_class_means(bag_numbers, smoothness, seed):
    sizes, proportions = bag_numbers
    similarity = np.random.default_rng(seed).uniform(size=(len(sizes), len(sizes)))
    neg, pos = laplacian(sizes, proportions, similarity + similarity.T, smoothness).T
    prior = np.average(proportions, weights=sizes)
    assert_allclose(pos @ proportions, prior, atol=1e-7)
    assert_allclose(pos @ (1 - proportions), 0, atol=1e-7)
    assert_allclose(neg @ proportions, 0, atol=1e-7)
    assert_allclose(neg @ (1 - proportions), 1 - prior, atol=1e-7)


def test_pure_bags_need_no_estimate():
    sizes, proportions = np.array([3, 5, 4]), np.array([1.0, 0.0, 1.0])
    similarity = gaussian_similarity(np.array([[0.0], [3.0], [1.0]]))
    neg, pos = laplacian(sizes, proportions, similarity, 1.0).T
    # Two positive bags share weight but keep its sum; the negative bag has no similar bag.
    assert_allclose(pos.sum(), 7 / 12)
    assert_allclose([pos[1], neg[1]], [0, 5 / 12], atol=1e-12)


def test_the_scale_of_the_similarity_and_split_bags_change_nothing():
    sizes, proportions, means = draw(3)
    similarity = gaussian_similarity(means)
    whole = laplacian(sizes, proportions, similarity, 2.0)
    scaled = laplacian(sizes, proportions, 1e5 * similarity, 2.0)
    assert_allclose(odd_part(scaled), odd_part(whole), rtol=1e-9)
    twice = np.r_[0, 0, 1 : len(sizes)]
    halves = sizes[twice] / np.where(twice == 0, 2, 1)
    split = laplacian(halves, proportions[twice], similarity[np.ix_(twice, twice)], 2.0)
    assert_allclose(odd_part(split)[:2], odd_part(whole)[0] / 2, rtol=1e-8)
    assert_allclose(odd_part(split)[2:], odd_part(whole)[1:], rtol=1e-8)


def test_islands_of_equal_proportions_are_tied_to_the_rest():
    similarity = np.kron(np.eye(3), np.ones((4, 4)))
    proportions = np.repeat([0.2, 0.5, 0.9], 4)
    sizes = np.full(12, 10)
    links = link_weights(sizes, similarity, WEAK_LINK)
    means = np.random.default_rng(0).normal(size=(12, N_FEATURES))
    combination = laplacian(sizes, proportions, similarity, 1.0)
    expected = laplacian_mean_operator(sizes, proportions, means, links, 1.0)
    assert_allclose(odd_part(combination) @ means, expected, rtol=1e-6)
    assert_allclose(combination[:, 1] @ (1 - proportions), 0, atol=1e-7)


def test_thousands_of_bags_take_few_products():
    n_bags = 3000
    rng = np.random.default_rng(0)
    products = []

    class Counting(sparse.csr_array):
        def __matmul__(self, other):
            products.append(other.shape)
            return super().__matmul__(other)

    around = np.arange(n_bags)
    ring = sparse.coo_array((np.ones(n_bags), (around, (around + 1) % n_bags)))
    similarity = Counting(ring + ring.T)
    proportions = rng.uniform(size=n_bags)
    sizes = rng.integers(1, 1000, n_bags)
    neg, pos = laplacian(sizes, proportions, similarity, 1.0).T
    assert_allclose(pos @ (1 - proportions), 0, atol=1e-6)
    assert_allclose(neg @ proportions, 0, atol=1e-6)
    assert len(products) < 300


def test_gaussian_similarity_by_hand():
    means = np.random.default_rng(0).normal(size=(6, 2)) + 1e6
    squares = pdist(means) ** 2
    expected = np.exp(-squareform(squares) / squares.mean())
    assert_allclose(gaussian_similarity(means), expected, rtol=1e-8)
    assert_allclose(gaussian_similarity(sparse.csr_array(means - 1e6)), expected, rtol=1e-8)
    assert_allclose(gaussian_similarity(np.ones((4, 2))), 1.0)


def test_many_bags_are_linked_to_their_nearest(monkeypatch):
    means = np.random.default_rng(0).normal(size=(40, 2))
    dense = gaussian_similarity(means)
    monkeypatch.setattr(mean_operator, "ALL_PAIRS_BAGS", 39)
    monkeypatch.setattr(mean_operator, "NEIGHBOURS", 39)
    assert_allclose(gaussian_similarity(means).toarray(), dense, rtol=1e-8)
    monkeypatch.setattr(mean_operator, "NEIGHBOURS", 5)
    few = gaussian_similarity(means)
    assert few.nnz < 40 * 11
    linked = few.toarray() > 0
    assert (linked == linked.T).all()
    assert_allclose(few.toarray()[linked], dense[linked], rtol=1e-8)
    for row in range(40):
        assert linked[row, np.argsort(-dense[row])[:6]].all()


def test_bag_means_are_means():
    rng = np.random.default_rng(0)
    codes = np.array([2, 0, 1, 0, 2, 2])
    shares = class_columns([0.1, 0.5, 0.9])
    observed = Observed(np.array([0, 1]), np.array(["a", "b", "c"]), codes, shares)
    rows = rng.normal(size=(6, 4))
    expected = np.array([rows[codes == k].mean(axis=0) for k in range(3)])
    assert_allclose(bag_means(rows, observed), expected)
    from_sparse = bag_means(sparse.csr_matrix(rows), observed)
    assert sparse.issparse(from_sparse)
    assert_allclose(from_sparse.toarray(), expected)


@pytest.mark.parametrize(
    ("similarity", "message"),
    [
        (np.ones((2, 3)), r"shape \(3, 3\).*sorted order of their ids; got shape \(2, 3\)"),
        (np.ones(3), r"got shape \(3,\)"),
        ([["x"] * 3] * 3, r"a matrix of numbers"),
        (-np.ones((3, 3)), r"finite numbers of at least 0"),
        (np.full((3, 3), np.nan), r"finite numbers of at least 0"),
        (np.zeros((3, 3)), r"not all of them 0"),
        (np.triu(np.ones((3, 3))), r"symmetric"),
        (sparse.csr_array(np.triu(np.ones((3, 3)))), r"symmetric"),
    ],
)
def test_bad_similarity(similarity, message):
    with pytest.raises(ValueError, match=message):
        check_similarity(similarity, 3)


@pytest.mark.parametrize("smoothness", [0.0, -1.0, np.nan, np.inf])
def test_bad_smoothness(smoothness):
    with pytest.raises(ValueError, match=r"smoothness=.*must be a positive number"):
        laplacian([5, 5], [0.2, 0.8], np.ones((2, 2)), smoothness)
