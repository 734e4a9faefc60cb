"""Rates read off label counts along a score: exact where the counts are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.stats import norm

from decorrupt.noise_rates import roc_slope
from decorrupt.noise_rates.best_bin import best_bin_flips
from decorrupt.noise_rates.estimate import resample
from decorrupt.noise_rates.roc_slope import class_scores, fit_roc, roc_slope_flips
from oracles.mixtures import expected_counts

RATES = [(0.1, 0.3), (0.2, 0.2), (0.05, 0.15)]
BINS = (np.arange(200) + 0.5) / 200
PLATEAUS = np.repeat([0.0, 0.5, 1.0], [60, 80, 60])
METHODS = [best_bin_flips, roc_slope_flips]


def normal_posterior(distance, prior=0.5):
    """P(Y=1|bin) of two unit normal classes, in equally filled bins of their pooled quantiles."""
    grid = np.linspace(-12, 12, 200_001)
    pooled = prior * norm.cdf(grid - distance / 2) + (1 - prior) * norm.cdf(grid + distance / 2)
    x = np.interp(BINS, pooled, grid)
    return 1 / (1 + (1 - prior) / prior * np.exp(-distance * x))


rate_pairs = st.tuples(st.floats(0, 0.45), st.floats(0, 0.45))


@given(st.lists(rate_pairs, min_size=1, max_size=4))
@settings(deadline=None, max_examples=50)
def test_best_bin_is_exact_on_exact_counts_with_pure_ends(rates):
    found = best_bin_flips(expected_counts(PLATEAUS, rates, 1e5))
    np.testing.assert_allclose(found, rates, atol=1e-9)


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


def test_best_bin_errs_upwards_where_no_row_is_pure():
    """Irreducibility fails: overlap of the classes cannot be told from noise."""
    found = best_bin_flips(expected_counts(np.linspace(0.1, 0.9, 200), RATES, 1e6))
    assert (found > np.array(RATES)).all()


@pytest.mark.parametrize("flips_from", METHODS)
def test_swapping_the_labels_swaps_the_rates(flips_from):
    counts = resample(
        expected_counts(normal_posterior(2.5, 0.4), RATES, 4000), np.random.RandomState(0)
    )
    swapped = counts[:, ::-1, :, ::-1]
    np.testing.assert_allclose(
        flips_from(swapped), flips_from(counts)[:, ::-1], atol=2e-3, rtol=0
    )  # fmt: skip


@pytest.mark.parametrize("flips_from", METHODS)
def test_the_order_of_sources_does_not_matter(flips_from):
    counts = resample(expected_counts(normal_posterior(2.5), RATES, 4000), np.random.RandomState(1))
    np.testing.assert_allclose(
        flips_from(counts[:, :, ::-1]), flips_from(counts)[::-1], atol=2e-3, rtol=0
    )


@pytest.mark.parametrize("flips_from", METHODS)
def test_sources_help_each_other(flips_from):
    """A small source gains from the ends that a large one makes out."""
    posterior, rng = normal_posterior(2.5), np.random.RandomState(0)
    both = expected_counts(posterior, RATES[:2], 1)
    both[:, :, 0] *= 600
    both[:, :, 1] *= 30_000
    alone, joint = [], []
    for _ in range(40):
        drawn = resample(both, rng)
        joint.append(flips_from(drawn)[0])
        alone.append(flips_from(drawn[:, :, :1])[0])
    error = [np.abs(np.clip(f, 0, 1) - RATES[0]).mean() for f in (alone, joint)]
    assert error[1] < 0.9 * error[0]


def test_a_useless_source_has_rates_that_sum_to_one():
    counts = expected_counts(normal_posterior(3.0), [(0.1, 0.2), (0.6, 0.4)], 1e6)
    for flips_from in METHODS:
        assert flips_from(counts)[1].sum() == pytest.approx(1, abs=2e-3)


def resampled_errors(posterior, rates, n_rows):
    """Return the errors of best_bin on 100 samples of so many rows per source, in 5 folds."""
    rng, expected = np.random.RandomState(0), expected_counts(posterior, rates, n_rows, n_folds=5)
    return np.array([best_bin_flips(resample(expected, rng)) - rates for _ in range(100)])


def test_choosing_the_best_tail_does_not_flatter_it():
    """Chosen and read on the same rows, the rates would come out .013 too low on average."""
    assert resampled_errors(PLATEAUS, RATES, 1000).mean() > -0.007


def test_the_tail_is_as_long_as_it_can_be():
    """The shortest tail that looks purest would err by .032, not by .022."""
    assert np.abs(resampled_errors(PLATEAUS, RATES, 1000)).mean() < 0.026


def test_the_gradient_of_the_roc_fit():
    counts = resample(expected_counts(normal_posterior(2.0), RATES, 3000), np.random.RandomState(0))
    table, basis = counts.sum(axis=0), roc_slope._linear_basis(200)
    params = roc_slope._start(table, basis.shape[1]) + np.linspace(-0.03, 0.03, 13)
    gradient, _ = roc_slope._scoring(params, table, basis)
    numeric = approx_fprime(params, roc_slope._loss, 1e-6, table, basis)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=0.5)


def test_the_roc_fit_ends_at_a_minimum_whatever_the_start():
    counts = resample(expected_counts(normal_posterior(2.5), RATES, 5000), np.random.RandomState(2))
    first = fit_roc(counts)
    table, basis = counts.sum(axis=0), roc_slope._linear_basis(200)
    gradient, fisher = roc_slope._scoring(first, table, basis)
    assert gradient @ np.linalg.solve(fisher, gradient) < 1e-3  # what a full step could still gain
    moved = roc_slope._clip_params(first + 0.2 * np.cos(np.arange(len(first))), 3)
    again = fit_roc(counts, moved)
    np.testing.assert_allclose(again[:6], first[:6], atol=1e-3)


def test_class_scores_are_quantiles_of_two_normal_classes():
    x = np.array([-4.0, -1.0, 0.0, 0.3, 5.0])
    ranks = (norm.cdf(x - 1) + norm.cdf(x + 1)) / 2
    np.testing.assert_allclose(class_scores(ranks), x, atol=1e-3)


def test_resampling_keeps_every_sources_size():
    counts = resample(expected_counts(PLATEAUS, RATES, 1200), np.random.RandomState(0))
    drawn = resample(counts, np.random.RandomState(1))
    np.testing.assert_array_equal(drawn.sum(axis=(0, 1, 3)), counts.sum(axis=(0, 1, 3)))
    assert (drawn[counts == 0] == 0).all()
    mean = np.mean([resample(counts, np.random.RandomState(s)) for s in range(300)], axis=0)
    assert np.abs(mean - counts).max() < 1.5
