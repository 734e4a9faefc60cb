from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit, softmax
from scipy.stats import multivariate_normal

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


@pytest.fixture
def bags_of_three_classes():
    """Scores, bags and shares that differ between bags by ±0.15 more than the scores explain."""
    rng = np.random.default_rng(2)
    bags, scores = np.repeat(np.arange(60), 30), rng.normal(size=(1800, 3))
    effect = 0.15 * np.sqrt(3 / 2) * rng.normal(size=(60, 3))
    effect -= effect.mean(axis=1, keepdims=True)
    shares = np.clip(softmax(scores, axis=1) + effect[bags], 0, None)
    below = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
    labels = np.sum(rng.random((1800, 1)) > below[:, :2], axis=1)
    counts = np.array([np.bincount(labels[bags == k], minlength=3) for k in range(60)])
    return scores, bags, counts / 30


def test_bag_effect_does_not_depend_on_the_order_of_classes(bags_of_three_classes):
    scores, bags, shares = bags_of_three_classes
    found = [
        bag_effect_of_scores(scores[:, order], strata_from_bags(bags, shares[:, order][bags]), None)
        for order in map(list, permutations(range(3)))
    ]
    assert_allclose(found, 0.15, atol=0.03)
    assert_allclose(found, found[0], atol=1e-4)


def test_bag_effect_of_several_classes_maximises_the_normal_likelihood(bags_of_three_classes):
    scores, bags, shares = bags_of_three_classes
    own = softmax(scores, axis=1)
    moments = [
        (30 * shares[k] - p.sum(axis=0), np.diag(p.sum(axis=0)) - p.T @ p)
        for k, p in ((k, own[bags == k]) for k in range(60))
    ]
    centred = 1.5 * (np.eye(3) - 1 / 3)  # each class has variance 1, and the sum is 0

    def log_likelihood(effect):
        return sum(
            multivariate_normal(
                cov=covariance + (30 * effect) ** 2 * centred, allow_singular=True
            ).logpdf(residual)
            for residual, covariance in moments
        )

    found = bag_effect_of_scores(scores, strata_from_bags(bags, shares[bags]), None)
    nearby = [log_likelihood(found + step) for step in (-1e-3, 0, 1e-3)]
    assert np.argmax(nearby) == 1


def test_labelled_rows_have_no_bag_effect():
    strata = strata_from_bags(["a", "b", "b"], [1, 0.5, 0.5])
    noise = with_bag_effect(strata, 0.6, 0.4)  # of counts, and of shares of two rows
    assert noise["a"] == GaussianNoise(0.6)
    assert noise["b"].scale == pytest.approx(1.0)
    assert bag_effect_of_scores(np.array([logit(0.2)]), strata.take(np.array([0])), None) == 0.0
