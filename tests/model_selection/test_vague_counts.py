"""The automatic choice with ranges and noisy counts instead of exact ones."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from decorrupt import (
    AutoLabelProportionsClassifier,
    EMClassifier,
    LaplaceNoise,
)
from decorrupt.losses import prior_scores
from decorrupt.model_selection import WithinBagKFold
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.observed import read_bags
from decorrupt.risks import count_log_likelihood

FAST = {"kernels": ["linear"], "reg_strengths": [0.01], "cv": 3, "random_state": 0}


def bagged(n_bags=40, size=10, seed=0):
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(n_bags), size)
    labels = rng.random(len(bags)) < 0.3
    X = rng.normal(size=(len(bags), 2)) + 2 * labels[:, None]
    return X, labels.astype(int), bags, np.bincount(bags, labels)


def test_bags_score_what_is_observed():
    """Against the sum over all labels of two bags of three rows."""
    prob = np.array([0.2, 0.5, 0.9, 0.3, 0.3, 0.6])
    bags = np.repeat([0, 1], 3)
    whole = read_bags(np.array([0, 1 / 3])[bags], bags, upper=np.array([1 / 3, 2 / 3])[bags])
    by_count = np.zeros((2, 4))
    for bag, own in enumerate(prob.reshape(2, 3)):
        for labels in product([0, 1], repeat=3):
            by_count[bag, sum(labels)] += np.prod(np.where(labels, own, 1 - own))
    expected = np.log([by_count[0, :2].sum(), by_count[1, 1:3].sum()])
    np.testing.assert_allclose(count_log_likelihood(prob, whole), expected)
    second = count_log_likelihood(prob[3:], whole.take(np.arange(3, 6)))
    np.testing.assert_allclose(second, expected[1:])


def test_ranges_of_one_count_are_counts():
    X, _, bags, counts = bagged()
    y = counts[bags] / 10
    search = AutoLabelProportionsClassifier(
        candidates=["count_likelihood"], check_assumptions=False, **FAST
    )
    plain = search.fit(X, y, bags=bags)
    score, values = plain.leaderboard_.rows[0]["score"], plain.decision_function(X)
    ranged = search.fit(X, y, bags=bags, upper=y)
    assert ranged.leaderboard_.rows[0]["score"] == pytest.approx(score, abs=1e-9)
    np.testing.assert_allclose(ranged.decision_function(X), values, atol=1e-3)


@pytest.mark.parametrize(
    "candidates",
    [
        None,
        [("em", EMClassifier(LogisticRegression(), cv=2))],
    ],
    ids=["default", "em"],
)
def test_suppressed_counts_are_learned_from(candidates):
    X, labels, bags, counts = bagged()
    low, high = np.where(counts < 3, [[0], [2]], counts)
    search = AutoLabelProportionsClassifier(candidates=candidates, **FAST)
    search.fit(X, low[bags] / 10, bags=bags, upper=high[bags] / 10)
    assert search.score(X, labels) > 0.85
    assert search.class_prior_[1] == pytest.approx(labels.mean(), abs=0.05)
    if candidates is None:
        assert search.best_method_ == "count_likelihood"
        assert "they need exact counts: mean_map" in str(search.leaderboard_)


def test_noise_in_the_counts_is_used():
    X, labels, bags, counts = bagged(80)
    reported = counts + np.random.default_rng(1).laplace(0, 1, len(counts))
    search = AutoLabelProportionsClassifier(count_noise=LaplaceNoise(1), **FAST)
    search.fit(X, reported[bags] / 10, bags=bags)
    assert search.score(X, labels) > 0.85


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "candidates", [None, [("em", EMClassifier(LogisticRegression(), cv=2))]], ids=["default", "em"]
)
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


def test_a_part_of_a_bag_has_its_share_of_the_counts():
    bags = np.repeat([0, 1], [10, 4])
    y = np.array([0.3, 0.5])[bags]
    whole = read_bags(y, bags, upper=np.array([0.7, 0.5])[bags])
    part = whole.take(np.array([0, 1, 2, 3, 4, 10, 11, 12, 13])).counts
    assert part.lower[:, 1].tolist() == [1, 2]  # 1.5 of 5 rows
    assert part.upper[:, 1].tolist() == [4, 2]
    noisy = read_bags(y, bags, count_noise=1.0).counts.take(np.array([1]), np.array([0.25]))
    assert noisy.lower[:, 1].tolist() == noisy.upper[:, 1].tolist() == [0.5]


# --- several classes


def bagged_classes(n_bags=60, size=10, seed=0):
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(n_bags), size)
    labels = rng.integers(0, 3, len(bags))
    X = rng.normal(size=(len(bags), 3)) + 2 * np.eye(3)[labels]
    return (
        X,
        labels,
        bags,
        np.array([np.bincount(own, minlength=3) for own in labels.reshape(-1, size)]),
    )


@pytest.mark.parametrize("kind", ["range", "noise"])
def test_bags_of_several_classes_score_what_is_observed(kind):
    """Against the sum over all labels of two bags of three rows."""
    prob = np.random.default_rng(0).dirichlet(np.ones(3), 6)
    lower, upper = np.array([[1, 0, 0], [0, 0, 1]]), np.array([[2, 1, 3], [3, 0, 2]])
    reported = lower + 0.5
    noise = LaplaceNoise(1.5)
    if kind == "range":
        observed = read_bags(*row_shares(lower), upper=row_shares(upper)[0])
    else:
        observed = read_bags(*row_shares(reported), count_noise=noise)
    expected = np.zeros(2)
    for bag, own in enumerate(prob.reshape(2, 3, 3)):
        for labels in product(range(3), repeat=3):
            k = np.bincount(labels, minlength=3)
            weight = float(((k >= lower[bag]) & (k <= upper[bag])).all())
            if kind == "noise":
                weight = np.exp(-np.abs(reported[bag] - k) / 1.5).prod() / 3**3
            expected[bag] += own[np.arange(3), labels].prod() * weight
    np.testing.assert_allclose(count_log_likelihood(prob, observed), np.log(expected))
    scores = np.log(prob) - prior_scores(observed.inner_prior)
    by_bag = BagScorer("count_log_likelihood").by_bag(scores, observed)
    np.testing.assert_allclose(by_bag, np.log(expected) / 3)


def row_shares(counts):
    """Return y and bags of two bags of three rows."""
    bags = np.repeat([0, 1], 3)
    return np.asarray(counts)[bags] / 3, bags


@pytest.mark.parametrize(
    "candidates",
    [None, [("em", EMClassifier(LogisticRegression(), cv=2))]],
    ids=["default", "em"],
)
def test_suppressed_counts_of_several_classes_are_learned_from(candidates):
    X, labels, bags, counts = bagged_classes()
    low, high = np.where(counts < 4, 0, counts), np.where(counts < 4, 3, counts)
    search = AutoLabelProportionsClassifier(candidates=candidates, **FAST)
    search.fit(X, low[bags] / 10, bags=bags, upper=high[bags] / 10)
    assert search.score(X, labels) > 0.8
    np.testing.assert_allclose(search.class_prior_, np.bincount(labels) / 600, atol=0.03)


def test_noise_in_the_counts_of_several_classes_is_used():
    X, labels, bags, counts = bagged_classes(120)
    reported = counts + np.random.default_rng(1).laplace(0, 1, counts.shape)
    search = AutoLabelProportionsClassifier(count_noise=LaplaceNoise(1), **FAST)
    search.fit(X, reported[bags] / 10, bags=bags)
    assert search.score(X, labels) > 0.8
    assert search.held_out_gain_ > 20


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
    y = counts[bags] / 10
    given = {"y": y, "bags": bags, "upper": y} | targets
    with pytest.raises(ValueError, match=message):
        AutoLabelProportionsClassifier(**options).fit(X, **given)
