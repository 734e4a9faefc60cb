"""The mean map: against its equations, its sister estimator, and the Bayes rule."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from decorrupt import CorrectedLossClassifier
from decorrupt.corruption import combine_bags
from decorrupt.estimators import MeanMapClassifier
from decorrupt.features import Kernel
from oracles.mean_map import (
    fit_from_mean_operator,
    least_squares_class_means,
    pooled_mean_operator,
)

EXACT = {"tol": 1e-9, "random_state": 0}


def fit(data, **params):
    model = MeanMapClassifier(**{"reg_strength": 0.02, "random_state": 0} | params)
    return model.fit(data.X, data.y, bags=data.bags)


def bag_averages(data):
    bags = np.unique(data.bags)
    return np.array([data.X[data.bags == bag].mean(axis=0) for bag in bags])


@pytest.fixture
def uneven_bags():
    """300 rows in 12 bags of 5 to 49 rows, a fifth of the rows positive."""
    rng = np.random.default_rng(11)
    sizes = np.array([5, 9, 13, 17, 21, 25, 25, 29, 33, 37, 37, 49])
    bags = np.repeat([f"bag {k:02d}" for k in range(12)], sizes)
    labels = (rng.random(300) < np.repeat(rng.uniform(0, 0.5, 12), sizes)).astype(int)
    X = rng.normal(size=(300, 2)) + 2 * labels[:, None]
    codes = np.repeat(np.arange(12), sizes)
    shares = np.bincount(codes, labels) / sizes
    return SimpleNamespace(
        X=X, labels=labels, bags=bags, sizes=sizes, shares=shares, y=shares[codes]
    )


@st.composite
def bag_numbers(draw_from):
    n_bags = draw_from(st.integers(2, 8))
    sizes = draw_from(st.lists(st.integers(1, 50), min_size=n_bags, max_size=n_bags))
    shares = st.lists(st.integers(0, 20), min_size=n_bags, max_size=n_bags, unique=True)
    return np.array(sizes), np.array(draw_from(shares)) / 20


@given(bag_numbers(), st.integers(0, 2**32 - 1))
def test_pooled_least_squares_is_the_mean_map(numbers, seed):
    """Rows weighted by a_k/γ̄ average to μ⁺, by b_k/(1−γ̄) to μ⁻."""
    sizes, proportions = numbers
    means = np.random.default_rng(seed).normal(size=(len(sizes), 3))
    prior = np.average(proportions, weights=sizes)
    neg, pos = combine_bags(sizes, proportions, method="least_squares", class_prior="pooled").T
    expected = least_squares_class_means(sizes, proportions, means)
    assert_allclose(pos @ means / prior, expected[0], atol=1e-9)
    assert_allclose(neg @ means / (1 - prior), expected[1], atol=1e-9)
    assert_allclose((pos - neg) @ means, pooled_mean_operator(sizes, proportions, means), atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_mean_is_least_squares_at_the_pooled_prior(uneven_bags, kernel):
    d, kernel = uneven_bags, Kernel(kernel, rank_tol=0.0)
    ours = fit(d, kernel=kernel, **EXACT)
    sister = CorrectedLossClassifier(
        combine="least_squares",
        class_prior="pooled",
        fit_intercept=True,
        reg_strength=0.02,
        kernel=kernel,
        **EXACT,
    ).fit(d.X, d.y, bags=d.bags)
    assert_allclose(ours.decision_function(d.X), sister.decision_function(d.X), rtol=1e-7)
    assert_allclose(ours.class_prior_, sister.class_prior_)
    assert ours.class_prior_[1] == pytest.approx(d.labels.mean())


def test_mean_is_the_minimiser_for_the_least_squares_class_means(uneven_bags):
    d = uneven_bags
    operator = pooled_mean_operator(d.sizes, d.shares, bag_averages(d))
    theta, intercept = fit_from_mean_operator(d.X, operator, d.labels.mean(), 0.02)
    model = fit(d, kernel="linear", **EXACT)
    assert_allclose(model.coef_, theta, rtol=1e-6)
    assert model.intercept_ == pytest.approx(intercept, rel=1e-6)


def test_the_mean_probability_is_the_known_share(uneven_bags):
    d = uneven_bags
    model = fit(d, kernel=Kernel("rbf", rank_tol=0.0), **EXACT)
    assert model.predict_proba(d.X)[:, 1].mean() == pytest.approx(d.labels.mean(), rel=1e-6)


def test_class_labels_give_logistic_regression(bag_data):
    d = bag_data
    words = np.where(d.labels == 1, "sick", "healthy")
    model = MeanMapClassifier(kernel="linear", reg_strength=0.01, tol=1e-10)
    model.fit(d.X, words)
    reference = LogisticRegression(C=1 / (2 * 0.01 * len(words)), tol=1e-10).fit(d.X, words)
    assert_allclose(model.coef_, reference.coef_[0], rtol=1e-6)
    assert model.intercept_ == pytest.approx(reference.intercept_[0], rel=1e-6)
    assert_array_equal(model.classes_, ["healthy", "sick"])


def test_more_bags_approach_the_bayes_rule():
    """Unit Gaussians at distance 2: the best balanced accuracy is Φ(1) = 84.1 %."""
    rng = np.random.default_rng(5)
    test_labels = np.arange(40_000) % 2
    X_test = rng.normal(size=(40_000, 2)) + test_labels[:, None] * [2.0, 0.0]
    losses = []
    for n_bags in (20, 1000):
        shares = rng.choice([0.0, 0.2, 0.4, 0.6], n_bags)
        bags = np.repeat(np.arange(n_bags), 10)
        labels = (np.arange(10) < np.rint(10 * shares)[:, None]).ravel().astype(int)
        X = rng.normal(size=(len(labels), 2)) + labels[:, None] * [2.0, 0.0]
        model = MeanMapClassifier(kernel="linear", reg_strength=1e-3)
        model.fit(X, shares[bags], bags=bags)
        losses.append(norm.cdf(1) - balanced_accuracy_score(test_labels, model.predict(X_test)))
    assert losses[1] < 0.006
    assert losses[1] < losses[0]


def test_bags_that_are_not_pure_need_a_penalty(bag_data):
    message = r"reg_strength=0\.0 with bags that are not pure.*above 0"
    with pytest.raises(ValueError, match=message):
        fit(bag_data, reg_strength=0.0)
