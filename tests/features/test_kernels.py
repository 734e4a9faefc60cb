"""Kernels against their two-line definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.svm import SVC

from decorrupt.features import FROM_ALL_ROWS, KERNELS, Kernel, resolve_kernel_gamma
from oracles.dense_kernel import gram

NAMED = tuple(name for name in KERNELS if name not in (*FROM_ALL_ROWS, "precomputed"))
CONTAINERS = {"dense": np.asarray, "sparse": sparse.csr_matrix, "sparse array": sparse.csr_array}


def rows(n_rows, seed=0, n_columns=4):
    """Return rows of which about a third of the entries are zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[rng.uniform(size=X.shape) < 0.3] = 0.0
    return X


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", NAMED)
def test_block_is_the_definition_pair_by_pair(name, container):
    X, Y = rows(9), rows(5, seed=1)
    wrap = CONTAINERS[container]
    kernel = Kernel(name, gamma=0.3, degree=2, coef0=0.5)
    block = kernel.block(wrap(X), wrap(Y))
    assert isinstance(block, np.ndarray)
    assert_allclose(block, gram(X, Y, name, gamma=0.3, degree=2, coef0=0.5), rtol=1e-12)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", NAMED)
def test_diagonal_is_that_of_the_definition(name, container):
    X = rows(9)
    kernel = Kernel(name, gamma=0.3, degree=2, coef0=0.5)
    diagonal = kernel.diagonal(CONTAINERS[container](X))
    assert diagonal.shape == (9,)
    assert_allclose(diagonal, np.diag(gram(X, X, name, 0.3, 2, 0.5)), rtol=1e-12)


@pytest.mark.parametrize("container", ["dense", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 30.0])
@pytest.mark.parametrize("name", NAMED)
def test_a_row_meets_itself_in_a_block_as_on_the_diagonal(name, offset, container):
    # ‖x‖² − 2⟨x,y⟩ + ‖y‖² leaves rounding where x = y, and a root makes 1e-8 of 1e-16.
    X = CONTAINERS[container](rows(40) + offset)
    kernel = Kernel(name, gamma=0.5)
    block = kernel.block(X, X[:25])
    assert_allclose(np.diag(block), kernel.diagonal(X)[:25], rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["rbf", "exponential", "laplacian"])
def test_rows_close_together_and_far_from_the_origin_are_told_apart(name, dtype):
    # scikit-learn takes the distances of single-precision rows in double precision.
    X = (30 + 0.02 * np.random.default_rng(0).normal(size=(20, 3))).astype(dtype)
    expected = gram(X.astype(float), X.astype(float), name, 1.0)
    assert_allclose(Kernel(name, gamma=1.0).block(X, X.copy()), expected, atol=1e-6)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", NAMED)
def test_single_precision_stays_single(name, container):
    X = CONTAINERS[container](rows(6).astype(np.float32))
    kernel = Kernel(name, gamma=0.3)
    assert kernel.block(X, X[:2]).dtype == np.float32
    assert kernel.diagonal(X).dtype == np.float32
    dense = rows(6).astype(np.float32).astype(float)
    assert_allclose(kernel.block(X, X[:2]), gram(dense, dense[:2], name, 0.3), rtol=1e-5, atol=1e-6)


def test_an_unknown_kernel_is_told_the_known_ones():
    with pytest.raises(ValueError, match="unknown kernel 'gaussian'") as error:
        Kernel("gaussian").resolved(rows(4))
    assert all(name in str(error.value) for name in KERNELS)


def test_a_callable_gets_two_matrices_and_gives_all_pairs():
    def shapes_seen(X, Y):
        seen.append((X.shape, Y.shape))
        return 2.0 + X @ Y.T

    seen = []
    X, Y = rows(6), rows(3, seed=1)
    kernel = Kernel(shapes_seen).resolved(X)
    assert_allclose(kernel.block(X, Y), 2.0 + X @ Y.T)
    assert seen == [((6, 4), (3, 4))]
    assert_allclose(kernel.diagonal(X), 2.0 + (X**2).sum(axis=1))
    assert max(np.prod([first[0], second[0]]) for first, second in seen[1:]) < 36  # never all pairs


