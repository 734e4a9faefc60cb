"""Feature maps: the features of the training rows, and the scores of new ones."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from decorrupt.features import (
    Kernel,
    fit_feature_map,
    kernel_scores,
    maps,
    resolve_kernel_gamma,
)
from decorrupt.features.maps import fit_principal_projection, project
from decorrupt.solvers import solve
from oracles.dense_kernel import gram, solve_dual
from oracles.dense_risk import clean_coefs, make_objective, row_curvatures, row_slopes
from oracles.diffusion import diffusion_gram, principal_coordinates

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
    with pytest.raises(ValueError, match=r"rank_tol=1\.0 must be at least 0 and below 1"):
        fit_feature_map(X, replace(kernel, rank_tol=1.0))
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

    @pytest.mark.parametrize("block", [7, 299, 300])
    def test_kernel_columns_are_computed_in_blocks_of_rows(self, block, monkeypatch):
        X, kernel = rows(300), Kernel("laplacian", gamma=0.3, max_rank=12)
        whole = fit_feature_map(X, kernel, random_state=0)
        monkeypatch.setattr(maps, "COLUMN_BLOCK_ROWS", block)
        blocked = fit_feature_map(X, kernel, random_state=0)
        assert_allclose(blocked.matrix, whole.matrix, atol=1e-12)


# --- principal components

FORMS = {
    "dense": np.asarray,
    "sparse": sparse.csr_matrix,
    "sparse array": sparse.csr_array,
    "single": lambda X: X.astype(np.float32),
}


def correlated_rows(n_rows, n_columns=6, seed=0):
    """Return correlated columns of different scales and means."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * np.geomspace(5, 0.2, n_columns)
    return X @ rng.normal(size=(n_columns, n_columns)) + rng.normal(size=n_columns)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_components"),
    [(100, 6, 20), (100, 6, 4), (30, 12, 20), (60, 1100, 8), (5, 6, 20)],
    ids=["all", "some", "few rows", "wide", "one"],
)
def test_distances_are_those_of_the_decomposition(n_rows, n_columns, n_components, form):
    X = correlated_rows(n_rows, n_columns)
    expected = principal_coordinates(X, n_components)
    found = project(FORMS[form](X), fit_principal_projection(FORMS[form](X), n_components))
    assert isinstance(found, np.ndarray)
    assert found.dtype == FORMS[form](X).dtype
    assert found.shape == expected.shape
    size = np.sqrt(X.var(axis=0).sum() / expected.shape[1])  # of one coordinate
    tolerance = 1e-3 if form == "single" else 1e-8
    assert_allclose(
        euclidean_distances(found.astype(float)),
        size * euclidean_distances(expected),
        atol=tolerance * size,
    )


@pytest.mark.parametrize("name", ["pca_rbf", "pca8_rbf"])
def test_the_kernel_is_rbf_with_a_width_relative_to_scale(name):
    X = correlated_rows(80, 12)
    coordinates = principal_coordinates(X, 20 if name == "pca_rbf" else 8)
    gamma = resolve_kernel_gamma("scale", X)
    assert resolve_kernel_gamma("scale", project(X, fit_principal_projection(X, 8))) == (
        pytest.approx(gamma)
    )
    fitted = fit_feature_map(X, Kernel(name, gamma=0.3 * gamma, rank_tol=0), random_state=0)
    expected = rbf_kernel(coordinates, gamma=0.3 / coordinates.shape[1])
    assert_allclose(fitted.matrix @ fitted.matrix.T, expected, atol=1e-8)


def test_the_graph_can_be_that_of_the_components():
    X = correlated_rows(80, 12)
    fitted = fit_feature_map(X, Kernel("pca_knn"), random_state=0)
    expected = diffusion_gram(principal_coordinates(X, 20))
    assert_allclose(fitted.matrix @ fitted.matrix.T, expected, atol=1e-6)


def test_negligible_and_constant_columns_are_left_out():
    X = correlated_rows(100)
    X[:, 4], X[:, 5] = 3.0, X[:, 0] - 2 * X[:, 1] + 1e-9 * X[:, 2]
    assert fit_principal_projection(X, 20).shape == (6, 4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_rows", [1, 2, 20])
def test_equal_rows_have_equal_coordinates(n_rows, form):
    X = FORMS[form](np.full((n_rows, 3), 0.1))
    found = fit_principal_projection(X, 20)
    assert_array_equal(found, np.zeros((3, 1)))
    assert found.dtype == X.dtype


def test_many_rows_are_sampled(monkeypatch):
    X = correlated_rows(3000)
    whole = project(X, fit_principal_projection(X, 6))
    monkeypatch.setattr(maps, "MAX_COMPONENT_ROWS", 1000)
    sampled = project(X, fit_principal_projection(X, 6, 0))
    assert_allclose(sampled.var(axis=0), whole.var(axis=0), rtol=0.2)
    assert not np.allclose(sampled, whole)
    assert_array_equal(sampled, project(X, fit_principal_projection(X, 6, 0)))
    assert not np.allclose(sampled, project(X, fit_principal_projection(X, 6, 1)))


def test_rows_far_from_the_origin_lose_no_digits():
    X = correlated_rows(100)
    far = fit_principal_projection(X + 1e6, 6)
    assert_allclose(np.abs(far), np.abs(fit_principal_projection(X, 6)), rtol=1e-6)
