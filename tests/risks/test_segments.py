"""Sums and extremes per bag, compared with a loop over the bags."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from decorrupt.risks.segments import Segments


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(0, 10_000))
def test_every_bag_by_itself(sizes, seed):
    rows = np.random.default_rng(seed).normal(size=sum(sizes))
    matrix = np.column_stack([rows, -rows, rows**2])
    bags = np.split(rows, np.cumsum(sizes)[:-1])
    segments = Segments(np.array(sizes))
    assert segments.starts.tolist() == [sum(sizes[:k]) for k in range(len(sizes))]
    for name in ("sum", "max", "min"):
        expected = [getattr(np, name)(bag) for bag in bags]
        assert_allclose(getattr(segments, name)(rows), expected, rtol=1e-12, atol=1e-14)
    assert_allclose(segments.product(rows), [np.prod(bag) for bag in bags], rtol=1e-12)
    assert_allclose(segments.sum(matrix)[:, 0], segments.sum(rows), rtol=1e-12, atol=1e-14)
    numbers = np.arange(len(sizes))
    assert segments.spread(numbers).tolist() == [k for k, n in enumerate(sizes) for _ in range(n)]
    assert_array_equal(segments.spread(matrix[: len(sizes)])[0], matrix[0])
