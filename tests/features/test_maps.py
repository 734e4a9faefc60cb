"""Feature maps: the features of the training rows, and the scores of new ones."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from decorrupt.features import (
    DEFAULT_RANK_TOL,
    Kernel,
    KernelFunction,
    LinearMap,
    fit_feature_map,
    kernel_scores,
    maps,
)
from decorrupt.solvers import solve
from oracles.dense_kernel import gram, solve_dual
from oracles.dense_risk import clean_coefs, make_objective, row_curvatures, row_slopes

KERNEL_SHAPES = {
    "rbf": {"gamma": 0.5},
    "exponential": {"gamma": 0.5},
    "laplacian": {"gamma": 0.5},
    "polynomial": {"gamma": 0.5, "degree": 3, "coef0": 1.0},
}


def rows(n_rows, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, 3))


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("max_rank", [8, None])
@pytest.mark.parametrize("name", KERNEL_SHAPES)
def test_training_rows_score_alike_by_features_and_by_landmarks(name, max_rank, wrap):
    X = wrap(rows(50))
    kernel = Kernel(name, **KERNEL_SHAPES[name])
    fitted = fit_feature_map(X, replace(kernel, rank_tol=1e-6, max_rank=max_rank), random_state=0)
    theta = np.random.default_rng(1).normal(size=fitted.rank)
    expected = fitted.matrix @ theta
    scores = kernel_scores(X, kernel.function(X), X[fitted.pivots], fitted.coefficients(theta))
    assert_allclose(scores, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", KERNEL_SHAPES)
def test_the_norm_of_theta_is_the_norm_of_the_function(name):
    X = rows(40)
    kernel = Kernel(name, **KERNEL_SHAPES[name])
    fitted = fit_feature_map(X, replace(kernel, max_rank=10, rank_tol=0), random_state=0)
    theta = np.random.default_rng(1).normal(size=10)
    dual_coef = fitted.coefficients(theta)
    marks = X[fitted.pivots]
    squared_norm = dual_coef @ gram(marks, marks, name, **KERNEL_SHAPES[name]) @ dual_coef
    assert_allclose(squared_norm, theta @ theta, rtol=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("name", ["rbf", "exponential", "laplacian"])
def test_at_full_rank_new_rows_score_as_the_dense_kernel_machine_says(name, loss):
    X, new = rows(40), rows(15, seed=1)
    coefs = clean_coefs(np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1))
    matrix = gram(X, X, name, **KERNEL_SHAPES[name])
    alpha = solve_dual(
        matrix,
        lambda scores: row_slopes(loss, *coefs, scores),
        lambda scores: row_curvatures(loss, *coefs, scores),
        reg_strength=0.01,
    )
    kernel = Kernel(name, **KERNEL_SHAPES[name])
    fitted = fit_feature_map(X, replace(kernel, rank_tol=0), random_state=0)
    assert fitted.rank == 40
    theta = solve(make_objective(fitted.matrix, *coefs, loss, 0.01), tol=1e-11).coef
    scores = kernel_scores(new, kernel.function(X), X[fitted.pivots], fitted.coefficients(theta))
    expected = gram(new, X, name, **KERNEL_SHAPES[name]) @ alpha
    assert_allclose(scores, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("rank_tol", [0.0, 1e-2])
def test_precomputed_is_the_kernel_computed_beforehand(rank_tol):
    X, new = rows(40), rows(10, seed=1)
    kernel, precomputed = Kernel("rbf", gamma=0.5), Kernel("precomputed")
    computed = fit_feature_map(X, replace(kernel, rank_tol=rank_tol), random_state=0)
    given = fit_feature_map(
        kernel.function(X).block(X, X), replace(precomputed, rank_tol=rank_tol), random_state=0
    )
    assert_array_equal(given.pivots, computed.pivots)
    assert_allclose(given.matrix, computed.matrix, atol=1e-9)
    assert_allclose(given.error, computed.error, atol=1e-12)
    theta = np.random.default_rng(1).normal(size=computed.rank)
    by_rows = kernel_scores(
        new, kernel.function(X), X[computed.pivots], computed.coefficients(theta)
    )
    by_matrix = kernel_scores(
        kernel.function(X).block(new, X),
        precomputed.function(X),
        given.pivots,
        given.coefficients(theta),
    )
    assert_allclose(by_matrix, by_rows, atol=1e-7)


def test_a_sparse_precomputed_matrix_is_one_too():
    X = rows(20)
    matrix = KernelFunction("rbf", 0.5).block(X, X)
    matrix[np.abs(matrix) < 1e-3] = 0.0
    matrix += 0.1 * np.eye(20)
    dense = fit_feature_map(matrix, Kernel("precomputed", rank_tol=0), random_state=0)
    given = sparse.csr_matrix(matrix)
    fitted = fit_feature_map(given, Kernel("precomputed", rank_tol=0), random_state=0)
    assert_allclose(fitted.matrix, dense.matrix)
    theta = np.ones(fitted.rank)
    scores = kernel_scores(
        given, KernelFunction("precomputed"), fitted.pivots, fitted.coefficients(theta)
    )
    assert_allclose(scores, fitted.matrix @ theta, atol=1e-9)


def test_the_linear_map_leaves_the_rows_alone():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.normal(size=(30, 12)) * (rng.random((30, 12)) < 0.2))
    fitted = fit_feature_map(X, Kernel("linear", rank_tol=0.5, max_rank=2))
    assert isinstance(fitted, LinearMap)
    assert fitted.matrix is X
    assert (fitted.rank, fitted.error) == (12, 0.0)
    theta = np.arange(12.0)
    assert_array_equal(fitted.coefficients(theta), theta)
    assert fitted.coarse().matrix is X


@pytest.mark.parametrize("block_rows", [1, 7, 50])
def test_scores_come_out_the_same_in_blocks_of_any_size(block_rows, monkeypatch):
    X, marks = rows(50), rows(6, seed=1)
    dual_coef = np.arange(6.0)
    monkeypatch.setattr(maps, "SCORE_BLOCK_ROWS", block_rows)
    expected = gram(X, marks, "rbf", 0.5) @ dual_coef
    assert_allclose(kernel_scores(X, KernelFunction("rbf", 0.5), marks, dual_coef), expected)


def test_the_rank_follows_the_tolerance_and_its_limits(monkeypatch):
    X, kernel = rows(60), Kernel("exponential", gamma=1.0)
    assert fit_feature_map(X, replace(kernel, rank_tol=0), random_state=0).rank == 60
    loose = fit_feature_map(X, replace(kernel, rank_tol=0.3), random_state=0)
    assert loose.rank < 60
    assert loose.error <= 0.3
    assert fit_feature_map(X, replace(kernel, rank_tol=0, max_rank=7), random_state=0).rank == 7
    assert fit_feature_map(X, replace(kernel, rank_tol=0, max_rank=1000), random_state=0).rank == 60
    monkeypatch.setattr(maps, "default_max_rank", lambda _: 5)
    assert fit_feature_map(X, replace(kernel, rank_tol=1e-6), random_state=0).rank == 5
    assert fit_feature_map(X, replace(kernel, rank_tol=0), random_state=0).rank == 60


def test_the_default_tolerance_is_kept():
    X, kernel = rows(60), Kernel("rbf", gamma=0.1)
    fitted = fit_feature_map(X, kernel, random_state=0)
    matrix = gram(X, X, "rbf", 0.1)
    missing = np.trace(matrix - fitted.matrix @ fitted.matrix.T) / 60
    assert missing <= DEFAULT_RANK_TOL
    assert_allclose(fitted.error, missing, rtol=1e-6)


def test_coarse_features_are_the_fewest_first_that_leave_little(monkeypatch):
    X, kernel = rows(60), Kernel("rbf", gamma=0.5)
    fitted = fit_feature_map(X, kernel, random_state=0)
    assert fitted.coarse().matrix is fitted.matrix
    monkeypatch.setattr(maps, "MIN_COARSE_RANK", 4)
    coarse = fitted.coarse().matrix
    rank = coarse.shape[1]
    assert 4 < rank < fitted.rank
    assert_array_equal(coarse, fitted.matrix[:, :rank])
    full = gram(X, X, "rbf", 0.5)
    left, left_by_fewer = (
        np.trace(full - fitted.matrix[:, :r] @ fitted.matrix[:, :r].T) / 60
        for r in (rank, rank - 1)
    )
    assert left <= maps.COARSE_ERROR < left_by_fewer
    assert_allclose(fitted.coarse().error, left)
    monkeypatch.setattr(maps, "MIN_COARSE_RANK", rank + 3)
    assert fitted.coarse().matrix.shape[1] == rank + 3


def test_many_rows_are_compared_with_few_landmarks(monkeypatch):
    fitted = fit_feature_map(rows(60), Kernel("rbf", gamma=0.5), random_state=0)
    monkeypatch.setattr(maps, "COARSE_CELLS", 60 * 7.5)
    assert fitted.coarse() is fitted  # 256 landmarks are always few
    monkeypatch.setattr(maps, "LEAST_COARSE_RANK", 5)
    coarse = fitted.coarse()
    assert coarse.rank == coarse.matrix.shape[1] == 7
    theta = np.arange(7.0)
    assert_allclose(
        coarse.coefficients(theta) @ gram(rows(60)[coarse.pivots], rows(60), "rbf", 0.5),
        coarse.matrix @ theta,
        atol=1e-12,
    )
    monkeypatch.setattr(maps, "LEAST_COARSE_RANK", 9)
    assert fitted.coarse().rank == 9


def test_features_coarser_than_coarse_are_taken_whole(monkeypatch):
    monkeypatch.setattr(maps, "MIN_COARSE_RANK", 4)
    fitted = fit_feature_map(rows(60), Kernel("rbf", gamma=0.5, max_rank=9), random_state=0)
    assert fitted.error > maps.COARSE_ERROR
    assert fitted.coarse().matrix.shape[1] == 9


def test_an_integer_seed_makes_the_map_reproducible():
    X, kernel = rows(60), Kernel("rbf", gamma=0.5)
    first, again = (
        fit_feature_map(X, replace(kernel, max_rank=9), random_state=3) for _ in range(2)
    )
    assert_array_equal(first.matrix, again.matrix)


def test_single_precision_stays_single():
    X = rows(40).astype(np.float32)
    kernel = Kernel("rbf", gamma=0.5)
    fitted = fit_feature_map(X, kernel, random_state=0)
    assert fitted.matrix.dtype == np.float32
    dual_coef = fitted.coefficients(np.ones(fitted.rank, dtype=np.float32))
    assert dual_coef.dtype == np.float32
    scores = kernel_scores(X, kernel.function(X), X[fitted.pivots], dual_coef)
    assert scores.dtype == np.float32
    assert_allclose(scores, fitted.matrix.sum(axis=1), atol=1e-2)


@pytest.mark.parametrize("rank_tol", [-0.1, np.nan, 1.0])
def test_a_bad_rank_tol_is_refused(rank_tol):
    with pytest.raises(ValueError, match=r"rank_tol=.* must be .*0"):
        fit_feature_map(rows(5), Kernel("rbf", rank_tol=rank_tol))


@pytest.mark.parametrize("max_rank", [0, -3])
def test_a_bad_max_rank_is_refused(max_rank):
    with pytest.raises(ValueError, match=rf"max_rank={max_rank} must be at least 1, or None"):
        fit_feature_map(rows(5), Kernel("rbf", max_rank=max_rank))


def test_a_precomputed_matrix_must_be_square():
    with pytest.raises(ValueError, match=r"square matrix.*got 5 × 3"):
        fit_feature_map(rows(5), Kernel("precomputed"))
