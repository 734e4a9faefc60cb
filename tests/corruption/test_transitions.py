"""Transition matrices per source: unbiased correction, noise scales, errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decorrupt.corruption import (
    backward_coefficients,
    check_transitions,
    correction_coefficients,
    noise_scales,
    signal_to_noise,
)

RATES = {
    "web": [[0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [0.0, 0.3, 0.7]],
    "desk": [[0.6, 0.4, 0.0], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]],
}


def binary_transition(flip_pos, flip_neg):
    """Return the matrix of two classes in the order −1, +1."""
    return [[1 - flip_neg, flip_neg], [flip_pos, 1 - flip_pos]]


def test_the_corrected_loss_is_unbiased():
    """Σ_ỹ T[y, ỹ]·Σ_y' coef(ỹ)_y'·ℓ_y' = ℓ_y for every class y and every loss."""
    transitions = check_transitions(RATES, 3)
    losses = np.random.default_rng(0).normal(size=3)
    for source, transition in enumerate(RATES.values()):
        coef = backward_coefficients(transitions, np.full(3, source), np.arange(3))
        for label in range(3):
            mean = sum(transition[label][noisy] * (coef[noisy] @ losses) for noisy in range(3))
            assert_allclose(mean, losses[label], rtol=1e-12)


def test_two_classes_are_the_binary_correction():
    transitions = check_transitions({0: binary_transition(0.2, 0.1)}, 2)
    noisy = np.array([0, 1, 1])
    coef = backward_coefficients(transitions, np.zeros(3, dtype=int), noisy)
    pos, neg = correction_coefficients(noisy > 0, 0.2, 0.1)
    assert_allclose(coef, np.column_stack([neg, pos]), rtol=1e-12)


def test_the_noise_scale_of_two_classes_is_the_papers():
    flip_pos, flip_neg, sizes = [0.1, 0.3, 0.0], [0.2, 0.05, 0.0], [100, 40, 7]
    rates = dict(enumerate(map(binary_transition, flip_pos, flip_neg)))
    scales = noise_scales(check_transitions(rates, 2), sizes)
    assert_allclose(1 / scales**2, signal_to_noise(sizes, flip_pos, flip_neg), rtol=1e-12)


def test_the_noise_scale_of_three_classes_by_hand():
    """Each label is right with probability 0.6: T⁻¹ has the rows (2, −½, −½)."""
    transition = 0.4 * np.eye(3) + 0.2
    assert_allclose(noise_scales(check_transitions({0: transition}, 3), [9]), [3 / 3])


@pytest.mark.parametrize(
    ("transition", "message"),
    [
        ([[0.9, 0.1], [0.1, 0.9]], r"source 'desk' have shape \(2, 2\).*shape \(3, 3\)"),
        ([[0.9, 0.2, 0], [0, 1, 0], [0, 0, 1]], r"source 'desk': row 0 is .*sum to 1"),
        ([[1, 0, 0], [0, 1.2, -0.2], [0, 0, 1]], r"source 'desk': row 1 is .*in \[0, 1\]"),
        (
            [[0.5, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0]],
            r"source 'desk' are singular.*distinguish the classes 0, 2;",
        ),
    ],
)
def test_bad_matrices_name_the_source(transition, message):
    with pytest.raises(ValueError, match=message):
        check_transitions({"web": RATES["web"], "desk": transition}, 3)
