"""Whole numbers as bag ids: the same codes as by sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from decorrupt.corruption import factorize


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
