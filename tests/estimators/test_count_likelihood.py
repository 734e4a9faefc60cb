"""Learning from counts: the likelihood is maximised, and what comes of it is a classifier."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel

from decorrupt.estimators import CountLikelihoodClassifier
from decorrupt.exceptions import RoundedCountsWarning
from decorrupt.features import Kernel, fit_feature_map
from decorrupt.observed import Observed
from decorrupt.risks import count_log_likelihood
from decorrupt.solvers import solve_problem
from oracles.counts import enumerate_count


def fit(data, X=None, **params):
    model = CountLikelihoodClassifier(**{"random_state": 0} | params)
    return model.fit(data.X if X is None else X, data.y, bags=data.bags)


@pytest.mark.parametrize("reg_strength", [1e-3, 0.1])
@pytest.mark.parametrize("in_bags", [True, False])
def test_bags_of_one_row_are_logistic_regression(bag_data, reg_strength, in_bags):
    X, labels = bag_data.X, bag_data.labels
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=reg_strength, tol=1e-8)
    if in_bags:
        model.fit(X, labels.astype(float), bags=np.arange(len(labels)))
    else:
        model.fit(X, labels)
    reference = LogisticRegression(C=1 / (2 * reg_strength * len(labels)), tol=1e-8).fit(X, labels)
    assert_allclose(model.coef_, reference.coef_[0], rtol=1e-5)
    assert_allclose(model.intercept_, reference.intercept_[0], rtol=1e-5)
    assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-6)


def test_comes_close_to_the_bayes_rule():
    """Two Gaussian classes in 400 random bags of 8: the best score is a known linear one."""
    rng = np.random.default_rng(0)
    labels = rng.random(3200) < 0.3
    X = rng.normal(size=(3200, 2)) + np.where(labels[:, None], [1.5, 0.5], 0.0)
    bags = np.arange(3200) // 8
    shares = np.bincount(bags, labels) / 8
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=1e-6)
    model.fit(X, shares[bags], bags=bags)
    assert_allclose(model.coef_, [1.5, 0.5], atol=0.2)
    assert_allclose(model.intercept_, logit(0.3) - (1.5**2 + 0.5**2) / 2, atol=0.2)
    bayes = expit(X @ [1.5, 0.5] + logit(0.3) - 1.25)
    assert np.abs(model.predict_proba(X)[:, 1] - bayes).mean() < 0.02


def test_solution_is_the_minimum_of_the_written_objective(bag_data):
    """No low rank, no solver of ours: 2λf = −K·slope on the training rows, up to the intercept."""
    model = fit(
        bag_data, kernel=Kernel(rank_tol=0.0), tol=1e-8, kernel_gamma=0.7, reg_strength=0.01
    )
    scores = logit(model.predict_proba(bag_data.X)[:, 1])
    slope = np.empty(600)
    for bag in range(60):
        rows = bag_data.bags == bag
        slope[rows] = -enumerate_count(scores[rows], round(10 * bag_data.shares[bag]))[1] / 600
    gram = rbf_kernel(bag_data.X, gamma=0.7)
    assert_allclose(2 * 0.01 * (scores - model.intercept_), -gram @ slope, atol=1e-7)
    assert_allclose(slope.sum(), 0, atol=1e-8)


def test_the_free_intercept_keeps_the_share_of_positives(bag_data):
    model = fit(bag_data, tol=1e-8)
    assert_allclose(model.class_prior_[1], bag_data.labels.mean())
    assert_allclose(model.predict_proba(bag_data.X).mean(axis=0), model.class_prior_, atol=1e-6)


def test_the_log_likelihood_is_that_of_the_fitted_probabilities(bag_data):
    model = fit(bag_data)
    observed = Observed.from_bags(bag_data.y, bag_data.bags)
    by_bag = count_log_likelihood(model.predict_proba(bag_data.X)[:, 1], observed)
    assert_allclose(model.log_likelihood_, by_bag.sum(), rtol=1e-6)


def test_the_log_likelihood_of_several_classes_contains_no_penalty():
    random = np.random.default_rng(0)
    labels, bags = random.integers(0, 3, 120), np.arange(120) // 6
    X = random.normal(size=(120, 3)) + 2 * np.eye(3)[labels]
    shares = pd.DataFrame(np.eye(3)[labels]).groupby(bags).transform("mean").to_numpy()
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=0.1).fit(X, shares, bags=bags)
    by_bag = count_log_likelihood(model.predict_proba(X), Observed.from_bags(shares, bags))
    assert model.log_likelihood_ == pytest.approx(by_bag.sum(), abs=1e-6)


def solve_path(features, observed, reg_strengths, **params):
    """Return the solution of the count likelihood for every λ over given features."""
    problem = CountLikelihoodClassifier(**params).problem(observed)
    return solve_problem(problem, features, reg_strengths, n_classes=2, fit_intercept=True)


def test_a_small_reg_strength_is_reached_by_way_of_larger_ones(bag_data):
    """Where the likelihood has several maxima, the same one alone and at the end of a path."""
    observed = Observed.from_bags(bag_data.y, bag_data.bags)
    features = fit_feature_map(bag_data.X, Kernel("rbf", gamma=5.0), random_state=0).matrix
    *_, end = solve_path(features, observed, [0.1, 1e-2, 1e-3, 1e-4, 1e-5])
    (alone,) = solve_path(features, observed, [1e-5])
    assert_allclose(alone.result.coef, end.result.coef)


def test_large_bags_are_learned_from_too():
    """Bags of 300 rows: the O(n) approximation and the exact sums find the same classifier."""
    rng = np.random.default_rng(1)
    shares = rng.choice([0.2, 0.5, 0.8], size=20)
    bags = np.repeat(np.arange(20), 300)
    labels = rng.random(6000) < shares[bags]
    X = rng.normal(size=(6000, 2)) + 1.5 * labels[:, None]
    y = (np.bincount(bags, labels) / 300)[bags]
    fast, exact = (
        CountLikelihoodClassifier(kernel="linear", large_bags=large).fit(X, y, bags=bags)
        for large in ("auto", np.inf)
    )
    assert_allclose(fast.coef_, exact.coef_, rtol=1e-3)
    assert_allclose(fast.log_likelihood_, exact.log_likelihood_, atol=20 * 0.01)
    assert balanced_accuracy_score(labels, fast.predict(X)) > 0.84


@pytest.mark.filterwarnings("ignore::decorrupt.exceptions.OneClassWarning")
def test_noisy_proportions(bag_data):
    """Stated noise is better than taking noisy shares for counts, and much of it flattens f."""
    rng = np.random.default_rng(2)
    noisy = np.clip(bag_data.shares + rng.normal(scale=0.1, size=60), 0, 1)[bag_data.bags]
    options = {"reg_strength": 1e-4, "random_state": 0}
    stated = CountLikelihoodClassifier(count_noise=1.0, **options)
    stated.fit(bag_data.X, noisy, bags=bag_data.bags)
    assert balanced_accuracy_score(bag_data.labels, stated.predict(bag_data.X)) > 0.88
    flat = CountLikelihoodClassifier(count_noise=1e5, **options)
    flat.fit(bag_data.X, noisy, bags=bag_data.bags)
    assert np.ptp(flat.decision_function(bag_data.X)) < 1e-3
    by_bag = CountLikelihoodClassifier(count_noise=dict.fromkeys(range(60), 1.0), **options)
    by_bag.fit(bag_data.X, noisy, bags=bag_data.bags)
    assert_allclose(by_bag.decision_function(bag_data.X), stated.decision_function(bag_data.X))


def test_noise_is_no_matter_of_labels(bag_data):
    plain = CountLikelihoodClassifier(random_state=0).fit(bag_data.X, bag_data.labels)
    noisy = clone(plain).set_params(count_noise=2.0).fit(bag_data.X, bag_data.labels)
    assert_allclose(noisy.decision_function(bag_data.X), plain.decision_function(bag_data.X))


def test_counts_that_do_not_match_sizes_are_ranges_with_a_warning(bag_data):
    y = np.where(bag_data.bags == 3, 0.34, bag_data.y)
    model = CountLikelihoodClassifier(reg_strength=1e-3, random_state=0)
    with pytest.warns(RoundedCountsWarning, match=r"of 1 bags .* 3 \(3\.4 of 10\)"):
        model.fit(bag_data.X, y, bags=bag_data.bags)
    lower, upper = (np.where(bag_data.bags == 3, end, bag_data.y) for end in (0.3, 0.4))
    reference = clone(model).fit(bag_data.X, lower, bags=bag_data.bags, upper=upper)
    assert_allclose(model.log_likelihood_, reference.log_likelihood_, rtol=1e-6)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"large_bags": "all"}, r"large_bags='all'"),
        ({"count_noise": -1}, r"count_noise=-1 must be the standard deviation"),
    ],
)
def test_bad_parameters(bag_data, params, message):
    with pytest.raises(ValueError, match=message):
        fit(bag_data, **params)


# --- bags that differ by more than their rows explain


def bags_with_effects(effect, n_bags=60, bag_size=100, seed=0):
    """Bags by a column of X whose log-odds have a part of their own; the true slopes are 1, −1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_bags * bag_size, 2))
    X[:, 1] += np.repeat(rng.normal(size=n_bags), bag_size)
    bags = np.repeat(np.arange(n_bags), bag_size)
    labels = rng.random(len(X)) < expit(X @ [1.0, -1.0] + effect * rng.normal(size=n_bags)[bags])
    return X, (np.bincount(bags, labels) / bag_size)[bags], bags


