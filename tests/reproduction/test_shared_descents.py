"""Descents that share products with K, each against the literal descent it stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from decorrupt.corruption import RiskTerms
from decorrupt.reproduction import shared_descents
from decorrupt.reproduction.shared_descents import Descents, descend_together
from oracles.dense_kernel import descend_dual, gram

N_ROWS = 120
CHECKPOINTS = [60, 300, 900]


def kernel_matrix(kernel_gamma):
    return gram(*[np.random.default_rng(0).normal(size=(N_ROWS, 4))] * 2, "rbf", kernel_gamma)


def signed_terms():
    """Coefficients of both signs, as the corrected risk has them; they sum to one."""
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(0.5, 1.0, size=(2, N_ROWS)) / N_ROWS
    return RiskTerms(pos, neg)


def descents(*paths):
    return Descents(*np.array(paths, dtype=float).T[:, :, None])


def literal(matrix, terms, size, decay, reg_strength, n_steps):
    return descend_dual(
        matrix,
        lambda f: -terms.coef_pos / (1 + np.exp(f)) + terms.coef_neg / (1 + np.exp(-f)),
        reg_strength,
        step_size=size,
        step_decay=decay,
        n_steps=n_steps,
    )


def regimes_entered(monkeypatch):
    """Return a list that will name every regime a group of descents is put into."""
    entered = []

    def noting(regime):
        def enter(*args):
            entered.append(regime.__name__)
            return regime(*args)

        return enter

    noted = tuple(noting(regime) for regime in shared_descents.REGIMES)
    monkeypatch.setattr(shared_descents, "REGIMES", noted)
    return entered


# Kernel γ, then η₀, decay, λ of every descent.
PATHS = {
    "gliding": (1.0, [(0.005, 1e-3, 0.01), (0.002, 0.0, 0.0)], {"_Gliding"}),
    "walking": (0.01, [(0.01, 1e-4, 0.001), (0.02, 0.0, 0.0)], {"_Walking"}),
    "swinging": (0.01, [(0.5, 1e-4, 0.001), (0.3, 0.0, 0.0)], {"_Swinging"}),
    "slowing": (0.01, [(0.3, 0.03, 0.001)], {"_Swinging", "_Walking", "_Gliding"}),
    # Beyond few modes nothing of this K moves: blocks without history.
    "flat": (0.001, [(0.01, 1e-4, 0.001), (0.001, 0.0, 0.0)], {"_Walking"}),
    # The penalty moves modes that the loss does not.
    "penalised": (0.1, [(0.01, 0.0, 1.0), (0.01, 1e-3, 0.3)], {"_Walking"}),
    # The last could glide, but walks along.
    "mixed": (
        0.1,
        [(0.3, 1e-3, 0.0), (0.1, 0.01, 0.01), (1e-4, 0.0, 0.0)],
        {"_Swinging", "_Walking"},
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_every_regime_ends_where_the_literal_descent_does(name, monkeypatch):
    kernel_gamma, paths, expected_regimes = PATHS[name]
    matrix, terms = kernel_matrix(kernel_gamma), signed_terms()
    entered = regimes_entered(monkeypatch)
    found = descend_together(matrix, terms, descents(*paths), CHECKPOINTS)
    assert set(entered) == expected_regimes
    for k, n_steps in enumerate(CHECKPOINTS):
        for p, path in enumerate(paths):
            expected = matrix @ literal(matrix, terms, *path, n_steps)
            scale = max(np.abs(expected).max(), 1.0)
            assert_allclose(matrix @ found[k, :, p], expected, rtol=0, atol=1e-6 * scale)


def test_a_descent_does_not_depend_on_its_company():
    matrix, terms = kernel_matrix(0.1), signed_terms()
    paths = PATHS["mixed"][1]
    together = descend_together(matrix, terms, descents(*paths), CHECKPOINTS)
    for p, path in enumerate(paths):
        alone = descend_together(matrix, terms, descents(path), CHECKPOINTS)
        scores, expected = matrix @ together[:, :, p].T, matrix @ alone[:, :, 0].T
        assert_allclose(scores, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_a_checkpoint_does_not_change_what_comes_after():
    matrix, terms = kernel_matrix(0.1), signed_terms()
    paths = descents(*PATHS["mixed"][1])
    often = descend_together(matrix, terms, paths, [1, 7, 60, 61, 299, 900])
    once = descend_together(matrix, terms, paths, [900])
    scores, expected = matrix @ often[-1], matrix @ once[0]
    assert_allclose(scores, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_descents_go_on_where_others_leave_them(monkeypatch):
    matrix, terms = kernel_matrix(0.01), signed_terms()
    paths = [(0.3, 0.0, 0.001), (0.3, 0.01, 0.001)]  # the second swings for 153 steps
    entered = regimes_entered(monkeypatch)
    found = descend_together(matrix, terms, descents(*paths), [900])
    assert entered == ["_Swinging", "_Walking"]
    for p, path in enumerate(paths):
        expected = matrix @ literal(matrix, terms, *path, 900)
        assert_allclose(matrix @ found[0, :, p], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("decay", [1e-4, 1e-3, 0.01])
def test_regimes_change_where_the_steps_stop_swinging(decay):
    paths = descents((1.0, decay, 0.0))
    problem = shared_descents._Problem(kernel_matrix(0.1), signed_terms(), paths)
    last = round(20 / decay)
    calm = shared_descents._stops(problem, paths, [last])[1]
    assert problem.regimes(paths, calm - 1) == [2]
    assert problem.regimes(paths, calm) == [1]


@pytest.mark.parametrize("kernel_gamma", [0.001, 0.1, 10.0])
@pytest.mark.parametrize("reg_strength", [0.0, 0.1])
def test_the_greatest_curvature_is_bounded_closely(kernel_gamma, reg_strength):
    matrix, terms = kernel_matrix(kernel_gamma), signed_terms()
    problem = shared_descents._Problem(matrix, terms, descents((1.0, 0.0, reg_strength)))
    curvature = np.diag(np.abs(terms.coef_pos + terms.coef_neg) / 4)
    exact = np.linalg.eigvalsh(matrix @ curvature @ matrix + 2 * reg_strength * matrix).max()
    assert exact * (1 - 1e-9) <= problem.top_rate <= 1.5 * exact


@given(
    gaps=st.lists(st.integers(1, 30), min_size=0, max_size=5),
    n_steps=st.integers(1, 40),
    decay=st.sampled_from([0.0, 1e-4, 1e-2]),
)
def test_polynomials_of_the_way_travelled_are_extrapolated_exactly(gaps, n_steps, decay):
    nodes = -np.cumsum([0, *gaps])[::-1]
    weights = descents((1.0, decay, 0.0), (0.1, decay, 1.0)).extrapolation(
        tuple(nodes.tolist()), n_steps
    )
    assert weights.shape == (2, n_steps, len(nodes))
    assert_array_equal(weights[0], weights[1])
    assert_allclose(weights[0, 0], np.arange(len(nodes)) == len(nodes) - 1, atol=1e-12)

    def way(steps):
        return np.where(decay > 0, (1 - np.exp(-decay * steps)) / (decay or 1.0), steps) / 100

    for power in range(len(nodes)):
        ahead = weights[0] @ way(nodes) ** power
        size = np.abs(weights[0]) @ np.abs(way(nodes)) ** power + 1
        assert_allclose(ahead / size, way(np.arange(n_steps)) ** power / size, atol=1e-10)


def test_every_decay_is_extrapolated_on_its_own_clock():
    paths = [(1.0, 0.01, 0.0), (0.1, 0.0, 0.0), (0.1, 0.01, 1.0)]
    together = descents(*paths).extrapolation((-30, -10, 0), 20)
    alone = [descents(path).extrapolation((-30, -10, 0), 20)[0] for path in paths]
    assert_array_equal(together, alone)
    assert np.abs(together[0] - together[1]).max() > 0.01


def test_rounding_does_not_move_what_has_come_to_rest():
    # Nearly constant rows of K: f = K²c is small where c is not.
    matrix, terms = kernel_matrix(0.0003), signed_terms()
    path, checkpoints = (0.1, 0.01, 0.001), [100, 800, 3200]
    found = descend_together(matrix, terms, descents(path), checkpoints)
    expected = matrix @ literal(matrix, terms, *path, checkpoints[-1])
    assert_allclose(matrix @ found[-1, :, 0], expected, rtol=0, atol=1e-5 * np.ptp(expected))


def test_errors_do_not_grow_in_a_long_swing():
    # Modes of all speeds below those that swing: what is let go of them comes back magnified.
    matrix, terms = kernel_matrix(0.1), signed_terms()
    path, n_steps = (1.0, 0.0, 0.0), 1600
    found = descend_together(matrix, terms, descents(path), [n_steps])
    expected = matrix @ literal(matrix, terms, *path, n_steps)
    scale = np.abs(expected).max()
    assert_allclose(matrix @ found[0, :, 0], expected, rtol=0, atol=1e-6 * scale)
