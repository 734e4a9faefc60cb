"""The likelihood of noisy labels: value by hand, derivatives by differences, limits."""

import math
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, softmax

from decorrupt.losses import get_loss
from decorrupt.observed import Observed, read_sources
from decorrupt.risks import ForwardRisk, bag_shares_by_class, noisy_label_risk
from oracles.counts import make_observed
from oracles.dense_risk import central_differences

N_ROWS = 12
seeds = st.integers(0, 10_000)


def draw(seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    given = rng.uniform(size=(N_ROWS, n_classes))
    given[0, 1], given[1, 0] = 0.0, 0.0
    shape = (N_ROWS,) if n_classes == 2 else (N_ROWS, n_classes)
    return ForwardRisk(given, rng.normal(size=shape)), 2 * rng.normal(size=shape)


def noisy_labels(is_pos, flip_pos, flip_neg, shift=0.0):
    """Return the risk of one source; a shift is the log-odds of its class prior."""
    codes, prior = np.asarray(is_pos).astype(int), float(expit(shift))
    rates = (flip_pos, flip_neg)
    classes = np.array([0, 1])
    sources = read_sources(codes, classes, None, rates, prior)
    return noisy_label_risk(Observed.of_sources(classes, sources))


def value(risk, scores):
    return risk.value_and_slope(scores)[0]


def test_value_row_by_row():
    risk, scores = draw()
    total = 0.0
    for (neg, pos), shift, score in zip(risk.given, risk.shift, scores, strict=True):
        prob = 1 / (1 + math.exp(-score - shift))
        total -= math.log(pos * prob + neg * (1 - prob))
    assert_allclose(value(risk, scores), total / N_ROWS, rtol=1e-12)


def test_value_of_several_classes_row_by_row():
    risk, scores = draw(n_classes=3)
    prob = softmax(scores + risk.shift, axis=1)
    by_row = [math.log(sum(given[c] * p[c] for c in range(3)))
              for given, p in zip(risk.given, prob, strict=True)]  # fmt: skip
    assert_allclose(value(risk, scores), -np.mean(by_row), rtol=1e-12)
    assert_allclose(risk.log_likelihoods(scores), by_row, rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@settings(max_examples=30)
@given(seed=seeds)
def test_slope_by_differences(n_classes, seed):
    risk, scores = draw(seed, n_classes)
    numeric = central_differences(lambda at: value(risk, at.reshape(scores.shape)), scores.ravel())
    assert_allclose(risk.value_and_slope(scores)[1].ravel(), numeric, atol=1e-9)


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
    risk = noisy_labels(is_pos, 0.0, 0.0)
    assert risk.is_convex
    logistic = get_loss("logistic")
    margin = np.where(is_pos, scores, -scores)
    total, slope = risk.value_and_slope(scores)
    assert_allclose(total, logistic.value(margin).mean(), rtol=1e-12)
    assert_allclose(slope, np.where(is_pos, 1, -1) * logistic.slope(margin) / N_ROWS, rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "is_convex"),
    [
        ([[0.0, 1.0], [0.5, 0.0], [0.3, 0.3]], True),
        ([[0.0, 1.0], [0.5, 0.2]], False),
        ([[0, 0.3, 0], [1, 1, 1]], True),
        ([[0, 0.3, 0], [0, 1, 1]], False),
    ],
)
def test_convex_only_where_labels_are_known_or_nothing_is(given, is_convex):
    assert ForwardRisk(np.array(given, dtype=float)).is_convex == is_convex


@given(st.floats(0, 0.49), st.floats(0, 0.49), st.floats(-30, 30), st.floats(-3, 3))
def test_the_two_noisy_labels_are_all_there_is(flip_pos, flip_neg, score, shift):
    scores = np.array([score])
    probabilities = [
        math.exp(-value(noisy_labels(np.array([label]), flip_pos, flip_neg, shift), scores))
        for label in (True, False)
    ]
    assert_allclose(sum(probabilities), 1, rtol=1e-12)
    clean = expit(score + shift)
    assert_allclose(probabilities[0], (1 - flip_pos) * clean + flip_neg * (1 - clean), rtol=1e-9)


@given(st.floats(-1e4, 1e4), st.floats(0, 0.49), st.floats(0, 0.49), st.booleans())
def test_exchanging_the_classes_turns_the_score_round(score, flip_pos, flip_neg, label):
    one = noisy_labels(np.array([label]), flip_pos, flip_neg, 0.5)
    other = noisy_labels(np.array([not label]), flip_neg, flip_pos, -0.5)
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
    risk = noisy_labels(is_pos, flip_pos, flip_neg)
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


class TestSources:
    RATES: ClassVar = {
        2: {"a": (0.1, 0.2), "b": (0.3, 0.05)},
        3: {
            "a": [[0.8, 0.1, 0.1], [0, 1, 0], [0.2, 0.2, 0.6]],
            "b": [[0.5, 0.5, 0], [0.1, 0.9, 0], [0, 0.3, 0.7]],
        },
    }

    def draw(self, n_classes, source_priors=None):
        labels = np.arange(14) % n_classes
        sources = np.array(["a", "b"])[np.arange(14) // 7]
        rates = self.RATES[n_classes]
        noisy = Observed.from_sources(labels, sources, rates, source_priors=source_priors)
        scores = np.random.default_rng(0).normal(size=(14, n_classes))
        return noisy, scores, scores if n_classes > 2 else scores[:, 1] - scores[:, 0]

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_every_row_has_the_matrix_of_its_source(self, n_classes):
        equal = [1 / n_classes] * n_classes
        noisy, columns, scores = self.draw(n_classes, equal)
        prob, expected = softmax(columns, axis=1), 0.0
        for j in range(14):
            matrix = noisy.sources.matrices[j // 7]
            expected -= math.log(
                sum(prob[j, y] * matrix[y, j % n_classes] for y in range(n_classes))
            )
        assert_allclose(value(noisy_label_risk(noisy), scores), expected / 14, rtol=1e-12)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_scores_are_moved_to_the_class_shares_of_the_source(self, n_classes):
        shares = {
            "a": np.array([0.5, 0.3, 0.2])[:n_classes],
            "b": np.array([0.2, 0.2, 0.6])[:n_classes],
        }
        shares = {name: own / own.sum() for name, own in shares.items()}
        noisy, columns, scores = self.draw(n_classes, shares)
        of_scores = np.array([0.6, 0.3, 0.1])[:n_classes]
        of_scores = of_scores / of_scores.sum()
        expected = 0.0
        for j in range(14):
            ratio = shares["ab"[j // 7]] / of_scores
            moved = softmax(columns[j]) * ratio
            moved /= moved.sum()
            expected -= math.log(moved @ noisy.sources.matrices[j // 7][:, j % n_classes])
        risk = noisy_label_risk(noisy, of_scores)
        assert_allclose(value(risk, scores), expected / 14, rtol=1e-12)

    def test_a_shift_moves_the_class_prior(self):
        given = np.random.default_rng(2).uniform(size=(14, 3))
        _, scores, _ = self.draw(3)
        prob = softmax(scores, axis=1)
        ratio = np.array([0.5, 2.0, 1.5])  # of the row's own class prior to that of the scores
        moved = prob * ratio / (prob @ ratio)[:, None]
        expected = -np.log((given * moved).sum(axis=1)).mean()
        assert_allclose(value(ForwardRisk(given, np.log(ratio)), scores), expected, rtol=1e-12)


@pytest.mark.parametrize("counts", [[[3, 1], [0, 4], [6, 2]], [[3, 1, 0], [0, 2, 2], [1, 0, 5]]])
def test_shares_of_the_bags_in_each_class(counts):
    assert_allclose(bag_shares_by_class(make_observed(counts)), counts / np.sum(counts, axis=0))
