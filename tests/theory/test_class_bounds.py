"""The corrected Lipschitz constant of several classes, and the bound that follows from it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from decorrupt.theory import (
    bound_class_sources,
    bound_common_source,
    corrected_class_lipschitz,
)

THREE = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]])


def random_matrix(seed, n_classes, noise):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n_classes), n_classes)
    return (1 - noise) * np.eye(n_classes) + noise * shares


def corrected(transition, scores):
    """Return ℓ̃_ỹ of all noisy labels, by solving Σ_ỹ T[y, ỹ]·ℓ̃_ỹ = ℓ_y."""
    return np.linalg.solve(transition, -log_softmax(scores, axis=-1))


@given(st.integers(0, 10**6), st.integers(2, 6), st.floats(0, 0.9), st.floats(0.01, 30))
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
def test_no_difference_exceeds_the_constant(seed, n_classes, noise, scale):
    transition = random_matrix(seed, n_classes, noise)
    assume(np.linalg.cond(transition) < 1e4)
    (steepness,) = corrected_class_lipschitz([transition])
    one, other = scale * np.random.default_rng(seed + 1).normal(size=(2, n_classes))
    rise = np.abs(corrected(transition, one) - corrected(transition, other)).max()
    assert rise <= steepness * np.linalg.norm(one - other) * (1 + 1e-9)


@given(st.integers(0, 10**6), st.integers(2, 5))
@settings(max_examples=50, deadline=None, derandomize=True, database=None)
def test_the_steepest_slope_of_cross_entropy_is_within_the_constant(seed, n_classes):
    """∇ℓ̃_ỹ = softmax(f) − T⁻¹[ỹ, ·]: its supremum is max ‖e_c − T⁻¹[ỹ, ·]‖, at most L_s."""
    transition = random_matrix(seed, n_classes, 0.6)
    (steepness,) = corrected_class_lipschitz([transition])
    inverse = np.linalg.inv(transition)
    slopes = np.linalg.norm(np.eye(n_classes)[:, None] - inverse[None], axis=2)
    sharp = slopes.max()
    c, noisy = np.unravel_index(slopes.argmax(), slopes.shape)
    start = 40.0 * np.eye(n_classes)[c]  # softmax is e_c
    direction = np.eye(n_classes)[c] - inverse[noisy]
    step = 1e-4 * direction / np.linalg.norm(direction)
    rise = corrected(transition, start + step)[noisy] - corrected(transition, start - step)[noisy]
    assert rise / 2e-4 == pytest.approx(sharp, rel=1e-5)
    assert sharp <= steepness * (1 + 1e-12)


@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.1, 0.4), (0.45, 0.3)])
def test_two_classes_have_the_papers_constant(rates):
    flip_pos, flip_neg = rates
    transition = [[1 - flip_neg, flip_neg], [flip_pos, 1 - flip_pos]]
    expected = (1 + abs(flip_pos - flip_neg)) / (1 - flip_pos - flip_neg)
    assert corrected_class_lipschitz([transition], 1.0) == pytest.approx([expected])


def test_two_classes_against_theorem_2():
    """(f/2, −f/2) has the norm R/√2 and cross-entropy the constant √2: the same product LR."""
    sizes, rates = [500, 2000], [(0.1, 0.3), (0.2, 0.05)]
    matrices = [[[1 - neg, neg], [pos, 1 - pos]] for pos, neg in rates]
    several = bound_class_sources(sizes, matrices, radius=2 / np.sqrt(2), failure_prob=0.05)
    binary = bound_common_source(sizes, *np.array(rates).T, radius=2, failure_prob=0.05)
    confidence = np.sqrt(np.log(2 / 0.05) / 2)
    unit = binary / (4 * confidence)  # KRL·√(Σw²c²)
    assert several == pytest.approx(unit * (4 + 2 * confidence))


def test_the_bound_holds_in_a_simulation():
    """Three classes on four points with two sources; the supremum by ascent from many starts."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4, 2))
    points /= np.linalg.norm(points, axis=1, keepdims=True)  # a linear kernel with κ = 1
    joint = rng.dirichlet(np.ones(12)).reshape(4, 3)
    matrices, sizes, radius = [THREE, 0.5 * THREE + 1 / 6], np.array([60, 240]), 3.0
    bound = bound_class_sources(sizes, matrices, weights=[0.5, 0.5], radius=radius)
    found = []
    for _ in range(60):
        coef = -joint  # of ℓ_y at each point, in empirical − true risk
        for matrix, size in zip(matrices, sizes, strict=True):
            counts = rng.multinomial(size, (joint @ matrix).ravel()).reshape(4, 3)
            coef = coef + 0.5 * counts / size @ np.linalg.inv(matrix)
        found.append(max(largest(sign * coef, points, radius, rng) for sign in (1, -1)))
    assert max(found) < bound
    assert max(found) > 0.05 * bound  # not vacuous: the search finds large deviations


def largest(coef, points, radius, rng):
    """Return the largest Σ_x Σ_y coef[x, y]·ℓ_y(f(x)) that projected ascent finds in the ball."""
    weights = rng.normal(size=(8, 2, 3))
    for _ in range(60):
        scores = points @ weights
        slope = np.exp(log_softmax(scores, axis=-1)) * coef.sum(axis=1)[:, None] - coef
        weights = weights + 5 * np.einsum("xd,bxc->bdc", points, slope)
        weights *= radius / np.maximum(np.linalg.norm(weights, axis=(1, 2), keepdims=True), radius)
    return -np.sum(coef * log_softmax(points @ weights, axis=-1), axis=(1, 2)).min()


def test_messages():
    with pytest.raises(ValueError, match="source 1 are singular"):
        bound_class_sources([10, 10], [THREE, np.full((3, 3), 1 / 3)], radius=1)
    with pytest.raises(ValueError, match="2 matrices for 1 sizes"):
        bound_class_sources([10], [THREE, THREE], radius=1)
    with pytest.raises(ValueError, match="radius=0 must be"):
        bound_class_sources([10], [THREE], radius=0)
