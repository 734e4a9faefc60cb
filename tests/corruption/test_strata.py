"""Reading bags: ids of any type, one proportion per bag, and error messages."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import decorrupt
from decorrupt.corruption import (
    Strata,
    bag_targets,
    factorize,
    strata_from_bags,
    strata_from_labels,
)

# Every container holds the rows b, a, b, c.
STRING_IDS = {
    "list": ["b", "a", "b", "c"],
    "tuple": ("b", "a", "b", "c"),
    "array": np.array(["b", "a", "b", "c"]),
    "object array": np.array(["b", "a", "b", "c"], dtype=object),
    "column": np.array([["b"], ["a"], ["b"], ["c"]]),
    "pandas Series": pd.Series(["b", "a", "b", "c"], index=[9, 9, 3, 4]),
    "pandas frame": pd.DataFrame({"bag": ["b", "a", "b", "c"]}),
    "pandas index": pd.Index(["b", "a", "b", "c"]),
    "categorical": pd.Categorical(["b", "a", "b", "c"], categories=["c", "b", "unused", "a"]),
    "categorical Series": pd.Series(["b", "a", "b", "c"], dtype="category"),
    "polars Series": pl.Series(["b", "a", "b", "c"]),
    "polars categorical": pl.Series(["b", "a", "b", "c"], dtype=pl.Categorical),
}
BY_BAG = {"a": 0.1, "b": 0.2, "c": 0.7}
BY_ROW = [0.2, 0.1, 0.2, 0.7]

string_ids = pytest.mark.parametrize("bags", STRING_IDS.values(), ids=list(STRING_IDS))


def roundtrip(values):
    ids, codes = factorize(values, "bags")
    return [ids.tolist()[code] for code in codes]


class TestFactorize:
    @string_ids
    def test_strings(self, bags):
        ids, codes = factorize(bags, "bags")
        assert ids.tolist() == ["a", "b", "c"]
        assert codes.tolist() == [1, 0, 1, 2]
        assert codes.dtype == np.intp

    @pytest.mark.parametrize(
        "values",
        [
            [30, 7, 30],
            np.array([30, 7, 30], dtype=np.uint8),
            [3.5, -2.0, 3.5],
            [True, False, True],
            pd.Series([30, 7, 30], dtype="Int64"),
            pl.Series([30, 7, 30]),
        ],
        ids=["list", "uint8", "floats", "bools", "pandas Int64", "polars"],
    )
    def test_numbers_are_sorted(self, values):
        ids, codes = factorize(values, "bags")
        assert ids.tolist() == sorted(set(values))
        assert codes.tolist() == [1, 0, 1]

    def test_tuples_stay_whole(self):
        values = [("x", 2), ("x", 1), ("x", 2), ("w", 9)]
        ids, codes = factorize(values, "bags")
        assert ids.tolist() == [("w", 9), ("x", 1), ("x", 2)]
        assert codes.tolist() == [2, 1, 2, 0]

    def test_tuples_of_different_lengths(self):
        values = [(1, 2), (1,), (1, 2), ()]
        assert roundtrip(values) == values

    def test_tuples_in_a_pandas_series(self):
        values = [("x", 2), ("x", 1), ("x", 2)]
        assert roundtrip(pd.Series(values)) == values

    @pytest.mark.parametrize("container", [list, tuple, pd.Series])
    def test_ids_of_several_types_keep_apart_and_in_order_of_appearance(self, container):
        """Numpy alone would read 1 and "1" as one id."""
        values = ["1", 1, (1,), "1", 1]
        ids, codes = factorize(container(values), "bags")
        assert ids.tolist() == ["1", 1, (1,)]
        assert codes.tolist() == [0, 1, 2, 0, 1]

    @pytest.mark.parametrize("container", [list, tuple, pd.Series])
    def test_a_number_and_its_text_are_two_ids(self, container):
        ids, codes = factorize(container([1, "1", 2]), "bags")
        assert len(ids) == 3
        assert codes.tolist() == [0, 1, 2]

    def test_dates(self):
        days = pd.Series(pd.to_datetime(["2020-03-02", "2020-03-01", "2020-03-02"]))
        ids, codes = factorize(days, "bags")
        assert len(ids) == 2
        assert codes.tolist() == [1, 0, 1]

    @pytest.mark.parametrize(
        "values",
        [
            [1.0, math.nan, 2.0],
            ["a", None, "b"],
            ["a", math.nan, "b"],
            ("a", math.nan, "b"),
            ("a", None, "b"),
            np.array([1.0, np.nan, 2.0]),
            np.array(["a", None, "b"], dtype=object),
            pd.Series(["a", None, "b"]),
            pd.Series([1, None, 2], dtype="Int64"),
            pd.Series(["a", None, "b"], dtype="string"),
            pd.Categorical(["a", None, "b"]),
            pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-02"])),
            np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="datetime64[ns]"),
            pl.Series(["a", None, "b"]),
            pl.Series([1, None, 2]),
        ],
        ids=[
            "list of floats",
            "list None",
            "list nan",
            "tuple nan",
            "tuple None",
            "float array",
            "object array",
            "pandas",
            "pandas Int64",
            "pandas string",
            "categorical",
            "NaT",
            "NaT in ns",
            "polars",
            "polars ints",
        ],
    )
    def test_missing_id_names_argument_and_row(self, values):
        with pytest.raises(ValueError, match="sources has no id in row 1: every row needs"):
            factorize(values, "sources")

    def test_two_ids_a_row(self):
        with pytest.raises(ValueError, match=r"bags must hold one id per row, got shape \(2, 2\)"):
            factorize([[1, 2], [3, 4]], "bags")


class TestBagTargets:
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


class TestStrataFromBags:
    @string_ids
    def test_one_stratum_a_bag(self, bags):
        strata = strata_from_bags(bags, BY_ROW)
        assert strata.ids.tolist() == ["a", "b", "c"]
        assert strata.sizes.tolist() == [1, 2, 1]
        assert strata.proportions.tolist() == [0.1, 0.2, 0.7]
        assert strata.row_stratum.tolist() == [1, 0, 1, 2]

    def test_undoes_bag_targets(self):
        bags = np.random.default_rng(0).permutation(np.repeat(["u", "v", "w"], [3, 1, 5]))
        by_bag = {"u": 1 / 3, "v": 0.0, "w": 1.0}
        strata = strata_from_bags(bags, bag_targets(bags, by_bag))
        assert dict(zip(strata.ids.tolist(), strata.proportions.tolist(), strict=True)) == by_bag
        assert strata.sizes.tolist() == [3, 1, 5]

    @pytest.mark.parametrize("bad", [-0.1, 1.0001, 55, math.nan, math.inf])
    def test_not_a_proportion_names_row_value_and_bag(self, bad):
        with pytest.raises(ValueError, match=rf"y\[2\] = {bad:g} \(bag 'b'\) is not a proportion"):
            strata_from_bags(["a", "b", "b"], [0.5, 0.2, bad])

    def test_bags_are_named_as_the_caller_wrote_them(self):
        with pytest.raises(ValueError, match=r"\(bag 7\)"):
            strata_from_bags(np.array([7, 8]), [2.0, 0.5])
        with pytest.raises(ValueError, match=r"\(bag \('x', 1\)\)"):
            strata_from_bags([("x", 1), ("x", 2)], [2.0, 0.5])

    def test_differing_within_a_bag_names_the_bag_and_both_ends(self):
        with pytest.raises(ValueError, match=r"y differs within bag 'b' \(from 0.2 to 0.9\)"):
            strata_from_bags(["a", "b", "b", "b"], [0.5, 0.2, 0.9, 0.3])

    def test_rounding_within_a_bag_is_forgiven(self):
        third = 1 / 3
        strata = strata_from_bags([0, 0, 1], [third, float(np.float32(third)), 1.0])
        assert strata.proportions == pytest.approx([third, 1.0], abs=1e-7)

    @pytest.mark.parametrize("y", [[0.1], [0.1, 0.1], [0.1, 0.1, 0.2, 0.2], [0.1, 0.1, 0.2, 7.0]])
    def test_wrong_length_says_both_lengths(self, y):
        with pytest.raises(ValueError) as caught:
            strata_from_bags(["a", "a", "b"], y)
        message = str(caught.value)
        assert "y" in message.split()
        assert "bags" in message
        assert str(len(y)) in message
        assert "3" in message

    def test_missing_id(self):
        with pytest.raises(ValueError, match="bags has no id in row 0"):
            strata_from_bags([None, "a"], [0.1, 0.1])

    def test_the_ends_are_proportions(self):
        assert strata_from_bags([0, 1], [0, 1]).proportions.tolist() == [0, 1]


class TestStrata:
    def test_clean_labels_are_two_pure_strata(self):
        strata = strata_from_labels(np.array([1, 0, 0, 1, 1]), np.array([-1, 1]))
        assert strata.proportions.tolist() == [0, 1]
        assert strata.sizes.tolist() == [2, 3]
        assert strata.row_stratum.tolist() == [1, 0, 0, 1, 1]

    def test_a_stratum_without_rows_has_size_zero(self):
        strata = Strata(np.array(["a", "b"]), np.array([0, 0]), np.array([0.1, 0.2]))
        assert strata.sizes.tolist() == [2, 0]


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

    def test_strata_hold_one_row_of_shares_per_bag(self):
        strata = strata_from_bags(self.BAGS, self.BY_ROW)
        assert strata.ids.tolist() == ["a", "b", "c"]
        np.testing.assert_allclose(strata.proportions, self.BY_BAG)
        np.testing.assert_allclose(strata.row_proportions, self.BY_ROW)
        some = strata.take(np.array([0, 3]))
        assert some.ids.tolist() == ["b", "c"]
        np.testing.assert_allclose(some.proportions, self.BY_BAG[1:])

    def test_single_precision_is_forgiven_and_made_to_sum_to_one(self):
        thirds = np.full((4, 3), 1 / 3, dtype=np.float32)
        strata = strata_from_bags([0, 0, 1, 1], thirds)
        np.testing.assert_allclose(strata.proportions.sum(axis=1), 1, rtol=1e-15)

    @pytest.mark.parametrize("bad", [[0.5, 0.4, 0.0], [1.2, -0.2, 0.0], [math.nan, 0.5, 0.5]])
    def test_shares_that_do_not_sum_to_one_name_row_and_bag(self, bad):
        with pytest.raises(ValueError, match=r"y\[2\] = \[.*\(bag 'b'\).*sum to 1 \(within 1e-06"):
            strata_from_bags(self.BAGS, [*self.BY_ROW[:2], bad, self.BY_ROW[3]])

    def test_differing_within_a_bag_names_bag_and_column(self):
        rows = [*self.BY_ROW[:2], [0.5, 0.4, 0.1], self.BY_ROW[3]]
        with pytest.raises(ValueError, match=r"within bag 'b' \(column 1: from 0.4 to 0.5\)"):
            strata_from_bags(self.BAGS, rows)

    def test_one_column_is_not_several_classes(self):
        with pytest.raises(ValueError, match="one entry per row"):
            strata_from_bags(["a", "b"], [[0.5], [1.0]])
