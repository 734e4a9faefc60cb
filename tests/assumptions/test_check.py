import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from decorrupt import check_assumptions


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
