"""test_check"""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit

from decorrupt import (
    check_assumptions,
)
from decorrupt.assumptions.count_dispersion import check_count_dispersion
from decorrupt.assumptions.report import detectable_effect
from decorrupt.observed import Observed
from helpers.bags import gaussian_bags


@pytest.fixture(scope="module")
def by_feature():
    """Rows in bags of neighbouring income; the column `noise` does not matter."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["noise", "income"])
    labels = rng.random(400) < 1 / (1 + np.exp(-2 * X["income"]))
    bags = np.argsort(np.argsort(X["income"].to_numpy())) // 20
    return X, (np.bincount(bags, labels) / 20)[bags], bags


@pytest.fixture(scope="module")
def report(by_feature):
    X, y, bags = by_feature
    return check_assumptions(X, y, bags=bags, random_state=0)


def test_bags_by_a_feature_satisfy_the_second_assumption_only(report):
    assert report.common_classes_rejected
    assert report.common_probabilities_rejected is False
    assert [column.column for column in report.violating_columns] == ["income"]


def test_summary(report):
    lines = str(report).splitlines()
    assert lines[0] == "What the bags satisfy (400 rows in 20 bags)"
    assert lines[1] == "A. Common class distributions: rejected (p = 0.005)"
    assert "income" in lines[2]
    assert any(line.startswith("B. Common P(y|x): not rejected") for line in lines)
    assert sum("detectable with a probability of 80%" in line for line in lines) == 2


def test_table(report):
    table = report.to_frame()
    assert table["assumption"].tolist()[:2] == ["common class distributions", "common P(y|x)"]
    assert table["column"].tolist()[2:] == ["income", "noise"]
    assert table["rejected"].tolist() == [True, False, True, False]


def test_power_grows_with_the_bags(by_feature, report):
    X, y, bags = by_feature
    few = bags < 10
    small = check_assumptions(X[few], y[few], bags=bags[few], random_state=0)
    assert small.detectable_bag_effect > report.detectable_bag_effect
    assert small.detectable_class_difference > report.detectable_class_difference


def test_two_bags_cannot_be_tested():
    X = np.arange(12.0).reshape(6, 2)
    report = check_assumptions(X, [0.5] * 4 + [0, 0], bags=[0] * 4 + [1, 1])
    assert report.common_classes_rejected is None
    assert report.common_probabilities_rejected is None
    assert str(report).count("cannot be tested") == 2
    assert np.isnan(report.detectable_class_difference)
    assert report.to_frame()["p_value"].isna().all()


def test_sparse_rows_and_the_same_seed_give_the_same_report(by_feature):
    X, y, bags = by_feature
    dense = check_assumptions(X.to_numpy(), y, bags=bags, random_state=1)
    thin = check_assumptions(sparse.csr_matrix(X.to_numpy()), y, bags=bags, random_state=1)
    assert dense.class_means.p_value == thin.class_means.p_value
    assert dense.columns[0].column == "column 1"


@pytest.mark.parametrize(
    ("y", "bags", "message"),
    [
        ([0.5, 0.5, 2.0], [0, 0, 1], r"y\[2\] = 2"),
        ([0.5, 0.4, 1.0], [0, 0, 1], "differs within bag 0"),
        ([0.5, 0.5], [0, 0], "inconsistent"),
    ],
)
def test_bad_input_is_reported_as_in_fit(y, bags, message):
    with pytest.raises(ValueError, match=message):
        check_assumptions(np.zeros((3, 1)), y, bags=bags)


# --- bags that satisfy or violate each assumption


@pytest.mark.parametrize(
    ("case", "classes", "counts"),
    [("random", False, False), ("priors", False, True), ("feature", True, False)],
)
def test_what_is_violated_is_rejected(case, classes, counts):
    data = gaussian_bags(case, n_bags=60, seed=1)
    report = check_assumptions(data.X, data.y, bags=data.bags, random_state=0)
    assert report.common_classes_rejected is classes
    assert report.common_probabilities_rejected is counts


# --- rows that represent many


def table(by_column):
    """Return categories, bags and people; bags by a column of X, or at random."""
    rng = np.random.default_rng(0)
    n_people, n_bags = 6000, 30
    X = rng.integers(0, 4, (n_people, 2)).astype(float)
    labels = rng.random(n_people) < 1 / (1 + np.exp(1.5 - X[:, 0]))
    bags = rng.integers(0, n_bags, n_people)
    if by_column:
        bags = (8 * X[:, 0] + rng.integers(0, 7, n_people)).astype(int)
    share = np.bincount(bags, labels) / np.maximum(np.bincount(bags), 1)
    return X, share[bags], bags


def merged(X, y, bags):
    """Return one row per bag and category, and how many rows it represents."""
    rows, weights = np.unique(np.column_stack([X, y, bags]), axis=0, return_counts=True)
    return rows[:, :2], rows[:, 2], rows[:, 3], weights


@pytest.mark.parametrize("by_column", [False, True])
def test_weights_lead_to_the_decisions_of_repeated_rows(by_column):
    X, y, bags = table(by_column)
    expected = check_assumptions(X, y, bags=bags, random_state=0)
    rows, shares, own_bags, weights = merged(X, y, bags)
    assert len(rows) < len(X) / 5
    found = check_assumptions(rows, shares, bags=own_bags, sample_weight=weights, random_state=0)
    assert found.common_classes_rejected == expected.common_classes_rejected == by_column
    assert found.common_probabilities_rejected == expected.common_probabilities_rejected
    np.testing.assert_allclose(
        found.class_means.dispersions, expected.class_means.dispersions, rtol=1e-4
    )
    np.testing.assert_allclose(
        found.count_dispersion.dispersion, expected.count_dispersion.dispersion, rtol=0.15
    )
    assert found.count_dispersion.n_rows == expected.count_dispersion.n_rows == len(X)


# --- bags cut by a feature: a warning, the right method, no impossible estimate


# --- dispersion of counts


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
