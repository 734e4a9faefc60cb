"""Count likelihood of bags that differ by more than their rows explain."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from decorrupt import AutoLabelProportionsClassifier, CountLikelihoodClassifier


def bags_with_effects(effect, n_bags=60, bag_size=100, seed=0):
    """Bags by a column of X whose log-odds have a part of their own; the true slopes are 1, −1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_bags * bag_size, 2))
    X[:, 1] += np.repeat(rng.normal(size=n_bags), bag_size)
    bags = np.repeat(np.arange(n_bags), bag_size)
    labels = rng.random(len(X)) < expit(X @ [1.0, -1.0] + effect * rng.normal(size=n_bags)[bags])
    return X, (np.bincount(bags, labels) / bag_size)[bags], bags


def fit(data, **params):
    X, y, bags = data
    model = CountLikelihoodClassifier(kernel="linear", reg_strength=1e-5, **params)
    return model.fit(X, y, bags=bags)


def test_the_estimate_is_near_the_true_effect_in_the_share():
    # A log-odds effect of 1 changes a share by about 1·p(1 − p) ≈ 0.18.
    assert 0.1 < fit(bags_with_effects(1.0), bag_effect="estimate").bag_effect_ < 0.22
    assert fit(bags_with_effects(0.0), bag_effect="estimate").bag_effect_ < 0.03


def test_coefficients_are_better_with_the_effect():
    errors = {"estimate": [], 0.0: []}
    for seed in range(4):
        data = bags_with_effects(1.0, seed=seed)
        for effect, found in errors.items():
            coef = fit(data, bag_effect=effect).coef_
            found.append(abs(coef[0] / -coef[1] - 1))
    assert np.mean(errors["estimate"]) < 0.7 * np.mean(errors[0.0])


def test_a_given_effect_is_the_same_as_noise_of_the_counts():
    data = bags_with_effects(0.5, n_bags=20)
    noisy = fit(data, count_noise={bag: 0.1 * size for bag, size in Counter(data[2]).items()})
    assert_allclose(fit(data, bag_effect=0.1).coef_, noisy.coef_)


def test_several_classes():
    X, y, bags = bags_with_effects(1.0, n_bags=20)
    part = np.random.default_rng(1).uniform(0.3, 0.7, 20)[bags]
    shares = np.column_stack([1 - y, part * y, (1 - part) * y])
    model = fit((X, shares, bags), bag_effect="estimate")
    assert model.bag_effect_ > 0.05


def test_in_a_search():
    X, y, bags = bags_with_effects(1.0, n_bags=20)
    template = CountLikelihoodClassifier(kernel="linear", bag_effect="estimate")
    search = AutoLabelProportionsClassifier(
        candidates=[template],
        ensemble="best",
        reg_strengths=[1e-2, 1e-4],
        cv=3,
        check_assumptions=False,
    )
    assert search.fit(X, y, bags=bags).best_estimator_.bag_effect_ > 0.05


def test_labels_have_no_effect():
    X = bags_with_effects(1.0, n_bags=2)[0]
    model = CountLikelihoodClassifier(kernel="linear", bag_effect="estimate")
    assert model.fit(X, (X[:, 0] > 0).astype(int)).bag_effect_ == 0.0


@pytest.mark.parametrize("value", ["auto", -0.1, None, np.inf])
def test_bad_values_are_named(value):
    with pytest.raises(ValueError, match="bag_effect="):
        fit(bags_with_effects(0.0, n_bags=3), bag_effect=value)


def test_the_threshold_is_the_share_that_rows_explain():
    # One bag of three has an effect: the share of all rows is larger than what X explains.
    rng = np.random.default_rng(0)
    X, bags = rng.normal(size=(6000, 2)), np.repeat(np.arange(60), 100)
    effects = np.where(np.arange(60) % 3 == 0, 2.0, 0.0)
    labels = rng.random(6000) < expit(0.5 * X[:, 0] - 1.5 + effects[bags])
    y = (np.bincount(bags, labels) / 100)[bags]
    model = fit((X, y, bags), bag_effect=0.3)
    prob = model.predict_proba(X)[:, 1]
    assert_allclose(model.class_prior_[1], prob.mean())
    assert_allclose(np.mean(model.predict(X)), 0.5, atol=0.1)
