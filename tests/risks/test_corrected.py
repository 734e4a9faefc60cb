"""The corrected risk as a function of the scores: value by hand, kinks, convexity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from decorrupt.corruption import RiskTerms
from decorrupt.losses import get_loss
from decorrupt.risks import KINK_WIDTH, CorrectedRisk
from oracles.dense_risk import LOSS_NAMES, class_sums, row_curvatures, row_slopes

N_ROWS = 12
CORRECT = {"abs": abs, "relu": lambda total: max(total, 0.0)}
# hypot(r, w) exceeds |r| by at most w; max(r, 0) is half of |r| + r; two class-wise sums each.
LARGEST_EXCESS = {"abs": 2 * KINK_WIDTH, "relu": KINK_WIDTH}


def draw(seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    coef_pos, coef_neg = scale * rng.normal(size=(2, N_ROWS)) / N_ROWS
    return coef_pos, coef_neg, 2 * rng.normal(size=N_ROWS)


def corrected_risk(coef_pos, coef_neg, loss, correction=None):
    return CorrectedRisk(RiskTerms(coef_pos, coef_neg), get_loss(loss), correction)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_uncorrected_it_is_the_sum_over_the_rows(loss):
    coef_pos, coef_neg, scores = draw()
    value, slope = corrected_risk(coef_pos, coef_neg, loss).value_and_slope(scores)
    assert_allclose(value, sum(class_sums(loss, coef_pos, coef_neg, scores)), rtol=1e-12)
    assert_allclose(slope, row_slopes(loss, coef_pos, coef_neg, scores), rtol=1e-12)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_uncorrected_rows_bend_alone(loss):
    coef_pos, coef_neg, scores = draw()
    apply = corrected_risk(coef_pos, coef_neg, loss).curvature(scores)
    expected = np.diag(row_curvatures(loss, coef_pos, coef_neg, scores))
    assert_allclose(apply(np.eye(N_ROWS)), expected, atol=1e-15)


@pytest.mark.parametrize("scale", [1.0, KINK_WIDTH])
@pytest.mark.parametrize("correction", CORRECT)
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_a_corrected_sum_is_rounded_off_by_less_than_the_kinks_width(loss, correction, scale):
    for seed in range(10):
        coef_pos, coef_neg, scores = draw(seed, scale)
        value, _ = corrected_risk(coef_pos, coef_neg, loss, correction).value_and_slope(scores)
        sums = class_sums(loss, coef_pos, coef_neg, scores)
        excess = value - sum(CORRECT[correction](total) for total in sums)
        assert -1e-15 <= excess <= LARGEST_EXCESS[correction]


@pytest.mark.parametrize("correction", CORRECT)
def test_the_correction_is_of_each_class_and_not_of_the_whole(correction):
    # R₊ = −2 and R₋ = 5: |R₊| + |R₋| = 7 and max(R₊, 0) + max(R₋, 0) = 5; the whole would give 3.
    risk = corrected_risk(np.array([-2.0]), np.array([5.0]), "unhinged", correction)
    value, _ = risk.value_and_slope(np.array([0.0]))
    assert_allclose(value, {"abs": 7, "relu": 5}[correction], atol=1e-5)


@pytest.mark.parametrize("correction", CORRECT)
def test_a_corrected_sum_cannot_go_far_below_zero(correction):
    risk = corrected_risk(-np.ones(3), -np.ones(3), "logistic", correction)
    for scores in 100 * np.random.default_rng(0).normal(size=(20, 3)):
        assert risk.value_and_slope(scores)[0] >= 0


@pytest.mark.parametrize("correction", [None, "abs", "relu"])
def test_curvature_takes_vectors_and_columns_alike(correction):
    coef_pos, coef_neg, scores = draw()
    apply = corrected_risk(coef_pos, coef_neg, "logistic", correction).curvature(scores)
    columns = np.random.default_rng(1).normal(size=(N_ROWS, 4))
    together = apply(columns)
    assert together.shape == (N_ROWS, 4)
    for column, result in zip(columns.T, together.T, strict=True):
        assert_allclose(apply(column), result, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("loss", ["logistic", "squared", "huber"])
def test_convex_only_if_no_row_has_a_negative_sum(loss):
    coef_pos, coef_neg = np.array([0.4, -0.1, 0.3]), np.array([-0.4, 0.5, 0.0])
    assert corrected_risk(coef_pos, coef_neg, loss).is_convex
    coef_neg[0] = -0.4001
    # The total is still positive: Prop. 7 of the paper would call this convex.
    assert (coef_pos + coef_neg).sum() > 0
    assert not corrected_risk(coef_pos, coef_neg, loss).is_convex


def test_sums_that_cancel_up_to_rounding_are_convex():
    assert 0.1 + 0.2 - 0.3 != 0
    assert corrected_risk(np.array([-0.1 - 0.2]), np.array([0.3]), "logistic").is_convex


def test_the_unhinged_risk_is_always_convex_and_the_sigmoid_never():
    coef_pos, coef_neg, _ = draw()
    assert corrected_risk(coef_pos, coef_neg, "unhinged").is_convex
    assert not corrected_risk(np.ones(2), np.zeros(2), "sigmoid").is_convex


@pytest.mark.parametrize("correction", CORRECT)
def test_a_corrected_sum_never_counts_as_convex(correction):
    assert not corrected_risk(np.ones(2), np.zeros(2), "logistic", correction).is_convex


def test_an_unknown_correction_is_told_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown risk_correction 'square'.*None.*abs.*relu"):
        corrected_risk(np.ones(2), np.zeros(2), "logistic", "square")
