"""The saddle point of conv-∝SVM against a solver for quadratic programmes."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from decorrupt.baselines import psvm_relaxation
from decorrupt.baselines.psvm_relaxation import solve_saddle
from oracles.convex_psvm import box_maximum, label_matrix

KERNELS = {
    "full rank": lambda X: rbf_kernel(X, gamma=5.0) + 1,
    "smooth": lambda X: rbf_kernel(X, gamma=0.01) + 1,
    "linear": lambda X: X @ X.T + 1,
    "zero": lambda X: np.zeros((len(X), len(X))),
}


def make_case(kernel, n_planes, n_rows=60):
    rng = np.random.default_rng(1)
    labels = rng.choice([-1.0, 1.0], n_rows)
    X = rng.normal(size=(n_rows, 3)) + labels[:, None]
    flips = rng.random((n_rows, n_planes)) < np.linspace(0.1, 0.4, n_planes)
    return KERNELS[kernel](X), labels[:, None] * np.where(flips, -1.0, 1.0)


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_one_plane_is_a_quadratic_programme(kernel, cost):
    gram, planes = make_case(kernel, 1)
    found = solve_saddle(gram, planes, cost)
    expected, _ = box_maximum(gram * np.outer(planes, planes), cost)
    assert found.converged
    assert found.value == pytest.approx(expected, rel=1e-6)
    assert found.weights == [1.0]
    assert (found.dual >= 0).all()
    assert (found.dual <= cost).all()


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_planes", [2, 5, 12])
def test_no_other_weights_are_better(kernel, cost, n_planes):
    """max over α at the found weights is the found value, and so is the bound from the found α."""
    gram, planes = make_case(kernel, n_planes)
    found = solve_saddle(gram, planes, cost)
    assert found.weights.sum() == pytest.approx(1)
    assert (found.weights >= 0).all()
    expected, dual = box_maximum(gram * label_matrix(planes, found.weights), cost)
    assert found.value == pytest.approx(expected, rel=1e-6)
    quadratics = [0.5 * (found.dual * y) @ gram @ (found.dual * y) for y in planes.T]
    assert found.dual.sum() - max(quadratics) == pytest.approx(found.value, rel=1e-5)
    if kernel == "full rank":  # α is unique
        np.testing.assert_allclose(found.dual, dual, atol=1e-4 * cost)


def test_a_repeated_plane_changes_nothing():
    gram, planes = make_case("full rank", 2)
    once = solve_saddle(gram, planes, 1.0)
    twice = solve_saddle(gram, planes[:, [0, 1, 1]], 1.0)
    assert twice.value == pytest.approx(once.value, rel=1e-7)
    np.testing.assert_allclose(twice.dual, once.dual, atol=1e-3)


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n_planes", [1, 5])
def test_unscaled_columns_do_not_end_in_a_division_by_zero(n_planes, cost):
    """α reaches C to the last digit; the bounds still agree to six digits."""
    gram, planes = make_case("linear", n_planes)
    found = solve_saddle(1e6 * gram, planes, cost)
    assert 0 <= found.gap < 1e-6 * found.value


def test_too_few_steps_are_noticed(monkeypatch):
    monkeypatch.setattr(psvm_relaxation, "MAX_STEPS", 2)
    gram, planes = make_case("smooth", 3)
    found = solve_saddle(gram, planes, 1.0)
    assert not found.converged
    assert found.gap > 1e-3 * found.value
