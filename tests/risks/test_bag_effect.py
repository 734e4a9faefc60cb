from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit, softmax
from scipy.stats import multivariate_normal, norm

from decorrupt.observed import GaussianNoise, Observed
from decorrupt.risks import (
    bag_effect_of_scores,
    effect_covariance,
    estimate_bag_effect,
    with_bag_effect,
)


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
    observed = Observed.from_bags((counts / 40)[bags], bags)
    assert bag_effect_of_scores(np.zeros(12_000), observed) == pytest.approx(0.15, abs=0.02)
    # Known noise explains part of it.
    noisy = Observed.from_bags((counts / 40)[bags], bags, count_noise=0.15 * 40)
    assert bag_effect_of_scores(np.zeros(12_000), noisy) < 0.06


def test_two_classes_by_brute_force():
    """The effect with the largest Σ log N(count; Σp, Σp(1−p) + (n·effect)²)."""
    rng = np.random.default_rng(1)
    bags, scores = np.repeat(np.arange(20), 10), rng.normal(size=200)
    shares = np.clip(expit(rng.normal(size=20)), 0.05, 0.95)
    prob = expit(scores).reshape(20, 10)
    mean, own = prob.sum(axis=1), (prob * (1 - prob)).sum(axis=1)

    def log_likelihood(effect):
        sd = np.sqrt(own + (10 * effect) ** 2)
        return norm.logpdf(10 * shares, mean, sd).sum()

    grid = np.linspace(0, 1, 10_001)
    best = grid[np.argmax([log_likelihood(effect) for effect in grid])]
    found = bag_effect_of_scores(scores, Observed.from_bags(shares[bags], bags))
    assert found == pytest.approx(best, abs=2e-4)
    assert effect_covariance(2).tolist() == [[1.0]]


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
        bag_effect_of_scores(scores[:, order], Observed.from_bags(shares[:, order][bags], bags))
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

    found = bag_effect_of_scores(scores, Observed.from_bags(shares[bags], bags))
    nearby = [log_likelihood(found + step) for step in (-1e-3, 0, 1e-3)]
    assert np.argmax(nearby) == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labelled_rows_have_no_bag_effect(n_classes):
    shares = [[0, 1, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]]
    y = np.array(shares)[:, :n_classes] if n_classes == 3 else [1, 0.5, 0.5]
    observed = Observed.from_bags(y, ["a", "b", "b"], count_noise=0.6)
    noise = with_bag_effect(observed, 0.4).counts.noise  # of counts, and of shares of two rows
    assert noise[0] == GaussianNoise(0.6)
    # The effects of three classes sum to 0: their independent parts are larger by 3/2.
    added = (2 * 0.4) ** 2 * (1 if n_classes == 2 else 1.5)
    assert noise[1].scale == pytest.approx(np.sqrt(0.36 + added))
    one = observed.take(np.array([0]))
    scores = np.array([logit(0.2)]) if n_classes == 2 else np.array([[0.1, 0.2, 0.3]])
    assert bag_effect_of_scores(scores, one) == 0.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_effect_makes_exact_counts_noisy(n_classes):
    y = [0.4] * 5 + [0.8] * 5 if n_classes == 2 else [[0.4, 0.4, 0.2]] * 5 + [[0, 1, 0]] * 5
    observed = Observed.from_bags(y, [0] * 5 + [1] * 5)
    changed = with_bag_effect(observed, 0.1)
    assert with_bag_effect(observed, 0.0) is observed
    assert changed.counts.is_noisy.all()
    assert_allclose(changed.counts.lower, 5 * observed.proportions)
    assert_allclose(changed.proportions, observed.proportions)
    assert not observed.counts.is_noisy.any()
