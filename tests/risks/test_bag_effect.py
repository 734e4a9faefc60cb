import numpy as np
import pytest
from scipy.special import expit, logit

from decorrupt.corruption import strata_from_bags
from decorrupt.risks.bag_effect import (
    bag_effect_of_scores,
    estimate_bag_effect,
    with_bag_effect,
)
from decorrupt.risks.count_noise import GaussianNoise


def test_bag_effect_of_equal_bags_in_closed_form():
    # V + n²s² = mean r²: 4 + 100·s² = 13.
    residuals = np.array([[2.0], [-3.0], [4.0], [np.sqrt(23.0)]])
    covariance = np.full((4, 1, 1), 4.0)
    effect = estimate_bag_effect(residuals, covariance, np.full(4, 10.0))
    assert effect == pytest.approx(0.3, abs=1e-4)
    assert estimate_bag_effect(residuals / 4, covariance, np.full(4, 10.0)) == 0.0


def test_bag_effect_of_scores_is_recovered():
    rng = np.random.default_rng(0)
    bags = np.repeat(np.arange(300), 40)
    shares = np.clip(0.5 + 0.15 * rng.normal(size=300), 0, 1)
    counts = rng.binomial(40, shares)
    strata = strata_from_bags(bags, (counts / 40)[bags])
    assert bag_effect_of_scores(np.zeros(12_000), strata, None) == pytest.approx(0.15, abs=0.02)
    # Known noise explains part of it.
    assert bag_effect_of_scores(np.zeros(12_000), strata, 0.15 * 40) < 0.06


def test_two_classes_as_one_or_two_scores():
    rng = np.random.default_rng(1)
    bags, scores = np.repeat(np.arange(20), 10), rng.normal(size=200)
    shares = np.clip(expit(rng.normal(size=20)), 0.05, 0.95)
    one = bag_effect_of_scores(scores, strata_from_bags(bags, shares[bags]), None)
    both = np.column_stack([1 - shares, shares])[bags]
    two = bag_effect_of_scores(
        np.column_stack([-scores / 2, scores / 2]), strata_from_bags(bags, both), None
    )
    assert two == pytest.approx(one, abs=1e-4)


def test_labelled_rows_have_no_bag_effect():
    strata = strata_from_bags(["a", "b", "b"], [1, 0.5, 0.5])
    noise = with_bag_effect(strata, 0.6, 0.4)  # of counts, and of shares of two rows
    assert noise["a"] == GaussianNoise(0.6)
    assert noise["b"].scale == pytest.approx(1.0)
    assert bag_effect_of_scores(np.array([logit(0.2)]), strata.take(np.array([0])), None) == 0.0
