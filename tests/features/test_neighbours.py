"""Diffusion features against dense eigenvectors, and their extension against a loop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from decorrupt.features import Kernel, fit_feature_map, kernel_scores, maps
from decorrupt.features.neighbours import diffusion_features, neighbour_means
from oracles.diffusion import diffusion_gram, extend

FORMS = {
    "dense": np.asarray,
    "sparse": sparse.csr_matrix,
    "single": lambda X: X.astype(np.float32),
}


def rows(n_rows, n_columns=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, n_columns))


def clusters(n_clusters, size, seed=0):
    """Return clusters so far apart that each is a component of the graph."""
    centres = 1000.0 * np.arange(n_clusters)[:, None]
    X = rows(n_clusters * size, 2, seed)
    X[:, :1] += np.repeat(centres, size, axis=0)
    return X


def assert_gram(features, expected, rtol=1e-6):
    assert_allclose(features @ features.T, expected, atol=rtol * np.abs(expected).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_columns", [3, 20], ids=["tree search", "all pairs"])
@pytest.mark.parametrize("n_rows", [2, 7, 11, 60, 150, 600])
def test_the_features_are_those_of_the_dense_matrix(n_rows, n_columns, form):
    X = FORMS[form](rows(n_rows, n_columns))
    dense = X.toarray() if sparse.issparse(X) else X.astype(float)
    found = diffusion_features(X)
    assert found.shape == (n_rows, min(101, n_rows))
    assert np.mean(np.sum(found**2, axis=1)) == pytest.approx(1)
    assert_gram(found, diffusion_gram(dense))


@pytest.mark.parametrize(("n_clusters", "size"), [(4, 12), (40, 15), (20, 60)])
def test_a_graph_in_many_parts_keeps_all_of_them(n_clusters, size):
    # All parts have the eigenvalue 1, of which an iterative solver finds too few.
    X = clusters(n_clusters, size)
    assert_gram(diffusion_features(X), diffusion_gram(X))


def test_of_too_many_parts_the_largest_are_kept():
    X = np.vstack([clusters(1, 300), clusters(120, 12, seed=1) + 1e6])
    found = diffusion_features(X)
    assert found.shape == (len(X), 101)
    part = np.concatenate([np.zeros(300, int), 1 + np.repeat(np.arange(120), 12)])
    lengths = np.sum(found**2, axis=1)
    assert all(len(np.unique(lengths[part == k].round(9))) == 1 for k in range(121))
    assert lengths[0] > 0
    assert len(np.unique(part[lengths > 0])) == 101


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("n_columns", [3, 20], ids=["tree search", "all pairs"])
def test_eleven_equal_rows_have_their_nearest_at_distance_0(n_columns, form, offset):
    X = rows(33, n_columns)
    X[:11], X[11:22] = X[0] + 300, X[11] - 300
    X = X + (offset if form == "dense" else 0.0)
    assert_gram(diffusion_features(FORMS[form](X)), diffusion_gram(X), rtol=1e-4)
    at_equal = neighbour_means(FORMS[form](X[:1]), FORMS[form](X), np.arange(33.0) // 11)
    assert_allclose(at_equal, 0.0)


def test_all_rows_equal():
    found = diffusion_features(np.ones((30, 2)))
    assert np.isfinite(found).all()
    assert_allclose(neighbour_means(np.zeros((2, 2)), np.ones((30, 2)), np.full(30, 5.0)), 5.0)


def test_one_row():
    assert_array_equal(diffusion_features(np.zeros((1, 3))), [[1.0]])
    assert_array_equal(neighbour_means(rows(4), np.zeros((1, 3)), np.array([2.0])), 2.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(), (2,)], ids=["one value", "two values"])
@pytest.mark.parametrize("n_landmarks", [4, 10, 50])
def test_a_new_row_has_the_mean_of_its_nearest_landmarks(n_landmarks, shape, form, monkeypatch):
    monkeypatch.setattr("decorrupt.features.neighbours.BLOCK_ROWS", 7)
    landmarks, new = rows(n_landmarks), rows(20, seed=1)
    values = np.random.default_rng(2).normal(size=(n_landmarks, *shape))
    found = neighbour_means(FORMS[form](new), FORMS[form](landmarks), values)
    assert_allclose(found, [extend(x, landmarks, values) for x in new], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_rows_outside_the_graph_are_extended_from_it(form, monkeypatch):
    monkeypatch.setattr(maps, "MAX_GRAPH_ROWS", 120)
    dense = rows(200)
    X = FORMS[form](dense)
    fitted = fit_feature_map(X, Kernel("knn"), random_state=0)
    assert fitted.matrix.dtype == X.dtype
    assert len(np.unique(fitted.pivots)) == 120
    in_graph = fitted.matrix[fitted.pivots]
    assert_gram(in_graph, diffusion_gram(dense[fitted.pivots]), rtol=1e-4)
    others = np.setdiff1d(np.arange(200), fitted.pivots)
    expected = [extend(dense[i], dense[fitted.pivots], in_graph) for i in others]
    assert_allclose(fitted.matrix[others], expected, atol=1e-4)
    again = fit_feature_map(X, Kernel("knn"), random_state=0)
    assert_array_equal(again.matrix, fitted.matrix)


def test_a_score_of_a_new_row_is_that_of_its_features():
    X, new = rows(80), rows(15, seed=1)
    kernel = Kernel("knn")
    fitted = fit_feature_map(X, kernel)
    theta = np.random.default_rng(2).normal(size=fitted.rank)
    scores = kernel_scores(new, kernel, fitted.landmarks(X), fitted.coefficients(theta))
    assert_allclose(scores, [extend(x, X, fitted.matrix) @ theta for x in new])


def test_the_rank_is_limited_and_the_error_is_what_is_left_out():
    X = rows(150)
    whole = fit_feature_map(X, Kernel("knn"))
    assert (whole.rank, whole.error) == (101, 0.0)
    part = fit_feature_map(X, Kernel("knn", max_rank=9))
    assert_allclose(part.matrix, whole.matrix[:, :9])
    assert part.error == pytest.approx(1 - np.sum(part.matrix**2) / np.sum(whole.matrix**2))
