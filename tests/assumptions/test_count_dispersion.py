import numpy as np
import pytest
from scipy.special import expit

from decorrupt.assumptions.count_dispersion import check_count_dispersion
from decorrupt.assumptions.report import detectable_effect
from decorrupt.observed import Observed


def bags_by_feature(rng, *, effect=0.0, n_rows=400, bag_size=20):
    """Bags cut by a column of X, whose log-odds have a part of their own."""
    X = rng.normal(size=(n_rows, 3))
    bags = np.argsort(np.argsort(X[:, 0])) // bag_size
    own = effect * rng.normal(size=bags.max() + 1)
    labels = rng.random(n_rows) < expit(1.5 * X[:, 0] - X[:, 1] + own[bags])
    return X, Observed.from_bags((np.bincount(bags, labels) / bag_size)[bags], bags)


def check(X, observed, seed=0, n_simulations=99):
    rng = np.random.RandomState(seed)
    return check_count_dispersion(X, observed, n_simulations=n_simulations, random_state=rng)


def test_bags_by_a_feature_are_rejected_at_most_at_the_nominal_rate():
    rng = np.random.default_rng(0)
    found = [check(*bags_by_feature(rng), seed, 19).p_value for seed in range(25)]
    assert np.mean(np.array(found) <= 0.05) <= 0.12


def test_bags_with_an_effect_of_their_own_are_rejected():
    test = check(*bags_by_feature(np.random.default_rng(1), effect=1.5))
    assert test.p_value == pytest.approx(0.01)
    assert test.dispersion > 2
    assert 0.05 < test.bag_effect < 0.4


def test_two_columns_of_shares_are_the_same_test_as_one():
    X, observed = bags_by_feature(np.random.default_rng(2), effect=0.5)
    one = check(X, observed)
    two = check(X, Observed.from_bags(observed.row_proportions, observed.row_bag))
    assert two.dispersion == one.dispersion


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_in_one_bag_only_cannot_be_tested(n_classes):
    bags = np.arange(120) // 10
    shares = np.eye(n_classes)[0] + np.where(bags == 0, 0.5, 0)[:, None] * (
        np.full(n_classes, 1 / n_classes) - np.eye(n_classes)[0]
    )
    X = np.random.default_rng(4).normal(size=(120, 2))
    assert check(X, Observed.from_bags(shares, bags)) is None


def test_three_classes():
    rng = np.random.default_rng(3)
    X, bags = rng.normal(size=(240, 2)), np.arange(240) // 12
    odds = np.exp(np.column_stack([X, np.zeros(240)]))
    labels = (rng.random(240)[:, None] > np.cumsum(odds, 1) / odds.sum(1)[:, None]).sum(1)
    shares = np.stack([np.bincount(bags, labels == c) for c in range(3)], axis=1) / 12
    test = check(X, Observed.from_bags(shares[bags], bags))
    assert test.p_value > 0.05


def test_few_bags_cannot_be_tested():
    X = np.random.default_rng(4).normal(size=(50, 2))
    bags = np.arange(50) // 10
    assert check(X, Observed.from_bags(np.linspace(0, 1, 5)[bags], bags)) is None


def test_equal_counts_are_no_excess():
    X = np.random.default_rng(5).normal(size=(80, 2))
    bags = np.arange(80) // 10
    test = check(X, Observed.from_bags(np.full(80, 0.5), bags))
    assert (test.bag_effect, test.p_value > 0.5) == (0.0, True)


def test_large_data_use_a_subset_of_the_bags():
    X, observed = bags_by_feature(np.random.default_rng(6))
    rng = np.random.RandomState(0)
    test = check_count_dispersion(X, observed, n_simulations=9, most_rows=300, random_state=rng)
    assert test.n_rows == 300


def test_detectable_effect_is_detected_with_the_stated_probability():
    inflation, critical = np.full(200, 50.0), 1.17
    effect = detectable_effect(inflation, critical)
    squares = np.random.default_rng(7).chisquare(1, size=(4000, 200)) * (1 + 50 * effect**2)
    assert np.mean(squares.mean(axis=1) > critical) == pytest.approx(0.8, abs=0.03)


def test_with_few_bags_no_effect_is_detected_reliably():
    assert detectable_effect(np.full(1, 10.0), 4.0) == np.inf
