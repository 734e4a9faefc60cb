"""From one proportion per bag to one per row: containers, ids, messages."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import decorrupt
from decorrupt.observed import bag_targets
from helpers.bag_ids import STRING_IDS

BY_BAG = {"a": 0.1, "b": 0.2, "c": 0.7}
BY_ROW = [0.2, 0.1, 0.2, 0.7]


class TestOneShare:
    @pytest.mark.parametrize(
        "proportions",
        [
            BY_BAG,
            pd.Series(BY_BAG),
            pd.Series(BY_BAG)[["c", "a", "b"]],
            [0.1, 0.2, 0.7],
            np.array([0.1, 0.2, 0.7]),
            pl.Series([0.1, 0.2, 0.7]),
        ],
        ids=["dict", "Series", "shuffled Series", "list", "array", "polars Series"],
    )
    def test_every_row_gets_its_bags_proportion(self, proportions):
        for container, bags in STRING_IDS.items():
            assert bag_targets(bags, proportions).tolist() == BY_ROW, container

    def test_numbered_bags_read_an_array_by_number(self):
        assert bag_targets([2, 0, 1, 2], [0.5, 0.25, 1.0]).tolist() == [1.0, 0.5, 0.25, 1.0]

    def test_numpy_numbers_find_python_keys(self):
        assert bag_targets(np.array([7, 3], dtype=np.int16), {3: 0.3, 7: 0.7}).tolist() == [
            0.7,
            0.3,
        ]

    def test_tuples_as_bags(self):
        bags = [("x", 1), ("y", 1), ("x", 1)]
        by_bag = {("x", 1): 0.4, ("y", 1): 0.6}
        assert bag_targets(bags, by_bag).tolist() == [0.4, 0.6, 0.4]
        assert bag_targets(bags, pd.Series(by_bag)).tolist() == [0.4, 0.6, 0.4]

    def test_mixed_ids(self):
        assert bag_targets([1, "1", 1], {1: 0.4, "1": 0.6}).tolist() == [0.4, 0.6, 0.4]

    @pytest.mark.parametrize("unit", ["s", "us", "ns"])
    def test_days_as_bags(self, unit):
        """Bags by date, proportions from a groupby: the index contains Timestamps."""
        days = pd.Series(pd.to_datetime(["2020-03-02", "2020-03-01", "2020-03-02"])).dt.as_unit(
            unit
        )
        shares = pd.Series([1.0, 0.0, 0.0]).groupby(days).mean()
        assert bag_targets(days, shares).tolist() == [0.5, 0.0, 0.5]

    def test_a_mapping_may_know_more_bags(self):
        assert bag_targets(["a"], BY_BAG).tolist() == [0.1]

    def test_a_frame_of_one_column_is_that_column(self):
        frame = pd.Series(BY_BAG, name="share").iloc[::-1].to_frame()
        assert bag_targets(["b", "a", "b", "c"], frame).tolist() == BY_ROW

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_a_frame_of_several_columns_is_refused_by_their_names(self, frame):
        table = frame({"bag": ["a", "b", "c"], "share": [0.1, 0.2, 0.7]})
        with pytest.raises(ValueError, match=r"columns 'bag', 'share': give the one column"):
            bag_targets(["b", "a", "b", "c"], table)

    def test_missing_bags_are_counted_and_the_first_named(self):
        with pytest.raises(
            ValueError, match="proportions are missing for 2 of 3 bags; the first is 'b'"
        ):
            bag_targets(["a", "b", "c"], {"a": 0.1, "z": 0.3})

    @pytest.mark.parametrize("proportions", [[0.1, 0.2], [0.1, 0.2, 0.3, 0.4], [[0.1, 0.2, 0.3]]])
    def test_wrong_length_says_how_many_bags_there_are(self, proportions):
        with pytest.raises(ValueError, match=r"proportions have shape .* but there are 3 bags"):
            bag_targets(["a", "b", "c"], proportions)

    def test_a_bag_twice_in_a_series_is_named(self):
        twice = pd.Series([0.1, 0.2, 0.3], index=["a", "b", "b"])
        with pytest.raises(ValueError, match="proportions contain bag 'b' more than once"):
            bag_targets(["a", "b"], twice)

    def test_missing_id(self):
        with pytest.raises(ValueError, match="bags has no id in row 1"):
            bag_targets(["a", None], BY_BAG)

    def test_public(self):
        assert decorrupt.bag_targets is bag_targets


class TestSeveralClasses:
    BAGS = ("b", "a", "b", "c")
    BY_BAG = ((0.1, 0.2, 0.7), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
    BY_ROW = (BY_BAG[1], BY_BAG[0], BY_BAG[1], BY_BAG[2])

    @pytest.mark.parametrize(
        "table",
        [
            dict(zip("abc", BY_BAG, strict=True)),
            np.array(BY_BAG),
            pd.DataFrame(BY_BAG, index=list("abc"), columns=["red", "green", "blue"]),
            pd.DataFrame(BY_BAG, index=list("abc")).loc[["c", "a", "b"]],
        ],
        ids=["mapping", "array", "frame", "shuffled frame"],
    )
    def test_every_row_gets_the_shares_of_its_bag(self, table):
        targets = bag_targets(self.BAGS, table)
        assert np.asarray(targets).tolist() == list(map(list, self.BY_ROW))
        if hasattr(table, "columns"):  # they become `classes_`
            assert targets.columns.tolist() == table.columns.tolist()

    def test_a_bag_that_a_frame_lacks_is_named(self):
        table = pd.DataFrame(self.BY_BAG, index=list("abz"))
        with pytest.raises(ValueError, match="missing for 1 of 3 bags; the first is 'c'"):
            bag_targets(self.BAGS, table)

    def test_a_bag_twice_in_a_frame_is_named(self):
        table = pd.DataFrame(self.BY_BAG, index=list("abb"))
        with pytest.raises(ValueError, match="contain bag 'b' more than once"):
            bag_targets(["a", "b"], table)

    def test_a_mapping_with_another_number_of_classes_is_named(self):
        with pytest.raises(
            ValueError, match=r"of bag 'b' have shape \(2,\), those of bag 'a' \(3,"
        ):
            bag_targets(["a", "b"], {"a": [0.1, 0.2, 0.7], "b": [0.5, 0.5]})
