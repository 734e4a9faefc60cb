"""Random Fourier features: the kernel they approximate, and that they need no data."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import jv

from decorrupt.features import Kernel, KernelFunction, RandomFourierMap, fit_feature_map
from decorrupt.features.random_fourier import RANDOM_FEATURE_KERNELS
from oracles.dense_kernel import gram

for_kernels = pytest.mark.parametrize("name", RANDOM_FEATURE_KERNELS)


def rows(n_rows, n_columns=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, n_columns))


def draw(name="rbf", n_columns=3, n_features=64, seed=0, gamma=0.4, **centre):
    return RandomFourierMap.draw(KernelFunction(name, gamma), n_columns, n_features, seed, **centre)


@for_kernels
@pytest.mark.parametrize("n_columns", [1, 3, 40])
def test_the_mean_over_many_frequencies_is_the_kernel(name, n_columns):
    X = rows(12, n_columns) / np.sqrt(n_columns)
    z = draw(name, n_columns, 40_000).transform(X)
    assert_allclose(z @ z.T, gram(X, X, name, 0.4), atol=0.03)


@for_kernels
def test_the_kernel_of_a_row_with_itself_is_exact(name):
    z = draw(name, n_features=6).transform(rows(20))
    assert_allclose(np.einsum("ij,ij->i", z, z), 1.0)


def test_frequencies_are_orthogonal_within_blocks_of_the_columns():
    frequencies = draw("rbf", n_columns=5, n_features=24).frequencies
    assert frequencies.shape == (12, 5)
    for block in (frequencies[:5], frequencies[5:10], frequencies[10:]):
        products = block @ block.T
        assert_allclose(products - np.diag(np.diag(products)), 0, atol=1e-12)
    assert abs(frequencies[0] @ frequencies[5]) > 1e-3


def test_the_error_of_orthogonal_frequencies_is_the_closed_form():
    # In one column, blocks have one row: cos⟨w, δ⟩ has variance (1 + k(2δ))/2 − k(δ)².
    delta, n_features = 0.7, 200
    z = [
        draw(n_columns=1, n_features=n_features, seed=seed).transform(np.array([[0.0], [delta]]))
        for seed in range(2000)
    ]
    errors = np.array([one[0] @ one[1] for one in z]) - np.exp(-0.4 * delta**2)
    variance = (1 + np.exp(-0.4 * 4 * delta**2)) / 2 - np.exp(-0.4 * delta**2) ** 2
    assert_allclose(errors.var(), variance / (n_features / 2), rtol=0.1)


def test_directions_are_uniform_on_the_sphere():
    # E cos⟨u, x⟩ over the sphere in four columns is 2·J_1(‖x‖)/‖x‖.
    frequencies = draw(n_columns=4, n_features=40_000).frequencies
    directions = frequencies / np.linalg.norm(frequencies, axis=1, keepdims=True)
    x = np.array([1.0, -0.5, 2.0, 0.3])
    expected = 2 * jv(1, np.linalg.norm(x)) / np.linalg.norm(x)
    assert_allclose(np.cos(directions @ x).mean(), expected, atol=0.01)


def test_features_depend_on_the_seed_and_not_on_the_rows():
    X = rows(50)
    whole = draw().transform(X)
    assert_array_equal(draw().transform(X[20:30]), whole[20:30])
    assert np.abs(draw(seed=1).transform(X) - whole).max() > 0.1


def test_blocks_of_any_size_give_the_same_features(monkeypatch):
    X, rule = rows(50), draw()
    whole, coef = rule.transform(X), rows(64, 2)
    monkeypatch.setattr("decorrupt.features.random_fourier.BLOCK_ROWS", 7)
    assert_allclose(rule.transform(X), whole, rtol=1e-12)
    assert_allclose(rule.scores(X, coef), whole @ coef, atol=1e-12)
    assert_allclose(rule.scores(X, coef[:, 0]), whole @ coef[:, 0], atol=1e-12)


def test_sparse_rows_have_the_features_of_dense_ones():
    X = rows(30) * (rows(30, seed=1) > 0)
    assert_allclose(draw().transform(sparse.csr_matrix(X)), draw().transform(X), atol=1e-12)


def test_more_columns_than_frequencies():
    X = sparse.random_array((20, 3000), density=0.01, rng=0, format="csr")
    rule = draw(n_columns=3000, n_features=256)
    assert rule.transform(X).shape == (20, 256)
    products = rule.frequencies @ rule.frequencies.T
    assert_allclose(products - np.diag(np.diag(products)), 0, atol=1e-8)


def test_single_precision_stays_single_and_precise_far_from_the_origin():
    X = rows(200) + 1e4
    kernel = Kernel("rbf", gamma=0.4)
    fitted = fit_feature_map(
        X.astype(np.float32), replace(kernel, features="random", max_rank=1024), random_state=0
    )
    assert fitted.matrix.dtype == np.float32
    assert_allclose(fitted.matrix @ fitted.matrix.T, gram(X, X, "rbf", 0.4), atol=0.2)
    assert fitted.rule.scores(X.astype(np.float32), np.ones(1024)).dtype == np.float32


@for_kernels
def test_the_error_is_that_of_the_pairs(name):
    X = rows(60)
    fitted = fit_feature_map(
        X, Kernel(name, gamma=0.4, features="random", max_rank=32), random_state=0
    )
    pairs = np.triu_indices(60, k=1)
    error = (fitted.matrix @ fitted.matrix.T - gram(X, X, name, 0.4))[pairs]
    assert_allclose(fitted.error, np.sqrt(np.mean(error**2)), rtol=1e-9)


def test_one_row_has_no_pair_and_no_error():
    fitted = fit_feature_map(rows(1), Kernel("rbf", features="random"), random_state=0)
    assert fitted.error == 0.0


@pytest.mark.parametrize(("max_rank", "rank"), [(None, 512), (1, 2), (2, 2), (7, 6), (64, 64)])
def test_the_number_of_features_is_even(max_rank, rank):
    fitted = fit_feature_map(rows(9), Kernel("rbf", features="random", max_rank=max_rank))
    assert fitted.matrix.shape == (9, rank)
    assert fitted.rank == rank
    assert fitted.coarse().matrix is fitted.matrix


@pytest.mark.parametrize("name", ["polynomial", "linear", "precomputed", np.dot])
def test_a_kernel_without_known_frequencies_is_refused(name):
    with pytest.raises(ValueError, match="features='random' needs kernel='rbf'"):
        fit_feature_map(rows(5, 5), Kernel(name, features="random"))


def test_unknown_features_are_refused():
    with pytest.raises(ValueError, match="unknown features 'nystrom': choose one of landmarks"):
        fit_feature_map(rows(5), Kernel("rbf", features="nystrom"))