def fit_effect(data, **params):
    X, y, bags = data
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=1e-5, **params)
    return model.fit(X, y, bags=bags)


def test_the_estimate_is_near_the_true_effect_in_the_share():
    # A log-odds effect of 1 changes a share by about 1·p(1 − p) ≈ 0.18.
    assert 0.1 < fit_effect(bags_with_effects(1.0), bag_effect="estimate").bag_effect_ < 0.22
    assert fit_effect(bags_with_effects(0.0), bag_effect="estimate").bag_effect_ < 0.03


def test_coefficients_are_better_with_the_effect():
    errors = {"estimate": [], 0.0: []}
    for seed in range(4):
        data = bags_with_effects(1.0, seed=seed)
        for effect, found in errors.items():
            coef = fit_effect(data, bag_effect=effect).coef_
            found.append(abs(coef[0] / -coef[1] - 1))
    assert np.mean(errors["estimate"]) < 0.7 * np.mean(errors[0.0])


def test_a_given_effect_is_the_same_as_noise_of_the_counts():
    data = bags_with_effects(0.5, n_bags=20)
    noisy = fit_effect(
        data, count_noise={bag: 0.1 * size for bag, size in Counter(data[2]).items()}
    )
    assert_allclose(fit_effect(data, bag_effect=0.1).coef_, noisy.coef_)