@pytest.mark.parametrize("wrong", [lambda X, Y: Y @ X.T, lambda X, Y: float(X[0] @ Y[0])])
def test_a_callable_of_another_shape_is_refused(wrong):
    with pytest.raises(ValueError, match=r"callable returned shape .* for 6 and 3 rows"):
        Kernel(wrong).block(rows(6), rows(3))


@pytest.mark.parametrize("name", FROM_ALL_ROWS)
def test_kernels_of_all_rows_have_no_function_of_two(name):
    with pytest.raises(ValueError, match=f"kernel='{name}' is made from all training rows"):
        Kernel(name).block(rows(4), rows(4))
    if name.endswith("rbf"):
        assert_allclose(Kernel(name).diagonal(rows(4)), 1.0)
    else:
        with pytest.raises(ValueError, match="known from its features only"):
            Kernel(name).diagonal(rows(4))


def test_precomputed_has_a_diagonal_and_no_function():
    matrix = rows(4)
    assert_allclose(Kernel("precomputed").diagonal(matrix), np.diag(matrix))
    with pytest.raises(ValueError, match="precomputed"):
        Kernel("precomputed").block(matrix, matrix)
    with pytest.raises(ValueError, match=r"square matrix.*got 5 × 4"):
        Kernel("precomputed").resolved(rows(5))


@pytest.mark.parametrize("container", ["dense", "sparse"])
@pytest.mark.parametrize("rule", ["scale", "auto"])
def test_gamma_rules_are_those_of_svc_on_centred_columns(rule, container):
    X = 3 * rows(30, n_columns=7) + np.arange(7) * (container == "dense")
    svc = SVC(gamma=rule).fit(X - X.mean(axis=0), np.arange(30) % 2)
    X = CONTAINERS[container](X)
    assert_allclose(resolve_kernel_gamma(rule, X), svc._gamma, rtol=1e-12)


@pytest.mark.parametrize(
    ("offset", "dtype"), [(1e6, np.float64), (100, np.float32), (1000, np.float32)]
)
def test_scale_is_not_lost_far_from_the_origin(offset, dtype):
    X = (rows(30) + offset).astype(dtype)
    assert_allclose(
        resolve_kernel_gamma("scale", X), resolve_kernel_gamma("scale", rows(30)), rtol=1e-3
    )


@pytest.mark.parametrize("name", ["rbf", "exponential", "laplacian"])
def test_kernels_of_differences_do_not_cancel_far_from_the_origin(name):
    offset = 1e6 * np.arange(1, 5)
    far = rows(30) + offset
    near = far - offset  # what is left of the digits of `far`
    kernel = Kernel(name, gamma=0.5)
    assert_allclose(kernel.block(far[:10], far), kernel.block(near[:10], near), rtol=1e-9)


def test_scale_of_constant_columns_is_one():
    assert resolve_kernel_gamma("scale", np.ones((5, 2))) == 1.0
    assert resolve_kernel_gamma("scale", sparse.csr_matrix((5, 2))) == 1.0


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, "median"])
def test_bad_gamma_is_refused(gamma):
    assert resolve_kernel_gamma(0.25, rows(3)) == 0.25
    with pytest.raises(ValueError, match=r"kernel_gamma=.*positive number"):
        resolve_kernel_gamma(gamma, rows(3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scale_of_many_rows_is_computed_in_blocks(dtype, monkeypatch):
    X = (np.random.default_rng(0).normal(size=(50, 4)) * [1, 2, 3, 4] + 1e3).astype(dtype)
    expected = 1 / (4 * np.var(X.astype(float), axis=0).mean())
    for rows in (7, 50, 1000):
        monkeypatch.setattr("decorrupt.features.columns.VARIANCE_BLOCK_ROWS", rows)
        assert_allclose(resolve_kernel_gamma("scale", X), expected, rtol=1e-9)
