"""Bags of unequal sizes share passes: the cost is minimal and every bag is included."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from decorrupt.observed import Observed
from decorrupt.risks.bag_rows import BagRows
from decorrupt.risks.two_class_groups import (
    PASS_COST,
    SmallBags,
    _filled_sizes,
    two_class_groups,
)


def cost(sizes, filled):
    assert (filled >= sizes).all()
    return PASS_COST * len(np.unique(filled)) + np.sum(filled.astype(float) ** 2)


def every_filling(sizes):
    """Yield all ways to pad bags to existing sizes: the largest, and any subset of the others."""
    *others, largest = np.unique(sizes)
    for n_kept in range(len(others) + 1):
        for kept in combinations(others, n_kept):
            steps = np.array([*kept, largest])
            yield steps[np.searchsorted(steps, sizes)]


@given(st.lists(st.sampled_from([2, 3, 17, 40, 90, 150, 256]), min_size=1, max_size=60))
def test_passes_are_the_cheapest_of_all(sizes):
    sizes = np.array(sizes)
    found = cost(sizes, _filled_sizes(sizes))
    assert found == min(cost(sizes, filled) for filled in every_filling(sizes))


def test_few_bags_share_one_pass_and_many_do_not():
    few = np.arange(11, 49)
    assert set(_filled_sizes(few)) == {48}
    many = np.repeat([10, 200], 1000)
    assert set(_filled_sizes(many)) == {10, 200}


def test_every_row_of_a_bag_has_its_place():
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 60, 40)
    bags = rng.permutation(np.repeat(np.arange(40), sizes))
    observed = Observed.from_bags(1 / sizes[bags], bags)
    groups = list(two_class_groups(BagRows(observed), observed.counts, large_bags="auto"))
    assert all(isinstance(group, SmallBags) for group in groups)
    placed = [
        (observed.ids[bag], row)
        for group in groups
        for bag, column in zip(group.bags, group.rows.T, strict=True)
        for row in column[column >= 0]
    ]
    assert sorted(placed) == sorted(zip(bags, range(len(bags)), strict=True))
