"""Observations of all kinds: posteriors by Bayes' rule, slopes by finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, softmax

from decorrupt.observed import GaussianNoise, as_observed
from decorrupt.risks import LabelLikelihood, label_posterior
from oracles.dense_risk import central_differences

RATES = {"nurse": (0.05, 0.2), "rule": (0.4, 0.1)}


def mixed():
    """Rows of two bags, two sources, and one row of which nothing is known."""
    bags = ["a", "a", None, None, "b", "b", "b", None, None]
    sources = [None, None, "nurse", "rule", None, None, None, "rule", None]
    y = [0.5, 0.5, 1, 0, 1 / 3, 1 / 3, 1 / 3, 1, np.nan]
    return y, bags, sources


def likelihood(y, **arguments):
    return LabelLikelihood(as_observed(y, **arguments))


def test_bags_sources_and_unlabelled_rows_in_one():
    y, bags, sources = mixed()
    known = likelihood(y, bags=bags, sources=sources, noise_rates=RATES)
    scores = np.random.default_rng(0).normal(size=9)
    p, w = expit(scores), known.posterior(scores)
    assert_allclose(w.sum(axis=1), 1)
    w = w[:, 1]
    in_bags = [0, 1, 4, 5, 6]
    alone = label_posterior(p[in_bags], np.array(y)[in_bags], bags=[bags[row] for row in in_bags])
    assert_allclose(w[in_bags], alone.posterior, atol=1e-12)
    assert_allclose(w[2], 0.95 * p[2] / (0.95 * p[2] + 0.2 * (1 - p[2])))
    assert_allclose(w[3], 0.4 * p[3] / (0.4 * p[3] + 0.9 * (1 - p[3])))
    assert_allclose(w[7], 0.6 * p[7] / (0.6 * p[7] + 0.1 * (1 - p[7])))
    assert_allclose(w[8], p[8])
    expected = alone.log_likelihood.sum()
    expected += np.log(0.95 * p[2] + 0.2 * (1 - p[2])) + np.log(0.4 * p[3] + 0.9 * (1 - p[3]))
    expected += np.log(0.6 * p[7] + 0.1 * (1 - p[7]))
    assert_allclose(known.log_likelihood(scores), expected)


@settings(max_examples=20)
@given(st.integers(0, 100), st.sampled_from([2, 3]))
def test_the_slope_is_the_gradient(seed, n_classes):
    rng = np.random.default_rng(seed)
    y, bags, sources = mixed()
    rates = RATES
    if n_classes == 3:
        y = rng.multinomial(1, [1 / 3] * 3, size=9).astype(float)
        y[[0, 1]], y[[4, 5, 6]] = [0.5, 0.5, 0], [1 / 3, 0, 2 / 3]
        rates = {name: 0.7 * np.eye(3) + 0.1 for name in RATES}
    known = likelihood(y, bags=bags, sources=sources, noise_rates=rates)
    scores = rng.normal(size=9 if n_classes == 2 else (9, 3))
    value, slope = known.value_and_slope(scores)
    assert_allclose(value, -known.log_likelihood(scores) / 9)
    numeric = central_differences(
        lambda f: known.value_and_slope(f.reshape(scores.shape))[0], scores.ravel()
    )
    assert_allclose(slope.ravel(), numeric, atol=1e-6)
    if n_classes == 2:
        assert_allclose(known.posterior(scores)[:, 1], expit(scores) - 9 * slope, atol=1e-9)
    else:
        expected = softmax(scores, axis=1) - 9 * slope
        assert_allclose(known.posterior(scores), expected, atol=1e-9)


def test_some_rows_are_as_if_alone():
    y, bags, sources = mixed()
    known = likelihood(y, bags=bags, sources=sources, noise_rates=RATES)
    scores = np.random.default_rng(1).normal(size=9)
    rows = np.array([2, 4, 5, 6, 8])
    part = known.take(rows)
    assert_allclose(part.posterior(scores[rows]), known.posterior(scores)[rows])


def test_the_prior_of_noisy_labels_is_that_of_maximum_likelihood():
    rng = np.random.default_rng(2)
    labels = rng.random(4000) < 0.3
    flipped = np.where(labels, rng.random(4000) < 0.9, rng.random(4000) < 0.2)
    known = likelihood(flipped.astype(int), noise_rates=(0.1, 0.2))
    # P(ỹ=1) = 0.2 + 0.7π has its maximum likelihood at the share of ỹ=1.
    assert_allclose(known.class_prior[1], (flipped.mean() - 0.2) / 0.7, atol=1e-3)
    assert known.class_prior.sum() == pytest.approx(1)


def test_the_prior_of_noisy_labels_of_several_classes_is_that_of_maximum_likelihood():
    rng = np.random.default_rng(3)
    rates = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    noisy = np.repeat(np.arange(3), rng.multinomial(4000, [0.5, 0.3, 0.2] @ rates))
    known = likelihood(noisy, noise_rates=rates)
    shares = np.bincount(noisy) / len(noisy)
    assert_allclose(known.class_prior @ rates, shares, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_prior_of_exact_counts_is_their_share(n_classes):
    y = [0.5, 0.5, 1, 1, 1, 1] if n_classes == 2 else [[0.5, 0.5, 0]] * 2 + [[0, 0.25, 0.75]] * 4
    bags = [0, 0, 1, 1, 1, 1]
    if n_classes == 3:
        y, bags = [*y, [0, 0.5, 0.5], [0, 0.5, 0.5]], [*bags, 2, 2]
    expected = [1 / 6, 5 / 6] if n_classes == 2 else [1 / 8, 3 / 8, 4 / 8]
    assert_allclose(likelihood(y, bags=bags).class_prior, expected, atol=1e-5)


def test_noise_of_class_counts_reaches_the_bags_next_to_sources():
    y = np.array([[0.5, 0.25, 0.25]] * 4 + [[0.0, 0.5, 0.5]] * 4 + [[1.0, 0, 0]])
    arguments = {
        "bags": ["a"] * 4 + ["b"] * 4 + [None],
        "sources": [None] * 8 + ["s"],
        "noise_rates": {"s": 0.7 * np.eye(3) + 0.1},
    }
    scores = np.random.default_rng(3).normal(size=(9, 3))
    noise = {"a": GaussianNoise(2.0), "b": None}
    w = likelihood(y, **arguments, count_noise=noise).posterior(scores)
    v = likelihood(y, **arguments).posterior(scores)
    assert np.abs(w[:4] - v[:4]).max() > 0.01
    assert_allclose(w[4:], v[4:])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sources_without_a_row_change_nothing(n_classes):
    y = np.repeat([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]], 2, axis=0)
    bags = [0, 0, 1, 1, 2, 2]
    y = y if n_classes == 3 else y[:, 0]
    alone = likelihood(y, bags=bags)
    both = likelihood(y, bags=bags, sources=[None] * 6, noise_rates={})
    scores = np.random.default_rng(0).normal(size=y.shape)
    assert_allclose(both.posterior(scores), alone.posterior(scores))
    assert_allclose(both.log_likelihood(scores), alone.log_likelihood(scores))


@pytest.mark.parametrize("labels", [[0, 1, 1, 0], [0, 1, 2, 0]])
def test_labels_are_cross_entropy(labels):
    known = likelihood(labels)
    n_classes = max(labels) + 1
    columns = np.random.default_rng(0).normal(size=(4, n_classes))
    scores = columns if n_classes > 2 else columns[:, 1] - columns[:, 0]
    assert known.is_convex
    expected = -np.log(softmax(columns, axis=1)[np.arange(4), labels]).mean()
    assert_allclose(known.value_and_slope(scores)[0], expected)
    assert_allclose(known.posterior(scores), np.eye(n_classes)[labels], atol=1e-12)
    if n_classes == 2:
        bend = known.curvature(scores)(np.ones(4))
        assert_allclose(bend, expit(scores) * expit(-scores) / 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sources": ["x"] * 9}, r"row 0 has a bag and a source"),
        ({"sources": None}, r"noise_rates need sources="),
        ({"y": [0.5, 0.5, 0.4, 0, 1 / 3, 1 / 3, 1 / 3, 1, 0]}, r"y\[2\] = 0\.4 of a source is not"),
        ({"bags": [None] * 9}, r"bags contain no id"),
        ({"noise_rates": {"nurse": (0.1, 0.1)}}, r"no entry for source 'rule'"),
    ],
)
def test_bad_input(change, message):
    y, bags, sources = mixed()
    arguments = {"y": y, "bags": bags, "sources": sources, "noise_rates": RATES} | change
    with pytest.raises(ValueError, match=message):
        as_observed(arguments.pop("y"), **arguments)
