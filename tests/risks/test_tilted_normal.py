"""The O(n) count likelihood of large bags: close to the exact one, with and without noise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import expit

from decorrupt.risks.poisson_binomial import poisson_binomial
from decorrupt.risks.segments import Segments
from decorrupt.risks.tilted_normal import tilted_normal
from oracles.counts import log_recursion, noisy_count_density

# The tolerances that the documentation states.
LOG_PROB_TOL, SLOPE_TOL = 0.01, 0.001


def one_bag(scores, count, noise_sd=0.0):
    bag = Segments(np.array([len(scores)]))
    log_prob, slope = tilted_normal(scores, bag, np.array([float(count)]), np.array([noise_sd**2]))
    return log_prob[0], slope


@settings(max_examples=60)
@given(
    st.sampled_from([257, 600]),
    st.sampled_from([-6.0, -2.0, 0.0, 1.0]) | st.floats(-6, 6),
    st.sampled_from([0.3, 1.0, 3.0, 10.0, 30.0, 1e3]),
)
def test_within_the_stated_tolerance_of_the_exact_count(size, shift, scale):
    """Balanced, rare and nearly certain labels; likely and nearly impossible counts."""
    rng = np.random.default_rng(size)
    scores = scale * rng.normal(size=(size, 12)) + shift * max(1.0, scale)
    likely = (rng.random(scores.shape) < expit(scores)).sum(axis=0)
    counts = np.where(np.arange(12) < 8, likely, rng.integers(1, size, size=12))
    counts = counts.clip(1, size - 1)
    exact, exact_slope = poisson_binomial(scores, counts)
    bags, no_noise = Segments(np.full(12, size)), np.zeros(12)
    log_prob, slope = tilted_normal(scores.T.ravel(), bags, counts.astype(float), no_noise)
    assert_allclose(log_prob, exact, rtol=1e-12, atol=LOG_PROB_TOL)
    assert_allclose(slope.reshape(12, size), exact_slope.T, atol=SLOPE_TOL)


@pytest.mark.parametrize("variance", [15.0, 20.0, 24.0, 28.0, 31.0, 33.0, 60.0])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_worst_bags_keep_the_tolerance(variance, share):
    """Many rows, each nearly certain: the count's kurtosis is as large as it can be."""
    size = 2000
    certain = 0.5 - np.sqrt(0.25 - variance / size)
    scores = np.repeat([1.0, -1.0], [int(share * size), size - int(share * size)])
    scores *= np.log((1 - certain) / certain)
    count = int(share * size)
    assert_allclose(one_bag(scores, count)[0], log_recursion(scores, count), atol=LOG_PROB_TOL)


@pytest.mark.parametrize("size", [2, 5, 30])
def test_small_variances_are_exact_whatever_the_size(size):
    rng = np.random.default_rng(size)
    scores = 3 * rng.normal(size=(size, 20))
    counts = rng.integers(1, size, size=20)
    exact, exact_slope = poisson_binomial(scores, counts)
    bags = Segments(np.full(20, size))
    log_prob, slope = tilted_normal(scores.T.ravel(), bags, counts.astype(float), np.zeros(20))
    assert_allclose(log_prob, exact, rtol=1e-10)
    assert_allclose(slope.reshape(20, size), exact_slope.T, atol=1e-9)


@pytest.mark.parametrize("scale", [0.3, 1.0, 1.6, 3.0, 40.0])
@pytest.mark.parametrize("noise_sd", [0.0, 0.3, 4.0])
def test_the_slope_is_the_gradient_on_both_sides_of_the_switch(scale, noise_sd):
    """At these scales the variance goes from 36 to 2: normal, blended and exact."""
    scores = scale * np.random.default_rng(0).normal(size=150)
    _, slope = one_bag(scores, 65, noise_sd)
    numeric = approx_fprime(scores, lambda f: one_bag(f, 65, noise_sd)[0], 1e-6)
    assert_allclose(slope, numeric, atol=2e-6)


def test_the_switch_is_smooth():
    """The result is continuous along a line with variances from 44 to 10."""
    scores = np.random.default_rng(1).normal(size=180)
    line = np.linspace(0.4, 8.0, 400)
    values = np.array([one_bag(t * scores, 88)[0] for t in line])
    errors = values - [log_recursion(t * scores, 88) for t in line]
    assert np.abs(errors).max() < LOG_PROB_TOL
    assert np.abs(np.diff(errors)).max() < 3e-4


@pytest.mark.parametrize("noise_sd", [1.0, 3.0, 20.0])
def test_noise_gives_the_density_of_the_noisy_count(noise_sd):
    rng = np.random.default_rng(2)
    scores = 2 * rng.normal(size=40)
    for count in (10.3, 18.0, 31.9):
        log_prob, _ = one_bag(scores, count, noise_sd)
        assert_allclose(log_prob, noisy_count_density(scores, count, noise_sd), atol=0.03)


def test_much_noise_is_the_plain_normal_density():
    """With a tilt near 0 it is log N(c; Σp, Σp(1−p) + sd²), except for the 1 added to 2πv."""
    scores = np.random.default_rng(3).normal(size=50)
    prob = expit(scores)
    variance = np.sum(prob * (1 - prob)) + 30.0**2
    density = -0.5 * (33.3 - prob.sum()) ** 2 / variance - 0.5 * math.log(2 * math.pi * variance)
    assert_allclose(one_bag(scores, 33.3, 30.0)[0], density, atol=1e-3)


def test_vanishing_noise_is_no_noise():
    scores = np.random.default_rng(4).normal(size=200)
    without, slope = one_bag(scores, 100)
    for noise_sd in (1e-2, 1e-4):
        log_prob, noisy_slope = one_bag(scores, 100, noise_sd)
        assert_allclose(log_prob, without, atol=noise_sd)
        assert_allclose(noisy_slope, slope, atol=noise_sd)


@given(
    st.sampled_from([0.0, 0.4, 25.0, 50.0]) | st.floats(0, 50),
    st.sampled_from([1.0, 1e3]),
    st.sampled_from([1e-3, 1.0, 50.0]),
)
def test_noisy_counts_at_the_ends_stay_finite(count, scale, noise_sd):
    scores = scale * np.random.default_rng(6).choice([-1.0, 1.0], size=50)
    log_prob, slope = one_bag(scores, count, noise_sd)
    assert np.isfinite(log_prob)
    assert np.isfinite(slope).all()
    assert log_prob <= 0


def test_certainty_is_not_rewarded_without_bound():
    """A plain normal density would grow to +∞ as the variance falls to zero."""
    scores = np.repeat([-1.0, 1.0], [300, 200])
    values = [one_bag(scale * scores, 200)[0] for scale in (5, 20, 100, 1e3)]
    assert_allclose(values[-1], 0, atol=1e-12)
    assert max(values) <= 1e-12
