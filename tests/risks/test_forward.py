"""The likelihood of noisy labels: value by hand, derivatives by differences, limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit

from decorrupt.losses import get_loss
from decorrupt.risks.forward import ForwardRisk, noisy_label_risk
from oracles.dense_risk import central_differences

N_ROWS = 12
seeds = st.integers(0, 10_000)


def draw(seed=0):
    rng = np.random.default_rng(seed)
    given_pos, given_neg = rng.uniform(size=(2, N_ROWS))
    given_pos[0], given_neg[1] = 0.0, 0.0
    return ForwardRisk(given_pos, given_neg, rng.normal(size=N_ROWS)), 2 * rng.normal(size=N_ROWS)


def value(risk, scores):
    return risk.value_and_slope(scores)[0]


def test_value_row_by_row():
    risk, scores = draw()
    total = 0.0
    for pos, neg, shift, score in zip(
        risk.given_pos, risk.given_neg, risk.shift, scores, strict=True
    ):
        prob = 1 / (1 + math.exp(-score - shift))
        total -= math.log(pos * prob + neg * (1 - prob))
    assert_allclose(value(risk, scores), total / N_ROWS, rtol=1e-12)


@given(seeds)
def test_slope_by_differences(seed):
    risk, scores = draw(seed)
    numeric = central_differences(lambda at: value(risk, at), scores)
    assert_allclose(risk.value_and_slope(scores)[1], numeric, atol=1e-9)


@given(seeds)
def test_curvature_by_differences(seed):
    risk, scores = draw(seed)
    numeric = central_differences(lambda at: risk.value_and_slope(at)[1], scores)
    apply = risk.curvature(scores)
    assert_allclose(apply(np.eye(N_ROWS)), numeric, atol=1e-9)
    assert_allclose(apply(np.ones(N_ROWS)), np.diag(numeric), atol=1e-9)


def test_a_label_ruled_out_leaves_the_logistic_loss():
    is_pos = np.arange(N_ROWS) % 2 == 0
    scores = np.random.default_rng(0).normal(size=N_ROWS)
    risk = noisy_label_risk(is_pos, 0.0, 0.0)
    assert risk.is_convex
    logistic = get_loss("logistic")
    margin = np.where(is_pos, scores, -scores)
    total, slope = risk.value_and_slope(scores)
    assert_allclose(total, logistic.value(margin).mean(), rtol=1e-12)
    assert_allclose(slope, np.where(is_pos, 1, -1) * logistic.slope(margin) / N_ROWS, rtol=1e-12)


def test_convex_only_if_labels_are_given_away_or_not_touched():
    assert ForwardRisk(np.array([1.0, 0.0, 0.3]), np.array([0.0, 0.5, 0.3])).is_convex
    assert not ForwardRisk(np.array([1.0, 0.2]), np.array([0.0, 0.5])).is_convex


@given(st.floats(0, 0.49), st.floats(0, 0.49), st.floats(-30, 30), st.floats(-3, 3))
def test_the_two_noisy_labels_are_all_there_is(flip_pos, flip_neg, score, shift):
    scores = np.array([score])
    probabilities = [
        math.exp(-value(noisy_label_risk(np.array([label]), flip_pos, flip_neg, shift), scores))
        for label in (True, False)
    ]
    assert_allclose(sum(probabilities), 1, rtol=1e-12)
    clean = expit(score + shift)
    assert_allclose(probabilities[0], (1 - flip_pos) * clean + flip_neg * (1 - clean), rtol=1e-9)


@given(st.floats(-1e4, 1e4), st.floats(0, 0.49), st.floats(0, 0.49), st.booleans())
def test_exchanging_the_classes_turns_the_score_round(score, flip_pos, flip_neg, label):
    one = noisy_label_risk(np.array([label]), flip_pos, flip_neg, 0.5)
    other = noisy_label_risk(np.array([not label]), flip_neg, flip_pos, -0.5)
    scores = np.array([score])
    assert_allclose(value(one, scores), value(other, -scores), rtol=1e-12)
    assert_allclose(one.value_and_slope(scores)[1], -other.value_and_slope(-scores)[1], atol=1e-15)
    bend = one.curvature(scores)(np.ones(1))
    assert_allclose(bend, other.curvature(-scores)(np.ones(1)), atol=1e-15)


@pytest.mark.parametrize("score", [-1e4, -50.0, 50.0, 1e4])
@pytest.mark.parametrize("flips", [(0.0, 0.0), (0.3, 0.0), (0.0, 0.3), (0.3, 0.2)])
def test_extreme_scores_stay_exact(score, flips):
    flip_pos, flip_neg = flips
    is_pos, scores = np.array([True, False]), np.full(2, score)
    risk = noisy_label_risk(is_pos, flip_pos, flip_neg)
    total, slope = risk.value_and_slope(scores)
    # One true label is certain; if it excludes the noisy label, the other label is the cause.
    by_label = [(1 - flip_pos, flip_pos), (flip_neg, 1 - flip_neg)]
    likely, unlikely = by_label if score > 0 else by_label[::-1]
    expected = [
        -math.log(p) if p else abs(score) - math.log(rest)
        for p, rest in zip(likely, unlikely, strict=True)
    ]
    assert_allclose(total, np.mean(expected), rtol=1e-9, atol=1e-15)
    assert np.isfinite(slope).all()
    assert_allclose(slope, [0 if p else math.copysign(0.5, score) for p in likely], atol=1e-12)
    assert_allclose(risk.curvature(scores)(np.ones(2)), 0, atol=1e-12)
