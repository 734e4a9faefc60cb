"""Half-whitened principal components against a singular value decomposition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from decorrupt.features import Kernel, fit_feature_map, maps, resolve_kernel_gamma
from decorrupt.features.maps import fit_principal_projection, project
from oracles.diffusion import diffusion_gram, principal_coordinates

FORMS = {
    "dense": np.asarray,
    "sparse": sparse.csr_matrix,
    "sparse array": sparse.csr_array,
    "single": lambda X: X.astype(np.float32),
}


def rows(n_rows, n_columns=6, seed=0):
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
    X = rows(n_rows, n_columns)
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
    X = rows(80, 12)
    coordinates = principal_coordinates(X, 20 if name == "pca_rbf" else 8)
    gamma = resolve_kernel_gamma("scale", X)
    assert resolve_kernel_gamma("scale", project(X, fit_principal_projection(X, 8))) == (
        pytest.approx(gamma)
    )
    fitted = fit_feature_map(X, Kernel(name, gamma=0.3 * gamma, rank_tol=0), random_state=0)
    expected = rbf_kernel(coordinates, gamma=0.3 / coordinates.shape[1])
    assert_allclose(fitted.matrix @ fitted.matrix.T, expected, atol=1e-8)


def test_the_graph_can_be_that_of_the_components():
    X = rows(80, 12)
    fitted = fit_feature_map(X, Kernel("pca_knn"), random_state=0)
    expected = diffusion_gram(principal_coordinates(X, 20))
    assert_allclose(fitted.matrix @ fitted.matrix.T, expected, atol=1e-6)


def test_negligible_and_constant_columns_are_left_out():
    X = rows(100)
    X[:, 4], X[:, 5] = 3.0, X[:, 0] - 2 * X[:, 1] + 1e-9 * X[:, 2]
    assert fit_principal_projection(X, 20).shape == (6, 4)
    coordinates = project(X, fit_principal_projection(X, 20))
    without = project(X[:, :5], fit_principal_projection(X[:, [0, 1, 2, 3, 4]], 20))
    assert coordinates.shape == without.shape


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_rows", [1, 2, 20])
def test_equal_rows_have_equal_coordinates(n_rows, form):
    X = FORMS[form](np.full((n_rows, 3), 0.1))
    found = fit_principal_projection(X, 20)
    assert_array_equal(found, np.zeros((3, 1)))
    assert found.dtype == X.dtype


def test_many_rows_are_sampled(monkeypatch):
    X = rows(3000)
    whole = project(X, fit_principal_projection(X, 6))
    monkeypatch.setattr(maps, "MAX_COMPONENT_ROWS", 1000)
    sampled = project(X, fit_principal_projection(X, 6, 0))
    assert_allclose(sampled.var(axis=0), whole.var(axis=0), rtol=0.2)
    assert not np.allclose(sampled, whole)
    assert_array_equal(sampled, project(X, fit_principal_projection(X, 6, 0)))
    assert not np.allclose(sampled, project(X, fit_principal_projection(X, 6, 1)))


def test_rows_far_from_the_origin_lose_no_digits():
    X = rows(100)
    far = fit_principal_projection(X + 1e6, 6)
    assert_allclose(np.abs(far), np.abs(fit_principal_projection(X, 6)), rtol=1e-6)
