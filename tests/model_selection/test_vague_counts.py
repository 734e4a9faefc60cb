"""The automatic choice with ranges and noisy counts instead of exact ones."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from decorrupt import AutoLabelProportionsClassifier, EMClassifier, LaplaceNoise
from decorrupt.losses import prior_scores
from decorrupt.model_selection import WithinBagKFold
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.observed import Observed
from decorrupt.risks import count_log_likelihood

FAST = {"kernels": ["linear"], "reg_strengths": [0.01], "cv": 3, "random_state": 0}
both_numbers_of_classes = pytest.mark.parametrize("n_classes", [2, 3])
both_methods = pytest.mark.parametrize(
    "candidates", [None, [("em", EMClassifier(LogisticRegression(), cv=2))]], ids=["default", "em"]
)


def bagged(n_classes=2, n_bags=40, size=10):
    """Return rows, labels, bags and the counts of every bag and class."""
    rng = np.random.default_rng(0)
    bags = np.repeat(np.arange(n_bags), size)
    labels = rng.choice(n_classes, len(bags), p=[0.7, 0.3] if n_classes == 2 else None)
    X = rng.normal(size=(len(bags), n_classes)) + 2 * np.eye(n_classes)[labels]
    counts = [np.bincount(one, minlength=n_classes) for one in labels.reshape(-1, size)]
    return X, labels, bags, np.array(counts)


def shares(counts, bags, size=10):
    """Return the targets of rows: the share of the second class, or of all classes."""
    found = np.asarray(counts)[bags] / size
    return found[:, 1] if found.shape[1] == 2 else found


@pytest.mark.parametrize("kind", ["range", "noise"])
@both_numbers_of_classes
def test_bags_score_what_is_observed(n_classes, kind):
    """Against the sum over all labels of two bags of three rows."""
    prob, bags = np.random.default_rng(0).dirichlet(np.ones(n_classes), 6), np.repeat([0, 1], 3)
    lower, upper = np.array([[1, 0, 0], [0, 0, 1]]), np.array([[2, 1, 3], [3, 0, 2]])
    if n_classes == 2:
        lower, upper = np.array([[2, 0], [1, 1]]), np.array([[3, 1], [2, 2]])
    reported, noise = lower + 0.5, LaplaceNoise(1.5)
    if kind == "range":
        observed = Observed.from_bags(shares(lower, bags, 3), bags, upper=shares(upper, bags, 3))
    else:
        observed = Observed.from_bags(shares(reported, bags, 3), bags, count_noise=noise)
    expected, counted = np.zeros(2), slice(1 if n_classes == 2 else 0, None)
    for bag, own in enumerate(prob.reshape(2, 3, n_classes)):
        for labels in product(range(n_classes), repeat=3):
            k = np.bincount(labels, minlength=n_classes)
            weight = float(((k >= lower[bag]) & (k <= upper[bag])).all())
            if kind == "noise":
                weight = np.prod(np.exp(-np.abs(reported[bag] - k)[counted] / 1.5) / 3)
            expected[bag] += own[np.arange(3), labels].prod() * weight
    given = prob[:, 1] if n_classes == 2 else prob
    np.testing.assert_allclose(count_log_likelihood(given, observed), np.log(expected))
    second = count_log_likelihood(given[3:], observed.take(np.arange(3, 6)))
    np.testing.assert_allclose(second, np.log(expected[1:]))
    if n_classes == 3:
        scores = np.log(prob) - prior_scores(observed.inner_prior)
        by_bag = BagScorer("count_log_likelihood").by_bag(scores, observed)
        np.testing.assert_allclose(by_bag, np.log(expected) / 3)


@both_numbers_of_classes
@both_methods
def test_suppressed_counts_are_learned_from(candidates, n_classes):
    X, labels, bags, counts = bagged(n_classes, n_bags=60)
    low, high = np.where(counts < 3, [[[0]], [[2]]], counts)
    if n_classes == 2:
        low[:, 0], high[:, 0] = 10 - high[:, 1], 10 - low[:, 1]
    search = AutoLabelProportionsClassifier(candidates=candidates, **FAST)
    search.fit(X, shares(low, bags), bags=bags, upper=shares(high, bags))
    assert search.score(X, labels) > 0.8
    np.testing.assert_allclose(search.class_prior_, np.bincount(labels) / 600, atol=0.05)
    if candidates is None:
        assert search.best_method_ == "count_likelihood"
        assert "they need exact counts: mean_map" in str(search.leaderboard_)


@both_numbers_of_classes
def test_noise_in_the_counts_is_used(n_classes):
    X, labels, bags, counts = bagged(n_classes, n_bags=120)
    reported = counts + np.random.default_rng(1).laplace(0, 1, counts.shape)
    search = AutoLabelProportionsClassifier(count_noise=LaplaceNoise(1), **FAST)
    search.fit(X, shares(reported, bags), bags=bags)
    assert search.score(X, labels) > 0.8
    assert search.held_out_gain_ > 20


@both_numbers_of_classes
@both_methods
def test_folds_within_few_bags_have_their_share_of_the_counts(candidates, n_classes):
    """As for the command line with fewer than five bags."""
    rng = np.random.default_rng(0)
    bags = np.repeat(np.arange(4), 101)
    likely = rng.dirichlet(np.ones(n_classes), 4)
    labels = np.array([rng.choice(n_classes, p=likely[bag]) for bag in bags])
    X = rng.normal(size=(len(bags), n_classes)) + 3 * np.eye(n_classes)[labels]
    counts = np.array([np.bincount(labels[bags == b], minlength=n_classes) for b in range(4)])
    low, high = (counts / 101)[bags], ((counts + 1) / 101)[bags]
    if n_classes == 2:
        low, high = low[:, 1], high[:, 1]
    options = FAST | {"cv": WithinBagKFold(2)}
    search = AutoLabelProportionsClassifier(candidates=candidates, **options)
    search.fit(X, low, bags=bags, upper=np.minimum(high, 1))
    assert search.score(X, labels) > 0.8
    assert search.held_out_gain_ > 5


@pytest.mark.parametrize(
    ("options", "targets", "message"),
    [
        ({"candidates": ["mean_map"]}, {}, "mean_map cannot use ranges and noisy counts"),
        ({"count_noise": {0: 1.0}}, {}, "the same for all bags"),
        ({}, {"bags": None}, "pass bags="),
        ({}, {"y": np.full((400, 3), 1 / 3)}, "one upper end for every lower end"),
    ],
)
def test_what_cannot_be_used_is_named(options, targets, message):
    X, _, bags, counts = bagged()
    y = shares(counts, bags)
    upper = shares(np.minimum(counts + 1, 10), bags)
    given = {"y": y, "bags": bags, "upper": upper} | targets
    with pytest.raises(ValueError, match=message):
        AutoLabelProportionsClassifier(**options).fit(X, **given)
