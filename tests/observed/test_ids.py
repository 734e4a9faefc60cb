"""Ids of any type as numbers: containers, tuples, dates, missing ids."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from decorrupt.observed import factorize
from helpers.bag_ids import STRING_IDS

string_ids = pytest.mark.parametrize("bags", STRING_IDS.values(), ids=list(STRING_IDS))


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
        for others in (pd.Series(values), [(1, 2), (1,), (1, 2), ()]):
            ids, codes = factorize(others, "bags")
            assert [ids.tolist()[code] for code in codes] == list(others)

    @pytest.mark.parametrize("container", [list, tuple, pd.Series])
    def test_ids_of_several_types_keep_apart_and_in_order_of_appearance(self, container):
        """Numpy alone would read 1 and "1" as one id."""
        ids, codes = factorize(container(["1", 1, (1,), "1", 1]), "bags")
        assert ids.tolist() == ["1", 1, (1,)]
        assert codes.tolist() == [0, 1, 2, 0, 1]
        assert factorize(container([1, "1", 2]), "bags")[1].tolist() == [0, 1, 2]

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
    )
    def test_missing_id_names_argument_and_row(self, values):
        with pytest.raises(ValueError, match="sources has no id in row 1: every row needs"):
            factorize(values, "sources")

    def test_two_ids_a_row(self):
        with pytest.raises(ValueError, match=r"bags must hold one id per row, got shape \(2, 2\)"):
            factorize([[1, 2], [3, 4]], "bags")


@given(
    st.lists(st.integers(-100, 100), min_size=1, max_size=60),
    st.sampled_from([np.int8, np.int16, np.int32, np.int64, np.uint16]),
)
def test_codes_are_those_of_numpys_unique(values, dtype):
    array = np.array(values).astype(dtype)
    ids, codes = factorize(array, "bags")
    expected_ids, expected_codes = np.unique(array, return_inverse=True)
    assert_array_equal(ids, expected_ids)
    assert_array_equal(codes, expected_codes)
    assert (ids.dtype, codes.dtype) == (dtype, np.intp)


@pytest.mark.parametrize("values", [[-(2**63), 2**63 - 1], [5, 2**62, 5], []])
def test_ids_far_apart_need_no_table(values):
    ids, codes = factorize(np.array(values, dtype=np.int64), "bags")
    assert ids.tolist() == sorted(set(values))
    assert ids[codes].tolist() == values