def test_several_classes():
    X, y, bags = bags_with_effects(1.0, n_bags=20)
    part = np.random.default_rng(1).uniform(0.3, 0.7, 20)[bags]
    shares = np.column_stack([1 - y, part * y, (1 - part) * y])
    model = fit_effect((X, shares, bags), bag_effect="estimate")
    assert model.bag_effect_ > 0.05


def test_labels_have_no_effect():
    X = bags_with_effects(1.0, n_bags=2)[0]
    model = CountLikelihoodClassifier(kernel="linear", bag_effect="estimate")
    assert model.fit(X, (X[:, 0] > 0).astype(int)).bag_effect_ == 0.0


@pytest.mark.parametrize("value", ["auto", -0.1, None, np.inf])
def test_bad_values_are_named(value):
    with pytest.raises(ValueError, match="bag_effect="):
        fit_effect(bags_with_effects(0.0, n_bags=3), bag_effect=value)


def test_the_threshold_is_the_share_that_rows_explain():
    # One bag of three has an effect: the share of all rows is larger than what X explains.
    rng = np.random.default_rng(0)
    X, bags = rng.normal(size=(6000, 2)), np.repeat(np.arange(60), 100)
    effects = np.where(np.arange(60) % 3 == 0, 2.0, 0.0)
    labels = rng.random(6000) < expit(0.5 * X[:, 0] - 1.5 + effects[bags])
    y = (np.bincount(bags, labels) / 100)[bags]
    model = fit_effect((X, y, bags), bag_effect=0.3)
    prob = model.predict_proba(X)[:, 1]
    assert_allclose(model.class_prior_[1], prob.mean())
    assert_allclose(np.mean(model.predict(X)), 0.5, atol=0.1)
