"""Noise rates, mixture proportions and ROC slopes are equivalent."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from decorrupt.corruption import SourceMixture
from oracles.label_noise import posterior_by_label
from oracles.mixtures import kappa, noisy_classes

RATE = st.floats(0, 0.95)
PRIOR = st.floats(0.05, 0.95)


@given(RATE, RATE, PRIOR)
def test_rates_to_mixtures_and_back(flip_pos, flip_neg, prior):
    assume(flip_pos + flip_neg < 0.95)
    mixture = SourceMixture.of_rates(prior, (flip_pos, flip_neg))
    assert (mixture.share_pos, mixture.proportion_pos, mixture.proportion_neg) == pytest.approx(
        posterior_by_label(prior, flip_pos, flip_neg)
    )
    assert mixture.class_prior == pytest.approx(prior)
    assert tuple(mixture.rates) == pytest.approx((flip_pos, flip_neg), abs=1e-12)


@given(RATE, RATE, PRIOR, st.integers(0, 10**6))
def test_slopes_are_the_infima_over_all_sets(flip_pos, flip_neg, prior, seed):
    """Brute force over all subsets of 5 points; one point is only positive, one only negative."""
    assume(flip_pos + flip_neg < 0.95)
    points = np.random.default_rng(seed).dirichlet(np.ones(4), size=2)
    points_pos, points_neg = np.append(points[0], 0), np.insert(points[1], 0, 0)
    share, noisy_pos, noisy_neg = noisy_classes(prior, points_pos, points_neg, flip_pos, flip_neg)
    mixture = SourceMixture.of_rates(prior, (flip_pos, flip_neg))
    assert mixture.share_pos == pytest.approx(share)
    expected = kappa(noisy_pos, noisy_neg), kappa(noisy_neg, noisy_pos)
    assert mixture.slopes == pytest.approx(expected, abs=1e-9)


@given(RATE, RATE, PRIOR)
def test_swapping_the_labels_swaps_the_rates(flip_pos, flip_neg, prior):
    assume(flip_pos + flip_neg < 0.95)
    here = SourceMixture.of_rates(prior, (flip_pos, flip_neg))
    there = SourceMixture.of_rates(1 - prior, (flip_neg, flip_pos))
    assert there.slopes == pytest.approx(here.slopes[::-1])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((1.0, 0.8, 0.2), r"share_pos=1\.0 must lie strictly"),
        ((0.5, 0.2, 0.8), r"proportion_neg below proportion_pos"),
        ((0.5, 1.2, 0.2), r"must be shares"),
    ],
)
def test_impossible_mixtures(values, message):
    with pytest.raises(ValueError, match=message):
        SourceMixture(*values)


def test_a_prior_of_one_leaves_nothing_to_mix():
    with pytest.raises(ValueError, match=r"class_prior=1\.0 must lie"):
        SourceMixture.of_rates(1.0, (0.1, 0.1))
