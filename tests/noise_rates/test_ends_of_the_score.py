"""Rates read off label counts along a score: exact where the counts are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.stats import norm

from decorrupt.noise_rates import roc_slope
from decorrupt.noise_rates.estimate import resample
from decorrupt.noise_rates.roc_slope import fit_roc, roc_slope_flips
from oracles.mixtures import expected_counts

RATES = [(0.1, 0.3), (0.2, 0.2), (0.05, 0.15)]
BINS = (np.arange(200) + 0.5) / 200
PLATEAUS = np.repeat([0.0, 0.5, 1.0], [60, 80, 60])


def normal_posterior(distance, prior=0.5):
    """P(Y=1|bin) of two unit normal classes, in equally filled bins of their pooled quantiles."""
    grid = np.linspace(-12, 12, 200_001)
    pooled = prior * norm.cdf(grid - distance / 2) + (1 - prior) * norm.cdf(grid + distance / 2)
    x = np.interp(BINS, pooled, grid)
    return 1 / (1 + (1 - prior) / prior * np.exp(-distance * x))


@given(st.lists(st.tuples(st.floats(0.01, 0.4), st.floats(0.01, 0.4)), min_size=1, max_size=3))
@settings(deadline=None, max_examples=20)
def test_roc_slope_recovers_normal_classes_from_exact_counts(rates):
    found = roc_slope_flips(expected_counts(normal_posterior(2.0), rates, 1e7))
    np.testing.assert_allclose(found, rates, atol=2e-3)


@pytest.mark.parametrize("distance", [1.5, 2.5, 4.0])
@pytest.mark.parametrize("prior", [0.5, 0.3])
def test_roc_slope_at_other_distances_and_priors(distance, prior):
    found = roc_slope_flips(expected_counts(normal_posterior(distance, prior), RATES, 1e7))
    np.testing.assert_allclose(found, RATES, atol=0.015)


def test_roc_slope_does_not_need_logistic_classes():
    found = roc_slope_flips(expected_counts(PLATEAUS, RATES, 1e5))
    np.testing.assert_allclose(found, RATES, atol=0.01)


def test_swapping_the_labels_swaps_the_rates():
    counts = resample(
        expected_counts(normal_posterior(2.5, 0.4), RATES, 4000), np.random.RandomState(0)
    )
    swapped = counts[::-1, :, ::-1]
    np.testing.assert_allclose(
        roc_slope_flips(swapped), roc_slope_flips(counts)[:, ::-1], atol=2e-3, rtol=0
    )  # fmt: skip


def test_the_order_of_sources_does_not_matter():
    counts = resample(expected_counts(normal_posterior(2.5), RATES, 4000), np.random.RandomState(1))
    np.testing.assert_allclose(
        roc_slope_flips(counts[:, ::-1]), roc_slope_flips(counts)[::-1], atol=2e-3, rtol=0
    )


def test_sources_help_each_other():
    """A small source gains from the ends that a large one makes out."""
    posterior, rng = normal_posterior(2.5), np.random.RandomState(0)
    both = expected_counts(posterior, RATES[:2], 1)
    both[:, 0] *= 600
    both[:, 1] *= 30_000
    alone, joint = [], []
    for _ in range(40):
        drawn = resample(both, rng)
        joint.append(roc_slope_flips(drawn)[0])
        alone.append(roc_slope_flips(drawn[:, :1])[0])
    error = [np.abs(np.clip(f, 0, 1) - RATES[0]).mean() for f in (alone, joint)]
    assert error[1] < 0.9 * error[0]


def test_a_useless_source_has_rates_that_sum_to_one():
    counts = expected_counts(normal_posterior(3.0), [(0.1, 0.2), (0.6, 0.4)], 1e6)
    assert roc_slope_flips(counts)[1].sum() == pytest.approx(1, abs=2e-3)


def test_the_gradient_of_the_roc_fit():
    counts = resample(expected_counts(normal_posterior(2.0), RATES, 3000), np.random.RandomState(0))
    basis = roc_slope._linear_basis(200)
    params = roc_slope._start(counts, basis.shape[1]) + np.linspace(-0.03, 0.03, 13)
    gradient, _ = roc_slope._scoring(params, counts, basis)
    numeric = approx_fprime(params, roc_slope._loss, 1e-6, counts, basis)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=0.5)


def test_the_roc_fit_ends_at_a_minimum_whatever_the_start():
    counts = resample(expected_counts(normal_posterior(2.5), RATES, 5000), np.random.RandomState(2))
    first = fit_roc(counts)
    basis = roc_slope._linear_basis(200)
    gradient, fisher = roc_slope._scoring(first, counts, basis)
    assert gradient @ np.linalg.solve(fisher, gradient) < 1e-3  # what a full step could still gain
    moved = roc_slope._clip_params(first + 0.2 * np.cos(np.arange(len(first))), 3)
    again = fit_roc(counts, moved)
    np.testing.assert_allclose(again[:6], first[:6], atol=1e-3)
