"""Kernels against their two-line definitions, and the parameter object alone and in estimators."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC

from decorrupt import (
    AutoLabelProportionsClassifier,
    MeanMapClassifier,
)
from decorrupt.features import (
    FROM_ALL_ROWS,
    KERNELS,
    Kernel,
    as_kernel,
    resolve_kernel_gamma,
)
from helpers.estimators import SINGLE, name_of
from oracles.dense_kernel import gram

NAMED = tuple(name for name in KERNELS if name not in (*FROM_ALL_ROWS, "precomputed"))
CONTAINERS = {"dense": np.asarray, "sparse": sparse.csr_matrix, "sparse array": sparse.csr_array}


def rows(n_rows, seed=0, n_columns=4):
    """Return rows of which about a third of the entries are zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[rng.uniform(size=X.shape) < 0.3] = 0.0
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", NAMED)
def test_values_are_those_of_the_definition_pair_by_pair(name, container, dtype):
    X, Y = rows(9).astype(dtype), rows(5, seed=1).astype(dtype)
    wrap, options = CONTAINERS[container], {"gamma": 0.3, "degree": 2, "coef0": 0.5}
    kernel = Kernel(name, **options)
    block, diagonal = kernel.block(wrap(X), wrap(Y)), kernel.diagonal(wrap(X))
    assert isinstance(block, np.ndarray)
    assert block.dtype == diagonal.dtype == dtype
    rtol, atol = (1e-12, 0) if dtype == np.float64 else (1e-5, 1e-6)
    X, Y = X.astype(float), Y.astype(float)
    assert_allclose(block, gram(X, Y, name, **options), rtol=rtol, atol=atol)
    assert_allclose(diagonal, np.diag(gram(X, X, name, **options)), rtol=rtol, atol=atol)


@pytest.mark.parametrize("container", ["dense", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 30.0])
@pytest.mark.parametrize("name", NAMED)
def test_a_row_meets_itself_in_a_block_as_on_the_diagonal(name, offset, container):
    # ‖x‖² − 2⟨x,y⟩ + ‖y‖² leaves rounding where x = y, and a root makes 1e-8 of 1e-16.
    X = CONTAINERS[container](rows(40) + offset)
    kernel = Kernel(name, gamma=0.5)
    block = kernel.block(X, X[:25])
    assert_allclose(np.diag(block), kernel.diagonal(X)[:25], rtol=1e-10)


@pytest.mark.parametrize(
    ("dtype", "offset", "scale", "rtol"), [(np.float32, 30, 0.02, 1e-5), (float, 1e6, 1, 1e-9)]
)
@pytest.mark.parametrize("name", ["rbf", "exponential", "laplacian"])
def test_differences_do_not_cancel_far_from_the_origin(name, dtype, offset, scale, rtol):
    # scikit-learn takes the distances of single-precision rows in double precision.
    X = (offset * np.arange(1, 5) + scale * rows(20)).astype(dtype)
    expected = gram(X.astype(float), X.astype(float), name, 0.5)
    assert_allclose(Kernel(name, gamma=0.5).block(X, X.copy()), expected, rtol=rtol)


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


def test_scale_of_constant_columns_is_one():
    assert resolve_kernel_gamma("scale", np.ones((5, 2))) == 1.0
    assert resolve_kernel_gamma("scale", sparse.csr_matrix((5, 2))) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scale_is_computed_in_blocks_and_not_lost_far_from_the_origin(dtype, monkeypatch):
    X = (rows(50) * [1, 2, 3, 4] + 1e3).astype(dtype)
    expected = 1 / (4 * np.var(X.astype(float), axis=0).mean())
    for n_rows in (7, 50, 1000):
        monkeypatch.setattr("decorrupt.features.columns.VARIANCE_BLOCK_ROWS", n_rows)
        assert_allclose(resolve_kernel_gamma("scale", X), expected, rtol=1e-9)


# --- the parameter object

