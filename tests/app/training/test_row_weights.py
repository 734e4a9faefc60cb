"""A column of weights, and equal rows as one row."""

import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.roles import read_bags
from decorrupt.app.training.row_weights import merge_rows, repeat_rows, weigh_rows
from decorrupt.app.training.table import Table

COLUMNS = BagColumns(bag="bag", proportion="share")


def people(n_rows=600):
    rng = np.random.default_rng(0)
    bag = rng.integers(0, 6, n_rows)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m", None], n_rows),
            "old": rng.integers(0, 2, n_rows),
            "bag": bag,
            "share": (bag + 1) / 10,
        }
    )


def read(frame, weight_column=None):
    table = weigh_rows(Table(frame, "people.csv"), weight_column)
    rows = read_bags(table, None, COLUMNS)
    return rows, choose_features(table.frame, roles=rows.roles, table=table.name)


def test_equal_rows_of_a_bag_become_one():
    frame = people()
    rows, features = read(frame)
    merged = merge_rows(rows, features, "auto")
    names = ["sex", "old", "bag"]
    expected = frame.groupby(names, dropna=False).size()
    found = merged.table.frame.assign(people=merged.observed.weights).set_index(names)["people"]
    pd.testing.assert_series_equal(
        found.sort_index(), expected.sort_index(), check_names=False, check_index_type=False
    )
    np.testing.assert_array_equal(merged.observed.sizes, rows.observed.sizes)
    np.testing.assert_array_equal(merged.table.weights, merged.observed.weights)
    assert merged.notes[-1] == f"equal rows of a bag were merged: {len(expected)} represent 600"


def test_merged_rows_stay_in_their_order():
    """Random folds depend on it."""
    frame = people()
    merged = merge_rows(*read(frame)).table.frame
    expected = frame.drop_duplicates(["sex", "old", "bag"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(merged, expected)


def test_given_weights_are_added():
    frame = people()
    frame["people"] = np.arange(len(frame)) % 3
    merged = merge_rows(*read(frame, "people"))
    assert merged.observed.n_rows == frame["people"].sum()
    assert "people" not in merged.table.frame


def test_rows_stay_single_where_merging_would_change_the_model():
    rows, features = read(people())
    assert merge_rows(rows, features, "em") is rows


def test_different_rows_stay():
    frame = people()
    frame["income"] = np.arange(len(frame)) / 7
    rows, features = read(frame)
    assert merge_rows(rows, features) is rows


def test_rows_are_repeated_for_an_evaluation():
    frame = pd.DataFrame({"old": [0, 1, 2], "people": [2, 0, 1]})
    table = repeat_rows(Table(frame, "t.csv"), "people")
    assert table.frame["old"].tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2, 3], r"t.csv, row 2: column 'people' contains -2: a row represents at least 0"),
        ([1, None, 3], r"t.csv, row 2: column 'people' is empty, which is not a number of rows"),
        ([0, 0, 0], "t.csv: column 'people' contains zeros only"),
    ],
)
def test_bad_weights_are_named(weights, message):
    frame = pd.DataFrame({"old": [0, 1, 2], "people": weights})
    with pytest.raises(TableError, match=message):
        weigh_rows(Table(frame, "t.csv"), "people")


def test_rows_in_bags_need_whole_weights():
    table = Table(pd.DataFrame({"old": [0, 1, 2], "people": [0, 2, 4.5]}), "t.csv")
    words = r"t.csv, row 3: column 'people' contains 4.5: a row in a bag represents a whole"
    with pytest.raises(TableError, match=words):
        weigh_rows(table, "people", in_bags=True)
    assert weigh_rows(table, "people").weights.tolist() == [2, 4.5], "noisy labels can be weighted"


def test_an_evaluation_needs_whole_weights():
    frame = pd.DataFrame({"old": [0, 1], "people": [0.5, 1]})
    with pytest.raises(TableError, match="must contain whole numbers"):
        repeat_rows(Table(frame, "t.csv"), "people")
