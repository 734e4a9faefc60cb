"""Set classification: logistic regression for pure bags, the Bayes rule for many bags."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from decorrupt.estimators import SetClassifier
from helpers.bayes_rule import DIRECTION, losses_against_the_bayes_rule

EXACT = {"kernel": "linear", "tol": 1e-9, "random_state": 0}


def fit(data, **params):
    model = SetClassifier(**{"reg_strength": 0.01, "random_state": 0} | params)
    return model.fit(data.X, data.y, bags=data.bags)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("match_prior", [True, False])
def test_learns_the_classes_from_proportions_alone(bag_data, kernel, match_prior):
    model = fit(bag_data, kernel=kernel, match_prior=match_prior)
    assert balanced_accuracy_score(bag_data.labels, model.predict(bag_data.X)) > 0.88


@pytest.mark.parametrize("reg_strength", [0.0, 0.01])
@pytest.mark.parametrize("as_bags", [True, False])
def test_two_pure_bags_are_logistic_regression(bag_data, reg_strength, as_bags):
    d = bag_data
    labels = np.where(np.arange(len(d.labels)) % 10 == 0, 1 - d.labels, d.labels)
    model = SetClassifier(reg_strength=reg_strength, **EXACT)
    model.fit(d.X, labels, bags=labels.astype(str) if as_bags else None)
    strength = 1 / (2 * reg_strength * len(labels)) if reg_strength else np.inf
    reference = LogisticRegression(C=strength, tol=1e-10).fit(d.X, labels)
    assert_allclose(model.coef_, reference.coef_[0], rtol=1e-5)
    assert model.intercept_ == pytest.approx(reference.intercept_[0], rel=1e-5)
    assert_allclose(model.predict_proba(d.X), reference.predict_proba(d.X), atol=1e-6)


def test_minimises_the_surprise_at_the_bags(bag_data):
    """The objective written as in Lu et al., its probabilities normalised over the bags."""
    d = bag_data
    prior = d.shares.mean()

    def objective(coef):
        g = expit(d.X @ coef[:2] + coef[2])[:, None]
        joint = ((d.shares - prior) * g + (1 - d.shares) * prior) / len(d.shares)
        chosen = np.take_along_axis(joint / joint.sum(axis=1, keepdims=True), d.bags[:, None], 1)
        return -np.log(chosen).mean() + 0.01 * coef[:2] @ coef[:2]

    found = minimize(objective, [0, 0, logit(prior)], tol=1e-12)
    model = fit(d, match_prior=False, **EXACT)
    assert_allclose([*model.coef_, model.intercept_], found.x, rtol=1e-3)


def test_matched_probabilities_have_the_known_share_as_mean(bag_data):
    d = bag_data
    matched, unmatched = fit(d), fit(d, match_prior=False)
    assert matched.predict_proba(d.X)[:, 1].mean() == pytest.approx(d.y.mean(), rel=1e-9)
    assert abs(unmatched.predict_proba(d.X)[:, 1].mean() - d.y.mean()) > 1e-3
    assert_allclose(matched.dual_coef_, unmatched.dual_coef_)
    without = fit(d, fit_intercept=False)
    assert without.intercept_ == 0


def test_matching_the_prior_repairs_the_decisions_of_a_penalised_fit():
    """One row in ten positive: unmatched, the penalty drives the scores past the threshold."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 5, 60)
    labels = (np.arange(20) < counts[:, None]).ravel().astype(int)
    X = rng.normal(size=(1200, 2)) + 3 * labels[:, None]
    bags = np.repeat(np.arange(60), 20)
    accuracy = {}
    for match_prior in (True, False):
        model = SetClassifier(match_prior=match_prior, random_state=0)
        model.fit(X, (counts / 20)[bags], bags=bags)
        accuracy[match_prior] = balanced_accuracy_score(labels, model.predict(X))
    assert accuracy[True] > 0.93
    assert accuracy[True] > accuracy[False] + 0.05


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.OneClassWarning")
def test_before_the_first_step_only_the_prior_is_known(bag_data):
    d = bag_data
    model = fit(d, solver="lbfgs", tol=1e9, kernel="linear", match_prior=False)
    assert_array_equal(model.coef_, 0)
    assert model.intercept_ == pytest.approx(logit(d.y.mean()))


def test_splitting_a_bag_changes_nothing(bag_data):
    """Two bags of one proportion tell no more about the classes than their union."""
    d = bag_data
    union = np.round(10 * d.y).astype(int)
    apart = fit(d, **EXACT).decision_function(d.X)
    together = SetClassifier(reg_strength=0.01, **EXACT).fit(d.X, d.y, bags=union)
    assert_allclose(together.decision_function(d.X), apart, atol=1e-5)


def test_probabilities_for_another_population(bag_data):
    d = bag_data
    model = fit(d)
    probability = model.predict_proba(d.X)
    assert_allclose(probability.sum(axis=1), 1)
    odds = logit(probability[:, 1]) + logit(0.2) - logit(model.class_prior_[1])
    assert_allclose(model.predict_proba(d.X, class_prior=0.2)[:, 1], expit(odds), rtol=1e-6)
    assert_array_equal(model.predict(d.X), model.predict_proba(d.X, 0.5)[:, 1] > 0.5)


def test_more_bags_approach_the_bayes_rule():
    model = SetClassifier(kernel="linear", reg_strength=1e-4)
    losses, fitted = losses_against_the_bayes_rule(model)
    assert losses[1] < 0.006
    assert losses[1] < losses[0]
    # Beyond decisions: the log-odds are 2x₁ − 2 + logit(prior).
    assert_allclose(fitted.coef_, DIRECTION, atol=0.2)
