"""Set classification: bag probabilities from Bayes' rule, and the resulting risk."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, logit, softmax

from decorrupt.losses import get_loss
from decorrupt.observed import Observed, class_columns, labels_as_bags
from decorrupt.risks import set_risk
from decorrupt.risks.forward import bag_shares_by_class
from oracles.counts import make_observed
from oracles.dense_risk import central_differences


def two_classes(codes, shares):
    bags = np.arange(len(shares))
    return Observed(np.array([0, 1]), bags, codes, class_columns(shares))


@st.composite
def observed_bags(draw):
    n_bags = draw(st.integers(2, 6))
    sizes = draw(st.lists(st.integers(1, 8), min_size=n_bags, max_size=n_bags))
    shares = draw(st.lists(st.integers(0, 20), min_size=n_bags, max_size=n_bags, unique=True))
    codes = np.repeat(np.arange(n_bags), sizes)
    return two_classes(codes, np.array(shares) / 20)


def bag_probabilities(observed, scores):
    """Return P(bag = k | x) by Bayes' rule, for these log-odds of the classes."""
    share, proportions = observed.sizes / observed.sizes.sum(), observed.proportions[:, 1]
    prior = share @ proportions
    density_pos, density_neg = expit(scores) / prior, expit(-scores) / (1 - prior)
    joint = share * (
        np.multiply.outer(density_pos, proportions)
        + np.multiply.outer(density_neg, 1 - proportions)
    )
    return joint / joint.sum(axis=1, keepdims=True)


@given(observed_bags(), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 10.0]))
def test_value_is_the_mean_surprise_at_the_bag(bags, seed, scale):
    scores = scale * np.random.default_rng(seed).normal(size=len(bags.row_bag))
    value, _ = set_risk(bags).value_and_slope(scores)
    own = bag_probabilities(bags, scores)[np.arange(len(scores)), bags.row_bag]
    assert_allclose(value, -np.log(own).mean(), rtol=1e-10)


@given(observed_bags())
def test_where_only_the_prior_is_known_every_bag_has_its_share(bags):
    share = bags.sizes / bags.sizes.sum()
    scores = np.full(len(bags.row_bag), logit(share @ bags.proportions[:, 1]))
    value, _ = set_risk(bags).value_and_slope(scores)
    assert_allclose(value, -np.log(share[bags.row_bag]).mean(), rtol=1e-10)


@given(observed_bags(), st.integers(0, 2**32 - 1))
def test_derivatives_by_differences(bags, seed):
    risk = set_risk(bags)
    scores = np.random.default_rng(seed).normal(size=len(bags.row_bag))
    slope = central_differences(lambda at: risk.value_and_slope(at)[0], scores)
    bend = central_differences(lambda at: risk.value_and_slope(at)[1], scores)
    assert_allclose(risk.value_and_slope(scores)[1], slope, atol=1e-8)
    assert_allclose(risk.curvature(scores)(np.eye(len(scores))), bend, atol=1e-8)


@given(observed_bags(), st.integers(0, 2**32 - 1))
def test_exchanging_the_classes_turns_the_scores_round(bags, seed):
    swapped = two_classes(bags.row_bag, bags.proportions[:, 0])
    scores = np.random.default_rng(seed).normal(size=len(bags.row_bag))
    value, slope = set_risk(bags).value_and_slope(scores)
    value_swapped, slope_swapped = set_risk(swapped).value_and_slope(-scores)
    assert_allclose(value_swapped, value, rtol=1e-10)
    assert_allclose(slope_swapped, -slope, atol=1e-12)


def test_two_pure_bags_are_the_logistic_loss():
    labels = np.array([1, 1, -1, 1, -1])
    scores = np.array([0.3, -2.0, 1.0, 5.0, -0.7])
    risk = set_risk(labels_as_bags(labels, rows_as_bags=False))
    value, slope = risk.value_and_slope(scores)
    logistic = get_loss("logistic")
    assert risk.is_convex
    assert_allclose(value, logistic.value(labels * scores).mean(), rtol=1e-12)
    assert_allclose(slope, labels * logistic.slope(labels * scores) / 5, rtol=1e-12)


@pytest.mark.parametrize("score", [-1e4, 1e4])
def test_extreme_scores_stay_finite(score):
    bags = two_classes(np.repeat(np.arange(3), 4), np.array([0.0, 0.4, 1.0]))
    risk = set_risk(bags)
    value, slope = risk.value_and_slope(np.full(12, score))
    # A certain positive in the negative bag (or the reverse) costs its whole score.
    assert value == pytest.approx(1e4 / 3, rel=1e-3)
    assert_allclose(np.abs(slope).sum(), 1 / 3)
    assert np.isfinite(risk.curvature(np.full(12, score))(np.ones(12))).all()


@pytest.mark.parametrize("counts", [[[3, 1], [0, 4], [6, 2]], [[3, 1, 0], [0, 2, 2], [1, 0, 5]]])
def test_bag_probabilities_of_any_number_of_classes(counts):
    """P(bag | x) = Σ_c P(bag | c)·P(c | x), written out."""
    observed, n_rows = make_observed(counts), np.sum(counts)
    columns = np.random.default_rng(0).normal(size=(n_rows, len(counts[0])))
    in_class = np.array(counts) / np.sum(counts, axis=0)
    assert_allclose(bag_shares_by_class(observed), in_class)
    bag_probabilities = softmax(columns, axis=1) @ in_class.T
    assert_allclose(bag_probabilities.sum(axis=1), 1)
    expected = -np.log(bag_probabilities[np.arange(n_rows), observed.row_bag]).mean()
    scores = columns if len(counts[0]) > 2 else columns[:, 1] - columns[:, 0]
    assert_allclose(set_risk(observed).value_and_slope(scores)[0], expected, rtol=1e-12)
