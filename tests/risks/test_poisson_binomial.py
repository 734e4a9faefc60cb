"""The exact distribution of a bag's count, compared with brute force and at extremes."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, log_expit
from scipy.stats import binom

from decorrupt.risks.poisson_binomial import poisson_binomial, tilt_to_count
from decorrupt.risks.segments import Segments
from oracles.counts import convolved_count, convolved_pmf, enumerate_count, log_recursion


def one_bag(scores, count):
    log_prob, slope = poisson_binomial(np.asarray(scores, dtype=float)[:, None], np.array([count]))
    return log_prob[0], slope[:, 0]


@st.composite
def bags(draw, largest=8):
    size = draw(st.integers(2, largest))
    score = st.one_of(st.floats(-4, 4), st.floats(-1e3, 1e3), st.sampled_from([-1e3, 0.0, 1e3]))
    scores = draw(st.lists(score, min_size=size, max_size=size))
    return np.array(scores), draw(st.integers(1, size - 1))


@given(bags())
@settings(max_examples=300, deadline=None)
def test_equals_all_labelings_for_any_scores(bag):
    scores, count = bag
    log_prob, slope = one_bag(scores, count)
    wanted, wanted_slope = enumerate_count(scores, count)
    assert_allclose(log_prob, wanted, rtol=1e-11, atol=1e-11)
    assert_allclose(slope, wanted_slope, atol=1e-10)


@pytest.mark.parametrize("size", [17, 33, 64, 100, 150])
def test_larger_bags_equal_convolutions(size):
    scores = np.random.default_rng(size).normal(scale=2, size=size)
    for count in (1, size // 3, size // 2, size - 1):
        log_prob, slope = one_bag(scores, count)
        wanted, wanted_slope = convolved_count(scores, count)
        assert_allclose(log_prob, wanted, rtol=1e-11)
        assert_allclose(slope, wanted_slope, atol=1e-10)


def test_all_counts_of_a_bag_together_are_certain():
    scores = np.random.default_rng(0).normal(scale=2, size=29)
    log_prob, _ = poisson_binomial(np.tile(scores[:, None], 28), np.arange(1, 29))
    ends = np.exp(log_expit(scores).sum()) + np.exp(log_expit(-scores).sum())
    assert_allclose(np.exp(log_prob).sum() + ends, 1, rtol=1e-12)
    assert_allclose(np.exp(log_prob), convolved_pmf(scores)[1:-1], rtol=1e-11)


@pytest.mark.parametrize("score", [-1e3, -30.0, 0.0, 30.0, 1e3])
@pytest.mark.parametrize("count", [1, 20, 39])
def test_equal_scores_are_binomial(score, count):
    log_prob, slope = one_bag(np.full(40, score), count)
    choices = binom.logpmf(count, 40, 0.5) + 40 * np.log(2)
    wanted = choices + count * log_expit(score) + (40 - count) * log_expit(-score)
    assert_allclose(log_prob, wanted, rtol=1e-12)
    assert_allclose(slope, count / 40 - expit(score), atol=1e-12)


@pytest.mark.parametrize("size", [5, 40, 300])
@pytest.mark.parametrize("scale", [1.0, 50.0, 1e3])
def test_improbable_counts_do_not_underflow(size, scale):
    rng = np.random.default_rng(size)
    scores = rng.choice([-scale, scale], size=size) * rng.uniform(0.9, 1, size=size)
    for count in {1, 2, size // 2, size - 1}:
        log_prob, slope = one_bag(scores, count)
        assert_allclose(log_prob, log_recursion(scores, count), rtol=1e-11)
        assert np.isfinite(slope).all()
        # Given the count, the conditional probabilities sum to it.
        assert_allclose(np.sum(slope + expit(scores)), count, rtol=1e-9)


@given(bags(largest=20))
@settings(max_examples=100, deadline=None)
def test_swapping_the_labels_mirrors_everything(bag):
    scores, count = bag
    log_prob, slope = one_bag(scores, count)
    mirrored, mirrored_slope = one_bag(-scores, len(scores) - count)
    assert_allclose(mirrored, log_prob, rtol=1e-10, atol=1e-10)
    assert_allclose(mirrored_slope, -slope, atol=1e-10)


@given(bags(largest=20), st.randoms())
@settings(max_examples=100, deadline=None)
def test_the_order_of_rows_does_not_matter(bag, random):
    scores, count = bag
    order = list(range(len(scores)))
    random.shuffle(order)
    log_prob, slope = one_bag(scores, count)
    shuffled, shuffled_slope = one_bag(scores[order], count)
    assert_allclose(shuffled, log_prob, rtol=1e-10, atol=1e-10)
    assert_allclose(shuffled_slope, slope[order], atol=1e-10)


@pytest.mark.parametrize("scale", [2.0, 900.0])
def test_missing_rows_change_nothing(scale):
    rng = np.random.default_rng(3)
    scores = rng.normal(scale=scale, size=10)
    log_prob, slope = one_bag(scores, 4)
    padded, padded_slope = one_bag(np.append(scores, [-np.inf] * 3), 4)
    assert_allclose(padded, log_prob, rtol=1e-12)
    assert_allclose(padded_slope, np.append(slope, [0.0] * 3), atol=1e-12)


def test_bags_do_not_see_each_other(monkeypatch):
    rng = np.random.default_rng(4)
    scores = rng.normal(scale=rng.choice([1.0, 500.0], size=50), size=(6, 50))
    counts = rng.integers(1, 6, size=50)
    alone = [one_bag(scores[:, k], counts[k]) for k in range(50)]
    for chunk_rows in (1, 7 * 6, 10**6):
        monkeypatch.setattr(sys.modules[poisson_binomial.__module__], "CHUNK_ROWS", chunk_rows)
        log_prob, slope = poisson_binomial(scores, counts)
        assert_allclose(log_prob, [single for single, _ in alone], rtol=1e-12)
        assert_allclose(slope.T, [single for _, single in alone], atol=1e-12)


def test_the_tilt_makes_the_count_the_mean():
    rng = np.random.default_rng(5)
    sizes = np.array([2, 9, 40, 200, 3])
    scores = rng.normal(size=sizes.sum()) * np.repeat([1, 10, 1000, 3, 1000], sizes)
    counts = np.array([1.0, 8.0, 13.0, 1.0, 0.0])
    noise = np.array([0.0, 0.5, 0.0, 0.0, 2.0])
    bags = Segments(sizes)
    tilt = tilt_to_count(scores, bags, counts, noise)
    means = bags.sum(expit(scores + bags.spread(tilt)))
    assert_allclose(means + noise * tilt, counts, atol=1e-9)
