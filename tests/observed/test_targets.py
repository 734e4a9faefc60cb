"""From one proportion per bag to one per row: containers, ids, messages."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import decorrupt
from decorrupt.observed import bag_targets
from helpers.bag_ids import STRING_IDS

BAGS = ("b", "a", "b", "c")
BY_BAG = {"a": 0.1, "b": 0.2, "c": 0.7}
BY_ROW = [0.2, 0.1, 0.2, 0.7]
SHARES = {"a": (0.1, 0.2, 0.7), "b": (0.5, 0.5, 0.0), "c": (0.0, 0.0, 1.0)}
FRAME = pd.DataFrame.from_dict(SHARES, orient="index", columns=["red", "green", "blue"])

TABLES = {
    "dict": BY_BAG,
    "dict with more bags": BY_BAG | {"z": 1.0},
    "Series": pd.Series(BY_BAG),
    "shuffled Series": pd.Series(BY_BAG)[["c", "a", "b"]],
    "frame of one column": pd.Series(BY_BAG, name="share").iloc[::-1].to_frame(),
    "list": [0.1, 0.2, 0.7],
    "array": np.array([0.1, 0.2, 0.7]),
    "polars Series": pl.Series([0.1, 0.2, 0.7]),
}


@pytest.mark.parametrize("proportions", TABLES.values(), ids=TABLES)
def test_every_row_gets_its_bags_proportion(proportions):
    for container, bags in STRING_IDS.items():
        assert bag_targets(bags, proportions).tolist() == BY_ROW, container


@pytest.mark.parametrize(
    ("bags", "proportions", "by_row"),
    [
        ([2, 0, 1, 2], [0.5, 0.25, 1.0], [1.0, 0.5, 0.25, 1.0]),
        (np.array([7, 3], dtype=np.int16), {3: 0.3, 7: 0.7}, [0.7, 0.3]),
        ([("x", 1), ("y", 1)], {("x", 1): 0.4, ("y", 1): 0.6}, [0.4, 0.6]),
        ([("x", 1), ("y", 1)], pd.Series({("x", 1): 0.4, ("y", 1): 0.6}), [0.4, 0.6]),
        ([1, "1", 1], {1: 0.4, "1": 0.6}, [0.4, 0.6, 0.4]),
    ],
    ids=["numbers", "numpy numbers", "tuples", "tuples in a Series", "mixed"],
)
def test_ids_of_other_types(bags, proportions, by_row):
    assert bag_targets(bags, proportions).tolist() == by_row


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_days_as_bags(unit):
    """Bags by date, proportions from a groupby: the index contains Timestamps."""
    days = pd.Series(pd.to_datetime(["2020-03-02", "2020-03-01", "2020-03-02"])).dt.as_unit(unit)
    shares = pd.Series([1.0, 0.0, 0.0]).groupby(days).mean()
    assert bag_targets(days, shares).tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize(
    "table",
    [SHARES, np.array(list(SHARES.values())), FRAME, FRAME.loc[["c", "a", "b"]]],
    ids=["mapping", "array", "frame", "shuffled frame"],
)
def test_every_row_gets_the_class_shares_of_its_bag(table):
    targets = bag_targets(BAGS, table)
    assert np.asarray(targets).tolist() == [list(SHARES[bag]) for bag in BAGS]
    if hasattr(table, "columns"):  # they become `classes_`
        assert targets.columns.tolist() == table.columns.tolist()


TWO_COLUMNS = {"bag": ["a", "b", "c"], "share": [0.1, 0.2, 0.7]}
BAD = [
    (pd.DataFrame(TWO_COLUMNS), r"columns 'bag', 'share': give the one column"),
    (pl.DataFrame(TWO_COLUMNS), r"columns 'bag', 'share': give the one column"),
    ({"a": 0.1, "z": 0.3}, r"proportions are missing for 2 of 3 bags; the first is 'b'"),
    (FRAME.rename(index={"c": "z"}), r"missing for 1 of 3 bags; the first is 'c'"),
    ([0.1, 0.2], r"proportions have shape \(2,\) but there are 3 bags"),
    ([0.1, 0.2, 0.3, 0.4], r"proportions have shape \(4,\) but there are 3 bags"),
    ([[0.1, 0.2, 0.3]], r"proportions have shape \(1, 3\) but there are 3 bags"),
    (pd.Series([0.1] * 4, index=list("abbc")), r"contain bag 'b' more than once"),
    (FRAME.loc[list("aabc")], r"contain bag 'a' more than once"),
    (SHARES | {"b": (0.5, 0.5)}, r"of bag 'b' have shape \(2,\), those of bag 'a' \(3,"),
]


@pytest.mark.parametrize(("proportions", "message"), BAD)
def test_tables_that_do_not_fit_name_the_bag(proportions, message):
    with pytest.raises(ValueError, match=message):
        bag_targets(BAGS, proportions)


def test_missing_id():
    with pytest.raises(ValueError, match="bags has no id in row 1"):
        bag_targets(["a", None], BY_BAG)


def test_public():
    assert decorrupt.bag_targets is bag_targets