OPTIONS = {"degree": 2, "coef0": 0.5, "rank_tol": 0.1, "max_rank": 20}
for_single = pytest.mark.parametrize("model", SINGLE, ids=name_of)


def test_copies_are_equal_and_separate():
    kernel = Kernel("polynomial", gamma=0.2, **OPTIONS)
    assert kernel.get_params().keys() == OPTIONS.keys() | {"name", "gamma"}
    for copied in (clone(kernel), pickle.loads(pickle.dumps(kernel))):  # noqa: S301 — ours
        assert copied == kernel
        assert copied is not kernel
        assert copied.get_params() == kernel.get_params()
        assert copied.set_params(max_rank=3) != kernel
    assert Kernel("linear") != "linear"
    assert repr(Kernel("linear")) == "Kernel(name='linear')"
    with pytest.raises(TypeError):
        Kernel("rbf", 0.5)


class TestGamma:
    def test_it_is_that_of_the_object_or_of_the_estimator(self):
        assert as_kernel("rbf", 0.3) == as_kernel(Kernel("rbf"), 0.3) == Kernel("rbf", gamma=0.3)
        assert as_kernel(Kernel("rbf", gamma=0.3), "scale") == Kernel("rbf", gamma=0.3)
        given = Kernel("rbf")
        as_kernel(given, 0.3)
        assert given.gamma == "scale"

    @pytest.mark.parametrize("kernel_gamma", [0.3, "auto"])
    def test_it_is_not_given_twice(self, kernel_gamma, bag_data):
        model = MeanMapClassifier(kernel=Kernel(gamma=0.3), kernel_gamma=kernel_gamma)
        message = rf"kernel_gamma={kernel_gamma!r} and in .*gamma=0\.3\): give one of them"
        with pytest.raises(ValueError, match=message):
            model.fit(bag_data.X, bag_data.y, bags=bag_data.bags)


@for_single
def test_clones_and_nested_parameters_of_estimators(model):
    model = clone(model).set_params(kernel=Kernel("polynomial", gamma=0.2))
    model.set_params(**{f"kernel__{name}": value for name, value in OPTIONS.items()})
    assert model.kernel == Kernel("polynomial", gamma=0.2, **OPTIONS)
    assert model.get_params()["kernel__max_rank"] == 20
    copied = clone(model)
    assert copied.kernel == model.kernel
    copied.set_params(kernel__max_rank=3)
    assert model.kernel.max_rank == 20


@pytest.mark.parametrize("wrap", [np.asarray, np.float32, sparse.csr_matrix])
@pytest.mark.parametrize(
    "kernel",
    [Kernel("rbf", max_rank=7), Kernel("knn", max_rank=7), Kernel("pca8_rbf", max_rank=7)],
    ids=str,
)
def test_options_are_used(kernel, wrap, bag_data):
    d, X = bag_data, wrap(bag_data.X[:300])
    model = MeanMapClassifier(kernel=kernel, reg_strength=0.1, random_state=0)
    model.fit(X, d.y[:300], bags=d.bags[:300])
    assert model.kernel_rank_ == 7
    assert model.landmarks_.shape[0] == (300 if kernel.name == "knn" else 7)
    assert model.decision_function(X).dtype == X.dtype


def test_searches_try_names_and_objects(bag_data):
    d = bag_data
    kernels = ["linear", Kernel("rbf", gamma=0.1, max_rank=9), Kernel("rbf", max_rank=5)]
    model = AutoLabelProportionsClassifier(
        candidates=["mean_map"],
        kernels=[*kernels, Kernel("linear")],  # the last one equals a name
        kernel_gammas=[0.2, 0.5],
        reg_strengths=[0.1],
        cv=2,
        random_state=0,
    ).fit(d.X, d.y, bags=d.bags)
    found = [(row.params["kernel"], row.params.get("kernel_gamma")) for row in model.leaderboard_]
    expected = [(kernels[0], None), (kernels[1], None), (kernels[2], 0.2), (kernels[2], 0.5)]
    assert len(found) == 4
    assert all(one in found for one in expected)
