"""Corrected, forward, set and proportion risks of several classes, written out."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax

from decorrupt.corruption import check_transitions, combine_classes
from decorrupt.risks.multiclass import (
    ClassCorrectedRisk,
    ClassForwardRisk,
    ClassProportionRisk,
    class_bag_shares,
    class_noisy_label_risk,
    class_set_risk,
)
from oracles.class_counts import make_class_strata

COUNTS = [[3, 1, 0], [0, 2, 2], [1, 0, 5]]
SCORES = np.random.default_rng(0).normal(size=(14, 3))
PROBABILITIES = softmax(SCORES, axis=1)


def test_corrected():
    coef = np.random.default_rng(1).normal(size=(14, 3))
    expected = -sum(coef[j, c] * math.log(PROBABILITIES[j, c]) for j in range(14) for c in range(3))
    assert_allclose(ClassCorrectedRisk(coef).value_and_slope(SCORES)[0], expected, rtol=1e-12)


@pytest.mark.parametrize(("prior", "is_convex"), [("pooled", True), ([0.9, 0.05, 0.05], False)])
def test_the_corrected_risk_is_convex_for_the_pooled_prior(prior, is_convex):
    strata = make_class_strata(COUNTS)
    combination = combine_classes(strata.sizes, strata.proportions, target_prior=prior)
    assert ClassCorrectedRisk(combination.row_coef(strata)).is_convex == is_convex


def test_noisy_labels():
    rates = {
        "a": [[0.8, 0.1, 0.1], [0, 1, 0], [0.2, 0.2, 0.6]],
        "b": [[0.5, 0.5, 0], [0.1, 0.9, 0], [0, 0.3, 0.7]],
    }
    noisy, source = np.arange(14) % 3, np.arange(14) // 7
    risk = class_noisy_label_risk(noisy, check_transitions(rates, 3), source)
    expected = 0.0
    for j in range(14):
        transition = rates["ab"[source[j]]]
        expected -= math.log(sum(PROBABILITIES[j, y] * transition[y][noisy[j]] for y in range(3)))
    assert_allclose(risk.value_and_slope(SCORES)[0], expected / 14, rtol=1e-12)


def test_a_forward_shift_moves_the_class_prior():
    given = np.random.default_rng(2).uniform(size=(14, 3))
    ratio = np.array([0.5, 2.0, 1.5])  # of the row's own class prior to that of the scores
    moved = PROBABILITIES * ratio / (PROBABILITIES @ ratio)[:, None]
    expected = -np.log((given * moved).sum(axis=1)).mean()
    risk = ClassForwardRisk(given, np.log(ratio))
    assert_allclose(risk.value_and_slope(SCORES)[0], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "is_convex"),
    [([[0, 0.3, 0], [1, 1, 1]], True), ([[0, 0.3, 0], [0, 1, 1]], False)],
)
def test_forward_is_convex_where_labels_are_known_or_nothing_is(given, is_convex):
    assert ClassForwardRisk(np.array(given, dtype=float)).is_convex == is_convex


def test_set():
    strata = make_class_strata(COUNTS)
    in_class = np.array(COUNTS) / np.sum(COUNTS, axis=0)
    assert_allclose(class_bag_shares(strata), in_class)
    bag_probabilities = PROBABILITIES @ in_class.T
    assert_allclose(bag_probabilities.sum(axis=1), 1)
    expected = -np.log(bag_probabilities[np.arange(14), strata.row_stratum]).mean()
    assert_allclose(class_set_risk(strata).value_and_slope(SCORES)[0], expected, rtol=1e-12)


def test_proportion():
    strata = make_class_strata(COUNTS)
    expected = 0.0
    for bag, counts in enumerate(COUNTS):
        mean = PROBABILITIES[strata.row_stratum == bag].mean(axis=0)
        weight = sum(counts) / (14 / 3)  # n_b over the mean size
        expected -= weight * sum(counts[c] / sum(counts) * math.log(mean[c]) for c in range(3))
    risk = ClassProportionRisk(strata)
    assert_allclose(risk.value_and_slope(SCORES)[0], expected / 3, rtol=1e-12)
    assert not risk.is_convex
    assert ClassProportionRisk(make_class_strata([[1, 0, 0], [0, 0, 1]])).is_convex
