"""Noise of counts: densities as in scipy, scales, and how it is given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from decorrupt import GaussianNoise, GeometricNoise, LaplaceNoise
from decorrupt.observed import Observed, noise_covariance

KINDS = [GaussianNoise, LaplaceNoise, GeometricNoise]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "1", None])
def test_scales_must_be_positive(kind, value):
    with pytest.raises(ValueError, match=rf"{kind.__name__}\(.*must be a positive number"):
        kind(value)


@pytest.mark.parametrize(
    ("noise", "law"),
    [
        (GaussianNoise(1.7), stats.norm(scale=1.7)),
        (LaplaceNoise(1.7), stats.laplace(scale=1.7)),
        (GeometricNoise(0.4), stats.dlaplace(0.4)),
    ],
)
def test_noise_is_what_scipy_calls_it(noise, law):
    distance = np.arange(-6.0, 7.0)
    expected = law.logpmf(distance) if hasattr(law.dist, "pmf") else law.logpdf(distance)
    assert_allclose(noise.log_density(distance), expected)
    assert_allclose(noise.variance, law.var())


@pytest.mark.parametrize("noise", [LaplaceNoise(1.7), GeometricNoise(0.4)])
def test_decay_is_the_slope_of_the_log_density(noise):
    one, two = noise.log_density(np.array([3.0, 4.0]))
    assert_allclose(one - two, noise.decay)


def test_noise_is_given_for_all_bags_or_by_bag():
    def read(noise):
        return Observed.from_bags([0.0, 1.0], ["a", "b"], count_noise=noise).counts.noise

    assert read(2) == [GaussianNoise(2.0)] * 2
    assert read(LaplaceNoise(1.0)) == [LaplaceNoise(1.0)] * 2
    assert read({"b": None, "a": 0.5}) == [GaussianNoise(0.5), None]
    assert read(None) == [None, None]


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (-0.1, r"count_noise=-0\.1 must be the standard deviation"),
        (0, r"count_noise=0 must be .* None for counts without noise"),
        (np.nan, r"count_noise=nan must be"),
        ("laplace", r"count_noise='laplace' must be .* or GaussianNoise"),
        ({"a": 0.1}, r"count_noise has no entry for bag 'b'"),
        ({"a": 1, "b": -2}, r"count_noise of bag 'b'=-2 must be"),
    ],
)
def test_bad_noise(noise, message):
    with pytest.raises(ValueError, match=message):
        Observed.from_bags([0.0, 1.0], ["a", "b"], count_noise=noise)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_covariance_of_noise_that_is_known_to_sum_to_zero(n_classes):
    """Independent noise of K counts, less its mean; of two classes it is one number."""
    rng = np.random.default_rng(0)
    draws = rng.normal(scale=2.0, size=(200_000, n_classes))
    draws -= draws.mean(axis=1, keepdims=True)
    if n_classes == 2:
        draws = np.column_stack([-(one := rng.normal(scale=2.0, size=200_000)), one])
    found = noise_covariance(np.array([4.0]), n_classes)[0]
    assert_allclose(found, np.cov(draws[:, 1:].T).reshape(found.shape), atol=0.05)
