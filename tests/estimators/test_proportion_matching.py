"""Learning by matching proportions: the objective's minimum, and a classifier like any other."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel

from decorrupt.estimators import ProportionMatchingClassifier, proportion_matching
from decorrupt.features import Kernel
from decorrupt.observed import as_observed
from decorrupt.risks import ProportionRisk
from decorrupt.solvers import Objective
from oracles.mean_map import fit_from_mean_operator, pooled_mean_operator


def fit(data, X=None, **params):
    model = ProportionMatchingClassifier(**{"random_state": 0} | params)
    return model.fit(data.X if X is None else X, data.y, bags=data.bags)


def test_solution_is_the_minimum_of_the_written_objective(bag_data):
    """∂/∂f_j = (1/n)·(m−p)/(m(1−m))·σ(1−σ), and 2λf = −K·∂ up to the intercept."""
    model = fit(
        bag_data, kernel=Kernel(rank_tol=0.0), tol=1e-10, kernel_gamma=0.7, reg_strength=0.01
    )
    prob = model.predict_proba(bag_data.X)[:, 1]
    mean = (np.bincount(bag_data.bags, prob) / 10)[bag_data.bags]
    slope = (mean - bag_data.y) / (mean * (1 - mean)) * prob * (1 - prob) / 600
    gram = rbf_kernel(bag_data.X, gamma=0.7)
    assert_allclose(2 * 0.01 * (logit(prob) - model.intercept_), -gram @ slope, atol=1e-7)
    assert_allclose(slope.sum(), 0, atol=1e-9)


def test_the_start_is_the_mean_map(bag_data, monkeypatch):
    monkeypatch.setattr(proportion_matching, "START_TOL", 1e-9)
    d = bag_data
    X, observed = d.X - d.X.mean(axis=0), as_observed(d.y, bags=d.bags)
    start = ProportionMatchingClassifier().problem(observed).start
    means = np.array([X[d.bags == bag].mean(axis=0) for bag in range(60)])
    mean_operator = pooled_mean_operator(observed.sizes, d.shares, means)
    theta, intercept = fit_from_mean_operator(X, mean_operator, d.shares.mean(), 0.05)
    objective = Objective(X, ProportionRisk(observed), 0.05, fit_intercept=True)
    assert_allclose(start(objective, None), [*theta, intercept], atol=1e-6)


def test_without_bags_it_is_logistic_regression(bag_data):
    names = np.where(bag_data.labels == 1, "yes", "no")
    model = ProportionMatchingClassifier(kernel="linear", reg_strength=1e-3, tol=1e-9)
    model.fit(bag_data.X, names)
    reference = LogisticRegression(C=1 / (2e-3 * 600), tol=1e-8).fit(bag_data.X, names)
    assert model.classes_.tolist() == ["no", "yes"]
    assert_allclose(model.coef_, reference.coef_[0], rtol=1e-5)
    assert_allclose(model.predict_proba(bag_data.X), reference.predict_proba(bag_data.X), atol=1e-6)


def test_proportions_need_not_be_whole_counts(bag_data):
    model = ProportionMatchingClassifier(random_state=0)
    model.fit(bag_data.X, 0.9 * bag_data.y + 0.033, bags=bag_data.bags)
    assert balanced_accuracy_score(bag_data.labels, model.predict(bag_data.X)) > 0.88
