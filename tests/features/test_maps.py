"""Feature maps: the features of the training rows, and the scores of new ones."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from decorrupt import CorrectedLossClassifier
from decorrupt.features import Kernel, fit_feature_map, kernel_scores, maps
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
    scores = kernel_scores(X, kernel, fitted.landmarks(X), fitted.coefficients(theta))
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
    scores = kernel_scores(new, kernel, fitted.landmarks(X), fitted.coefficients(theta))
    expected = gram(new, X, name, **KERNEL_SHAPES[name]) @ alpha
    assert_allclose(scores, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("rank_tol", [0.0, 1e-2])
def test_precomputed_is_the_kernel_computed_beforehand(rank_tol):
    X, new = rows(40), rows(10, seed=1)
    kernel, precomputed = Kernel("rbf", gamma=0.5), Kernel("precomputed")
    computed = fit_feature_map(X, replace(kernel, rank_tol=rank_tol), random_state=0)
    given = fit_feature_map(
        kernel.block(X, X), replace(precomputed, rank_tol=rank_tol), random_state=0
    )
    assert_array_equal(given.pivots, computed.pivots)
    assert_allclose(given.matrix, computed.matrix, atol=1e-9)
    assert_allclose(given.error, computed.error, atol=1e-12)
    theta = np.random.default_rng(1).normal(size=computed.rank)
    by_rows = kernel_scores(new, kernel, computed.landmarks(X), computed.coefficients(theta))
    by_matrix = kernel_scores(
        kernel.block(new, X), precomputed, given.pivots, given.coefficients(theta)
    )
    assert_allclose(by_matrix, by_rows, atol=1e-7)


def test_a_sparse_precomputed_matrix_is_one_too():
    X = rows(20)
    matrix = Kernel("rbf", gamma=0.5).block(X, X)
    matrix[np.abs(matrix) < 1e-3] = 0.0
    matrix += 0.1 * np.eye(20)
    dense = fit_feature_map(matrix, Kernel("precomputed", rank_tol=0), random_state=0)
    given = sparse.csr_matrix(matrix)
    fitted = fit_feature_map(given, Kernel("precomputed", rank_tol=0), random_state=0)
    assert_allclose(fitted.matrix, dense.matrix)
    theta = np.ones(fitted.rank)
    scores = kernel_scores(given, Kernel("precomputed"), fitted.pivots, fitted.coefficients(theta))
    assert_allclose(scores, fitted.matrix @ theta, atol=1e-9)


def test_the_linear_map_leaves_the_rows_alone():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.normal(size=(30, 12)) * (rng.random((30, 12)) < 0.2))
    fitted = fit_feature_map(X, Kernel("linear", rank_tol=0.5, max_rank=2))
    assert fitted.is_linear
    assert fitted.matrix is X
    assert (fitted.rank, fitted.error) == (12, 0.0)
    theta = np.arange(12.0)
    assert_array_equal(fitted.coefficients(theta), theta)
    assert fitted.coarse().matrix is X


@pytest.mark.parametrize("weights", [None, np.arange(30)])
def test_the_linear_map_can_be_centred(weights):
    X = rows(30) + 5
    fitted = fit_feature_map(X, Kernel("linear"), centred=True, weights=weights)
    assert_allclose(np.average(fitted.matrix, axis=0, weights=weights), 0.0, atol=1e-14)
    assert_allclose(fitted.matrix + fitted.centre, X)


@pytest.mark.parametrize("block_rows", [1, 7, 50])
def test_scores_come_out_the_same_in_blocks_of_any_size(block_rows, monkeypatch):
    X, marks = rows(50), rows(6, seed=1)
    dual_coef = np.arange(6.0)
    monkeypatch.setattr(maps, "SCORE_BLOCK_ROWS", block_rows)
    expected = gram(X, marks, "rbf", 0.5) @ dual_coef
    assert_allclose(kernel_scores(X, Kernel("rbf", gamma=0.5), marks, dual_coef), expected)


def test_the_rank_follows_the_tolerance_and_its_limits(monkeypatch):
    X, kernel = rows(60), Kernel("exponential", gamma=1.0)
    assert fit_feature_map(X, replace(kernel, rank_tol=0), random_state=0).rank == 60
    loose = fit_feature_map(X, replace(kernel, rank_tol=0.3), random_state=0)
    assert loose.rank < 60
    missing = np.trace(gram(X, X, "exponential", 1.0) - loose.matrix @ loose.matrix.T) / 60
    assert loose.error == pytest.approx(missing)
    assert missing <= 0.3
    assert fit_feature_map(X, replace(kernel, rank_tol=0, max_rank=7), random_state=0).rank == 7
    assert fit_feature_map(X, replace(kernel, rank_tol=0, max_rank=1000), random_state=0).rank == 60
    monkeypatch.setattr(maps, "DEFAULT_MAX_RANK", 5)
    assert fit_feature_map(X, replace(kernel, rank_tol=1e-6), random_state=0).rank == 5
    assert fit_feature_map(X, replace(kernel, rank_tol=0), random_state=0).rank == 60


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
    coarser = fit_feature_map(X, replace(kernel, max_rank=9), random_state=0)
    assert coarser.error > maps.COARSE_ERROR
    assert coarser.coarse().rank == 9


def test_many_rows_are_compared_with_few_landmarks(monkeypatch):
    fitted = fit_feature_map(rows(60), Kernel("rbf", gamma=0.5), random_state=0)
    monkeypatch.setattr(maps, "COARSE_CELLS", 60 * 7.5)
    assert fitted.coarse() is fitted  # 256 landmarks are always few
    monkeypatch.setattr(maps, "MIN_COARSE_LANDMARKS", 5)
    coarse = fitted.coarse()
    assert coarse.rank == coarse.matrix.shape[1] == 7
    theta = np.arange(7.0)
    assert_allclose(
        coarse.coefficients(theta) @ gram(rows(60)[coarse.pivots], rows(60), "rbf", 0.5),
        coarse.matrix @ theta,
        atol=1e-12,
    )
    monkeypatch.setattr(maps, "MIN_COARSE_LANDMARKS", 9)
    assert fitted.coarse().rank == 9


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
    scores = kernel_scores(X, kernel, fitted.landmarks(X), dual_coef)
    assert scores.dtype == np.float32
    assert_allclose(scores, fitted.matrix.sum(axis=1), atol=1e-2)


@pytest.mark.parametrize("rank_tol", [-0.1, np.nan, 1.0])
def test_a_bad_rank_tol_is_refused(rank_tol):
    with pytest.raises(ValueError, match=r"rank_tol=.* must be .*0"):
        fit_feature_map(rows(5), Kernel("rbf", rank_tol=rank_tol))


class TestManyRows:
    """Above MANY_ROWS, the default rank decreases and features are in single precision."""

    kernel = Kernel("exponential", gamma=0.5, rank_tol=1e-9)

    @pytest.mark.parametrize(("many_rows", "rank"), [(20_000, 300), (300, 50), (100, 35), (3, 12)])
    def test_the_default_rank(self, many_rows, rank, monkeypatch):
        monkeypatch.setattr(maps, "MANY_ROWS", many_rows)
        monkeypatch.setattr(maps, "DEFAULT_MAX_RANK", 2000 if rank == 300 else 50)
        fitted = fit_feature_map(rows(300), self.kernel, random_state=0)
        assert fitted.rank == rank
        assert fitted.error == pytest.approx(1 - np.sum(fitted.matrix**2) / 300, abs=1e-6)

    def test_features_are_in_single_precision(self, monkeypatch):
        monkeypatch.setattr(maps, "MANY_ROWS", 200)
        X, kernel = rows(300), Kernel("rbf", gamma=0.1)
        fitted = fit_feature_map(X, kernel, random_state=0)
        assert fitted.matrix.dtype == np.float32
        assert_allclose(fitted.matrix @ fitted.matrix.T, gram(X, X, "rbf", 0.1), atol=0.05)
        for options in ({"max_rank": 9}, {"rank_tol": 0}):
            fitted = fit_feature_map(X, replace(kernel, **options), random_state=0)
            assert fitted.matrix.dtype == float
        assert fit_feature_map(X[:200], kernel, random_state=0).matrix.dtype == float

    def test_a_model_predicts_as_one_in_double_precision(self, bag_data, monkeypatch):
        d = bag_data
        params = {"random_state": 0, "reg_strength": 0.01}
        double = CorrectedLossClassifier(**params).fit(d.X, d.y, bags=d.bags)
        monkeypatch.setattr(maps, "MANY_ROWS", 50)
        single = CorrectedLossClassifier(**params).fit(d.X, d.y, bags=d.bags)
        scores = single.decision_function(d.X)
        assert scores.dtype == float
        assert_allclose(scores, double.decision_function(d.X), atol=0.05)

    @pytest.mark.parametrize("block", [7, 299, 300])
    def test_kernel_columns_are_computed_in_blocks_of_rows(self, block, monkeypatch):
        X, kernel = rows(300), Kernel("laplacian", gamma=0.3, max_rank=12)
        whole = fit_feature_map(X, kernel, random_state=0)
        monkeypatch.setattr(maps, "COLUMN_BLOCK_ROWS", block)
        blocked = fit_feature_map(X, kernel, random_state=0)
        assert_allclose(blocked.matrix, whole.matrix, atol=1e-12)
