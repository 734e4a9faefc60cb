"""Descents in a batch, each against the literal descent that it represents."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from oracles.dense_kernel import descend_dual, gram
from reproduction.batched_descents import Descents, descend_together

N_ROWS = 120
CHECKPOINTS = [60, 300, 900]


def kernel_matrix(kernel_gamma):
    return gram(*[np.random.default_rng(0).normal(size=(N_ROWS, 4))] * 2, "rbf", kernel_gamma)


def signed_coefficients():
    """Coefficients of both signs, as the corrected risk has them; they sum to one."""
    rng = np.random.default_rng(1)
    pos, neg = rng.normal(0.5, 1.0, size=(2, N_ROWS)) / N_ROWS
    return np.column_stack([neg, pos])


def descents(*paths):
    return Descents(*np.array(paths, dtype=float).T)


def literal(matrix, coef, size, decay, reg_strength, n_steps):
    return descend_dual(
        matrix,
        lambda f: -coef[:, 1] / (1 + np.exp(f)) + coef[:, 0] / (1 + np.exp(-f)),
        reg_strength,
        step_size=size,
        step_decay=decay,
        n_steps=n_steps,
    )


# Kernel γ, then η₀, decay, λ of every descent.
PATHS = {
    "short steps": (1.0, [(0.005, 1e-3, 0.01), (0.002, 0.0, 0.0)]),
    "long steps": (0.01, [(0.01, 1e-4, 0.001), (0.02, 0.0, 0.0)]),
    # Steps so long that they overshoot: rounding is amplified.
    "overshooting": (0.01, [(0.5, 1e-4, 0.001), (0.3, 0.0, 0.0)]),
    "slowing": (0.01, [(0.3, 0.03, 0.001)]),
    # Nearly constant rows of K: most eigenvectors are left out.
    "flat": (0.0003, [(0.1, 0.01, 0.001), (0.001, 0.0, 0.0)]),
    # The penalty moves modes that the loss does not.
    "penalised": (0.1, [(0.01, 0.0, 1.0), (0.01, 1e-3, 0.3)]),
    "mixed": (0.1, [(0.3, 1e-3, 0.0), (0.1, 0.01, 0.01), (1e-4, 0.0, 0.0), (1.0, 0.0, 0.0)]),
}


@pytest.mark.parametrize("name", PATHS)
def test_every_descent_ends_where_the_literal_one_does(name):
    kernel_gamma, paths = PATHS[name]
    matrix, coef = kernel_matrix(kernel_gamma), signed_coefficients()
    found = descend_together(matrix, coef, descents(*paths), CHECKPOINTS)
    assert found.shape == (3, N_ROWS, len(paths))
    for k, n_steps in enumerate(CHECKPOINTS):
        for p, path in enumerate(paths):
            expected = matrix @ literal(matrix, coef, *path, n_steps)
            scale = max(np.abs(expected).max(), 1.0)
            assert_allclose(matrix @ found[k, :, p], expected, rtol=0, atol=1e-8 * scale)


def test_a_checkpoint_does_not_change_what_comes_after():
    matrix, coef = kernel_matrix(0.1), signed_coefficients()
    paths = descents(*PATHS["mixed"][1])
    often = descend_together(matrix, coef, paths, [1, 7, 60, 61, 299, 900])
    once = descend_together(matrix, coef, paths, [900])
    assert_allclose(often[-1], once[0])
