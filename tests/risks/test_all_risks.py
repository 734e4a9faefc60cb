"""What holds for every risk and any number of classes: gradients, permutations, extremes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from decorrupt.corruption import combine_bags
from decorrupt.observed import Observed, matrix_of_rates, read_sources
from decorrupt.risks import (
    ProportionRisk,
    count_risk,
    logistic_risk,
    noisy_label_risk,
)
from oracles.counts import make_observed
from oracles.dense_risk import central_differences

COUNTS = {
    2: np.array([[1, 0], [0, 2], [2, 1], [3, 4], [0, 9], [14, 19], [3, 41]]),
    3: np.array([[1, 0, 0], [0, 2, 0], [2, 1, 1], [3, 1, 2], [0, 4, 5], [14, 9, 10], [3, 30, 11]]),
}


def corrected(observed):
    return logistic_risk(combine_bags(observed.sizes, observed.proportions), observed)


def transition(observed):
    """Return a matrix made from the bags, so that classes can be permuted."""
    if observed.n_classes == 2:  # a row's own label is the more likely one
        return matrix_of_rates(*(0.3 * observed.proportions[5]))
    return 0.5 * np.eye(observed.n_classes) + 0.5 * observed.proportions[5]


def noisy_labels(observed):
    noisy = observed.row_proportions.argmax(axis=1)
    sources = read_sources(noisy, observed.classes, None, transition(observed))
    return noisy_label_risk(Observed.of_sources(observed.classes, sources))


RISKS = {
    "corrected": corrected,
    "count": count_risk,
    "proportion": ProportionRisk,
    "noisy labels": noisy_labels,
}
every_risk = pytest.mark.parametrize("make_risk", RISKS.values(), ids=list(RISKS))
any_classes = pytest.mark.parametrize("n_classes", [2, 3])


def draw_scores(n_classes, seed, scale=1.0):
    n_rows = COUNTS[n_classes].sum()
    shape = n_rows if n_classes == 2 else (n_rows, n_classes)
    return scale * np.random.default_rng(seed).normal(size=shape)


@every_risk
@any_classes
def test_the_slope_is_the_gradient(make_risk, n_classes):
    risk = make_risk(make_observed(COUNTS[n_classes]))
    scores = draw_scores(n_classes, 1, 1.5)
    _, slope = risk.value_and_slope(scores)
    numeric = central_differences(
        lambda f: risk.value_and_slope(f.reshape(scores.shape))[0], scores.ravel(), 1e-5
    )
    assert_allclose(slope.ravel(), numeric, atol=1e-8)
    if n_classes > 2:
        assert_allclose(slope.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("name", ["corrected", "proportion", "noisy labels"])
def test_the_curvature_of_two_classes_is_the_hessian(name):
    risk, scores = RISKS[name](make_observed(COUNTS[2])), draw_scores(2, 1)
    numeric = central_differences(lambda f: risk.value_and_slope(f)[1], scores, 1e-5)
    apply = risk.curvature(scores)
    assert_allclose(apply(np.eye(len(scores))), numeric, atol=1e-8)
    direction = np.random.default_rng(2).normal(size=len(scores))
    assert_allclose(apply(direction), numeric @ direction, atol=1e-7)


@every_risk
def test_a_shift_of_all_classes_changes_nothing(make_risk):
    risk, scores = make_risk(make_observed(COUNTS[3])), draw_scores(3, 2)
    value, slope = risk.value_and_slope(scores)
    shift = np.linspace(-50, 50, len(scores))[:, None]
    shifted, shifted_slope = risk.value_and_slope(scores + shift)
    assert_allclose(shifted, value, rtol=1e-10)
    assert_allclose(shifted_slope, slope, atol=1e-10)


@every_risk
@given(order=st.permutations(range(3)), seed=st.integers(0, 1000), scale=st.floats(0.1, 20))
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
def test_the_order_of_the_classes_does_not_matter(make_risk, order, seed, scale):
    scores, observed = draw_scores(3, seed, scale), make_observed(COUNTS[3])
    moved = make_observed(COUNTS[3][:, order])
    value, slope = make_risk(observed).value_and_slope(scores)
    other, other_slope = make_risk(moved).value_and_slope(scores[:, order])
    assert_allclose(other, value, rtol=1e-9, atol=1e-12)
    assert_allclose(other_slope, slope[:, order], atol=1e-9)


@every_risk
@given(seed=st.integers(0, 1000), scale=st.floats(0.1, 20))
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
def test_exchanging_two_classes_turns_the_scores_round(make_risk, seed, scale):
    scores, observed = draw_scores(2, seed, scale), make_observed(COUNTS[2])
    moved = make_observed(COUNTS[2][:, ::-1])
    value, slope = make_risk(observed).value_and_slope(scores)
    other, other_slope = make_risk(moved).value_and_slope(-scores)
    assert_allclose(other, value, rtol=1e-9, atol=1e-12)
    assert_allclose(other_slope, -slope, atol=1e-9)


@every_risk
@any_classes
@pytest.mark.parametrize("scale", [30.0, 1e3])
def test_extreme_scores_stay_finite(make_risk, n_classes, scale):
    shape = draw_scores(n_classes, 0).shape
    scores = scale * np.random.default_rng(3).choice([-1.0, 0.0, 1.0], size=shape)
    value, slope = make_risk(make_observed(COUNTS[n_classes])).value_and_slope(scores)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


@every_risk
def test_single_precision_scores_are_summed_in_double(make_risk):
    risk = make_risk(make_observed(COUNTS[3]))
    scores = draw_scores(3, 4).astype(np.float32)
    value, slope = risk.value_and_slope(scores)
    assert slope.dtype == np.float64
    assert value == risk.value_and_slope(scores.astype(float))[0]


@every_risk
def test_there_is_no_curvature_of_several_classes(make_risk):
    scores = np.zeros_like(draw_scores(3, 0))
    with pytest.raises(ValueError, match=r"risk of 3 classes.*use solver='lbfgs'"):
        make_risk(make_observed(COUNTS[3])).curvature(scores)


@any_classes
def test_the_slope_of_a_likelihood_is_the_probability_less_the_posterior(n_classes):
    """Fact 2 of the design: w = p − n·slope, exact where no bag is approximated."""
    counts = COUNTS[n_classes][:5]
    observed = make_observed(counts)
    risk = count_risk(observed)
    scores = np.random.default_rng(5).normal(size=(counts.sum(), n_classes))
    prob = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    scores = scores if n_classes > 2 else scores[:, 1] - scores[:, 0]
    slope = risk.value_and_slope(scores)[1] * counts.sum()
    slope = slope if n_classes > 2 else np.column_stack([-slope, slope])
    posterior = risk.posterior(scores)
    assert_allclose(posterior, prob - slope, atol=1e-10)
    assert_allclose(posterior.sum(axis=1), 1)
    for bag in range(5):
        assert_allclose(posterior[observed.row_bag == bag].sum(axis=0), counts[bag], atol=1e-9)
