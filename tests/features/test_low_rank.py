"""The pivoted Cholesky factor: what it promises about FFᵀ, the error, the pivots and the cost."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import solve_triangular

from decorrupt.features.low_rank import pivoted_cholesky
from oracles.dense_kernel import gram, greedy_pivots, relative_trace_error

SHAPES = {
    "rbf": {"gamma": 0.5},
    "exponential": {"gamma": 1.0},
    "laplacian": {"gamma": 0.3},
    "polynomial": {"gamma": 0.5, "degree": 6},
}


def kernel_matrix(name, n_rows=60, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_rows, 3))
    return gram(X, X, name, **SHAPES[name])


def factorise(matrix, *, tol=0.0, max_rank=None, seed=0):
    factor, pivots, triangle, error = pivoted_cholesky(
        lambda indices: matrix[:, indices],
        np.diag(matrix).copy(),
        tol=tol,
        max_rank=len(matrix) if max_rank is None else max_rank,
        random_state=np.random.RandomState(seed),
    )
    return SimpleNamespace(factor=factor, pivots=pivots, triangle=triangle, error=error)


@pytest.mark.parametrize("name", SHAPES)
def test_the_factor_is_exact_in_the_pivots_rows(name):
    matrix = kernel_matrix(name)
    found = factorise(matrix, max_rank=20)
    product = found.factor @ found.factor.T
    scale = np.abs(matrix).max()
    assert len(found.pivots) == len(set(found.pivots)) == 20
    assert_allclose(product[found.pivots], matrix[found.pivots], atol=1e-10 * scale)
    assert np.abs(product - matrix).max() > 1e-6 * scale  # and only there
    assert_array_equal(found.triangle, np.tril(found.triangle))
    assert (np.diag(found.triangle) > 0).all()
    assert_allclose(found.factor[found.pivots], found.triangle, atol=1e-10)
    columns = solve_triangular(found.triangle, matrix[found.pivots], lower=True).T
    assert_allclose(found.factor, columns, atol=1e-9 * np.abs(columns).max())


@pytest.mark.parametrize("max_rank", [1, 7, 17])
@pytest.mark.parametrize("name", SHAPES)
def test_the_error_is_the_share_of_the_trace_left_out(name, max_rank):
    matrix = kernel_matrix(name)
    found = factorise(matrix, max_rank=max_rank)
    assert found.factor.shape == (60, max_rank)
    assert found.pivots.shape == (max_rank,)
    expected = relative_trace_error(matrix, found.factor)
    assert_allclose(found.error, expected, rtol=1e-7, atol=1e-13)


@pytest.mark.parametrize("name", SHAPES)
def test_the_first_columns_are_the_factor_of_lower_rank(name):
    matrix = kernel_matrix(name)
    found = factorise(matrix, max_rank=30)
    errors = []
    for rank in range(1, 31):
        pivots = found.pivots[:rank]
        triangle = np.linalg.cholesky(matrix[np.ix_(pivots, pivots)])
        nystrom = solve_triangular(triangle, matrix[pivots], lower=True).T
        assert_allclose(found.factor[:, :rank], nystrom, atol=1e-6 * np.abs(nystrom).max())
        errors.append(relative_trace_error(matrix, found.factor[:, :rank]))
    assert (np.diff(errors) < 0).all()


@pytest.mark.parametrize("tol", [0.5, 1e-2, 1e-4])
def test_it_stops_once_the_error_is_small_enough(tol):
    matrix = kernel_matrix("rbf")
    found = factorise(matrix, tol=tol)
    assert relative_trace_error(matrix, found.factor) <= tol
    assert len(found.pivots) < 60


def test_random_takes_rows_in_proportion_to_what_is_left():
    matrix = np.diag(np.r_[np.full(50, 1.0), np.full(50, 9.0)])
    firsts = [factorise(matrix, max_rank=1, seed=seed).pivots[0] for seed in range(400)]
    share = np.mean(np.array(firsts) >= 50)
    assert abs(share - 0.9) < 4 * np.sqrt(0.9 * 0.1 / 400)


def test_random_is_reproducible_and_random():
    matrix = kernel_matrix("rbf")
    first, again, other = (factorise(matrix, max_rank=20, seed=seed) for seed in (3, 3, 4))
    assert_array_equal(first.pivots, again.pivots)
    assert_array_equal(first.factor, again.factor)
    assert set(first.pivots) != set(other.pivots)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_polynomial_of_degree_one_has_the_rank_of_its_columns(dtype):
    X = np.random.default_rng(0).normal(size=(50, 3))
    matrix = gram(X, X, "polynomial", 0.5, degree=1, coef0=1.0).astype(dtype)
    found = factorise(matrix)
    assert np.isfinite(found.factor).all()
    assert len(found.pivots) >= 4
    assert found.factor.dtype == found.triangle.dtype == dtype
    atol = 100 * np.finfo(dtype).eps * matrix.max()
    assert_allclose(found.factor @ found.factor.T, matrix, atol=atol)


@pytest.mark.parametrize("name", SHAPES)
def test_repeated_rows_add_no_rank(name):
    single = np.random.default_rng(0).normal(size=(25, 3))
    X = np.repeat(single, 3, axis=0)
    matrix = gram(X, X, name, **SHAPES[name])
    found = factorise(matrix)
    assert len(found.pivots) <= 25
    assert np.isfinite(found.factor).all()
    scale = np.abs(matrix).max()
    assert_allclose(found.factor @ found.factor.T, matrix, atol=1e-8 * scale)


@pytest.mark.parametrize("noise", [1e-15, 1e-12, 1e-8])
def test_a_matrix_rounded_below_zero_is_factored_to_the_rounding(noise):
    # Kernel values carry rounding, so copies of a row are not quite copies, and what is left of
    # the diagonal is not quite what the columns say.
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 3))
        matrix = np.kron(gram(X, X, "rbf", 0.5), np.ones((3, 3)))  # every row three times
        matrix *= 1 - noise * rng.uniform(size=matrix.shape)
        matrix = (matrix + matrix.T) / 2
        found = factorise(matrix, seed=seed)
        assert np.isfinite(found.factor).all()
        product = found.factor @ found.factor.T
        assert_allclose(product, matrix, atol=1e-5 if noise == 1e-8 else 1e-7)
        assert np.isfinite(np.linalg.cond(found.triangle))


def test_a_kernel_that_is_zero_everywhere_has_rank_zero():
    found = factorise(np.zeros((5, 5)))
    assert found.factor.shape == (5, 0)
    assert found.error == 0.0


@pytest.mark.parametrize("value", [-1e-3, np.nan, np.inf])
def test_a_bad_diagonal_is_refused_by_its_row(value):
    matrix = np.eye(6)
    matrix[4, 4] = value
    with pytest.raises(ValueError, match=r"row 4 with itself.*positive semi-definite"):
        factorise(matrix)


def test_an_indefinite_matrix_is_refused_where_it_shows():
    # A positive diagonal, yet 1·1 − 2·2 < 0 after the first pivot.
    with pytest.raises(ValueError, match="positive semi-definite"):
        factorise(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_random_pivots_leave_little_more_than_greedy_ones():
    matrix = kernel_matrix("rbf")
    greedy = greedy_pivots(matrix, 20)
    triangle = np.linalg.cholesky(matrix[np.ix_(greedy, greedy)])
    best = relative_trace_error(matrix, solve_triangular(triangle, matrix[greedy], lower=True).T)
    errors = [factorise(matrix, max_rank=20, seed=seed).error for seed in range(20)]
    assert np.median(errors) < 2 * best


def test_the_matrix_is_asked_for_by_few_columns_and_never_whole():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    asked = []

    def columns(indices):
        asked.append(len(indices))
        return np.exp(-((X[:, None] - X[indices]) ** 2).sum(axis=2))

    options = {"tol": 1e-4, "max_rank": 60, "random_state": np.random.RandomState(0)}
    _, pivots, _, _ = pivoted_cholesky(columns, np.ones(2000), **options)
    assert 10 < len(pivots) <= 60
    assert max(asked) <= 60
    assert sum(asked) <= 2 * len(pivots) + 16
