"""The likelihood of noisy labels: value by hand, derivatives by differences, limits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, softmax

from decorrupt.observed import Observed, read_sources
from decorrupt.risks import noisy_label_risk
from oracles.counts import row_risk
from oracles.dense_risk import central_differences

N_ROWS = 12
seeds = st.integers(0, 10_000)


def draw(seed=0, n_classes=2):
    """Return P(observation | class), a shift and scores of some rows."""
    rng = np.random.default_rng(seed)
    given = rng.uniform(size=(N_ROWS, n_classes))
    given[0, 1], given[1, 0] = 0.0, 0.0
    shape = (N_ROWS,) if n_classes == 2 else (N_ROWS, n_classes)
    return given, rng.normal(size=shape), 2 * rng.normal(size=shape)


def noisy_labels(is_pos, flip_pos, flip_neg, shift=0.0):
    """Return the risk of one source; a shift is the log-odds of its class prior."""
    codes, prior = np.asarray(is_pos).astype(int), float(expit(shift))
    rates = (flip_pos, flip_neg)
    classes = np.array([0, 1])
    sources = read_sources(codes, classes, None, rates, prior)
    return noisy_label_risk(Observed.of_sources(classes, sources))


def value(risk, scores):
    return risk.value_and_slope(scores)[0]


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@settings(max_examples=30)
@given(seed=seeds)
def test_slope_by_differences(n_classes, seed):
    given, shift, scores = draw(seed, n_classes)
    risk = row_risk(given, shift)
    numeric = central_differences(lambda at: value(risk, at.reshape(scores.shape)), scores.ravel())
    assert_allclose(risk.value_and_slope(scores)[1].ravel(), numeric, atol=1e-9)


@given(seeds)
def test_curvature_by_differences(seed):
    given, shift, scores = draw(seed)
    risk = row_risk(given, shift)
    numeric = central_differences(lambda at: risk.value_and_slope(at)[1], scores)
    apply = risk.curvature(scores)
    assert_allclose(apply(np.eye(N_ROWS)), numeric, atol=1e-9)
    assert_allclose(apply(np.ones(N_ROWS)), np.diag(numeric), atol=1e-9)


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
    assert row_risk(np.array(given, dtype=float)).is_convex == is_convex


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


RATES = {
    2: {"a": (0.1, 0.2), "b": (0.3, 0.05)},
    3: {
        "a": [[0.8, 0.1, 0.1], [0, 1, 0], [0.2, 0.2, 0.6]],
        "b": [[0.5, 0.5, 0], [0.1, 0.9, 0], [0, 0.3, 0.7]],
    },
}


@pytest.mark.parametrize("score_shares", [None, [0.6, 0.3, 0.1]])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_row_has_the_matrix_and_the_class_shares_of_its_source(n_classes, score_shares):
    """Scores are moved from their class shares, equal ones by default, to those of the source."""
    given_shares = {"a": [0.5, 0.3, 0.2], "b": [0.2, 0.2, 0.6]}
    shares = {name: np.array(own)[:n_classes] for name, own in given_shares.items()}
    shares = {name: own / own.sum() for name, own in shares.items()}
    labels, sources = np.arange(14) % n_classes, np.array(["a", "b"])[np.arange(14) // 7]
    noisy = read_sources(labels, np.arange(n_classes), sources, RATES[n_classes], shares)
    observed = Observed.of_sources(np.arange(n_classes), noisy)
    of_scores = None if score_shares is None else np.array(score_shares)[:n_classes]
    of_scores = of_scores if of_scores is None else of_scores / of_scores.sum()
    columns = np.random.default_rng(0).normal(size=(14, n_classes))
    expected = []
    for j, source in enumerate(sources):
        moved = softmax(columns[j]) * shares[source] / (1 if of_scores is None else of_scores)
        moved /= moved.sum()
        expected.append(math.log(moved @ noisy.matrices[j // 7][:, labels[j]]))
    scores = columns if n_classes > 2 else columns[:, 1] - columns[:, 0]
    risk = noisy_label_risk(observed, of_scores)
    assert_allclose(value(risk, scores), -np.mean(expected), rtol=1e-12)
    assert_allclose(risk.log_probs_and_slope(scores)[0], expected, rtol=1e-10)
