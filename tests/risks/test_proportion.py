"""Proportion matching: the mean of a bag's probabilities inside the logarithm."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, log_expit, softmax

from decorrupt.observed import Observed
from decorrupt.risks import ProportionRisk
from oracles.counts import make_observed, proportion_cross_entropy

BAGS = np.array(list("abacbbcaab"))
SHARES = {"a": 0.3, "b": 1.0, "c": 0.5}


def risk_of(bags=BAGS, shares=SHARES):
    return ProportionRisk(Observed.from_bags([shares[bag] for bag in bags], bags))


@given(st.lists(st.floats(-20, 20), min_size=10, max_size=10))
@settings(max_examples=100, deadline=None)
def test_equals_the_formula_bag_by_bag(scores):
    value, _ = risk_of().value_and_slope(np.array(scores))
    assert_allclose(value, proportion_cross_entropy(scores, BAGS, SHARES), rtol=1e-6)


def test_bags_of_one_row_are_logistic_regression():
    scores = np.random.default_rng(2).normal(size=6)
    labels = np.array([1, -1, 1, 1, -1, -1])
    risk = ProportionRisk(Observed.from_labels(labels))
    assert risk.is_convex
    assert not risk_of().is_convex
    value, slope = risk.value_and_slope(scores)
    assert_allclose(value, -log_expit(labels * scores).mean())
    assert_allclose(slope, -labels * expit(-labels * scores) / 6)
    assert_allclose(risk.curvature(scores)(np.ones(6)), expit(scores) * expit(-scores) / 6)


def test_a_matched_proportion_is_a_minimum():
    """CE(p, m) is least at m = p, where only the entropy of p is left."""
    bags = np.repeat(["a", "b"], 5)
    risk = risk_of(bags, {"a": 0.2, "b": 0.7})
    scores = np.repeat(np.log([0.2 / 0.8, 0.7 / 0.3]), 5)
    value, slope = risk.value_and_slope(scores)
    entropies = [-p * math.log(p) - (1 - p) * math.log(1 - p) for p in (0.2, 0.7)]
    assert_allclose(value, np.mean(entropies))
    assert_allclose(slope, 0, atol=1e-16)


@pytest.mark.parametrize("scale", [50.0, 1e3])
def test_extremes_stay_finite(scale):
    """All rows certain of the wrong class: −log of a mean of e^−1000, which would underflow."""
    for sign in (-1, 1):
        value, slope = risk_of().value_and_slope(np.full(10, sign * scale))
        wrong = {-1: [0.4 * 0.3, 0.4 * 1.0, 0.2 * 0.5], 1: [0.4 * 0.7, 0.0, 0.2 * 0.5]}[sign]
        assert_allclose(value, scale * sum(wrong), rtol=1e-9)
        assert_allclose(np.abs(slope).sum(), sum(wrong), rtol=1e-9)
        bent = risk_of().curvature(np.full(10, sign * scale))(np.ones(10))
        assert_allclose(bent, 0, atol=1e-12)


@pytest.mark.parametrize("counts", [[[3, 1], [0, 4], [6, 2]], [[3, 1, 0], [0, 2, 2], [1, 0, 5]]])
def test_any_number_of_classes_bag_by_bag(counts):
    observed, n_rows, n_classes = make_observed(counts), np.sum(counts), len(counts[0])
    columns = np.random.default_rng(0).normal(size=(n_rows, n_classes))
    prob, expected = softmax(columns, axis=1), 0.0
    for bag, own in enumerate(counts):
        mean = prob[observed.row_bag == bag].mean(axis=0)
        weight = sum(own) / (n_rows / 3)  # n_b over the mean size
        expected -= weight * sum(own[c] / sum(own) * math.log(mean[c]) for c in range(n_classes))
    risk = ProportionRisk(observed)
    scores = columns if n_classes > 2 else columns[:, 1] - columns[:, 0]
    assert_allclose(risk.value_and_slope(scores)[0], expected / 3, rtol=1e-12)
    assert not risk.is_convex
    assert ProportionRisk(make_observed(np.eye(n_classes, dtype=int))).is_convex
