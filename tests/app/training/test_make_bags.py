import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.make_bags import cut_into_bags
from decorrupt.app.training.table import Table


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.arange(100),
            "town": rng.integers(0, 12, 100),
            "label": rng.choice(["y", "n"], 100),
        }
    )
    return Table(frame, "t.csv")


def shares(table, rows, column):
    """The share of "y" in every bag, from the labels by row id."""
    labels = table.frame.set_index("id")["label"].eq("y")
    return labels[rows["id"]].groupby(rows[column].to_numpy()).mean()


@pytest.mark.parametrize(
    "way", [{"bag_size": 8}, {"sizes": (3, 9)}, {"bag_size": 8, "proportions": (0.2, 0.6)}]
)
def test_rows_lose_their_label_and_bags_know_their_share(table, way):
    made = cut_into_bags(table, label_column="label", positive_label="y", seed=3, **way)
    assert list(made.rows) == ["bag", "id", "town"]
    true = shares(table, made.rows, "bag")
    np.testing.assert_allclose(made.bags["y"], true[made.bags["bag"]])
    np.testing.assert_array_equal(made.bags["rows"].sum(), len(made.rows))
    np.testing.assert_allclose(made.bags["n"] + made.bags["y"], 1)
    again = cut_into_bags(table, label_column="label", positive_label="y", seed=3, **way)
    pd.testing.assert_frame_equal(made.rows, again.rows)


def test_bags_by_a_column_keep_its_values(table):
    made = cut_into_bags(table, label_column="label", positive_label="y", by=["town"])
    assert list(made.rows) == ["id", "town"]
    true = shares(table, made.rows, "town")
    by_name = made.bags.set_index(made.bags["town"].astype(int))["y"]
    np.testing.assert_allclose(by_name[true.index], true)


def test_test_rows_are_held_out_with_their_labels(table):
    made = cut_into_bags(
        table, label_column="label", positive_label="y", bag_size=10, test_share=0.3
    )
    assert len(made.test) == 30
    assert "label" in made.test
    assert not set(made.test["id"]) & set(made.rows["id"])
    assert made.summary["n_left_out"] == 70 - len(made.rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bag_size": 8, "sizes": (2, 3)}, "t.csv: give exactly one of"),
        ({}, "exactly one of"),
        ({"bag_size": 200}, "too few for one bag"),
        ({"bag_size": 5, "bag_column": "town"}, "there is already a column 'town'"),
        ({"by": ["nowhere"]}, "there is no column 'nowhere'"),
        ({"bag_size": 100}, "only one bag"),
    ],
)
def test_what_cannot_be_made_is_said(table, options, message):
    with pytest.raises(TableError, match=message):
        cut_into_bags(table, label_column="label", positive_label="y", **options)


def test_designed_bags_by_a_score(table):
    table.frame["score"] = np.random.default_rng(1).normal(size=100)
    options = {"label_column": "label", "positive_label": "y", "by": ["score"], "design": 9}
    made = cut_into_bags(table, **options)
    assert list(made.rows) == ["bag", "id", "town", "score"]
    assert made.bags["rows"].between(9, 17).all()
    by_bag = made.rows.groupby("bag")["score"].agg(["min", "max"])
    assert (by_bag["max"].to_numpy()[:-1] <= by_bag["min"].to_numpy()[1:]).all(), "intervals"
    np.testing.assert_allclose(made.bags["y"], shares(table, made.rows, "bag"))


def test_information_of_random_bags_is_its_mean(table):
    made = cut_into_bags(table, label_column="label", positive_label="y", design=10)
    sizes, rng, found = made.bags["rows"].to_numpy(), np.random.default_rng(0), []
    labels = table.frame["label"].eq("y").to_numpy()
    bags = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(4000):
        share = np.bincount(bags, rng.permutation(labels)) / sizes
        found.append(np.sum(sizes * (share - labels.mean()) ** 2))
    std_error = np.std(found) / np.sqrt(4000)
    assert made.summary["random_information"] == pytest.approx(np.mean(found), abs=4 * std_error)


def test_designed_bags_refuse_scores_that_are_not_numbers(table):
    table.frame["score"] = ["0.5", "high"] * 50
    options = {"label_column": "label", "positive_label": "y", "by": ["score"], "design": 9}
    with pytest.raises(
        TableError, match=r"'score' of --by has no number in 50 rows \(first: row 2"
    ):
        cut_into_bags(table, **options)
    options["by"], options["design"] = [], 101
    with pytest.raises(TableError, match="size=101"):
        cut_into_bags(table, **options)
