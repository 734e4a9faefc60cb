"""Groups of bags: how each bag is computed, and bags of unequal sizes that share passes."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decorrupt.observed import GeometricNoise, LaplaceNoise, Observed
from decorrupt.risks import count_risk
from decorrupt.risks.class_counts import possible_vectors
from decorrupt.risks.groups import PASS_COST, padded_sizes
from oracles.counts import make_observed, random_ranges


def kernel_names(risk):
    """Return how the bags of each group are computed."""
    kernels = [group.log_prob_and_slope for group in risk.groups]
    return [
        kernel.func.__name__ if hasattr(kernel, "func") else type(kernel.__self__).__name__
        for kernel in kernels
    ]


def test_every_kernel_of_two_classes():
    sizes, counts = [1, 1, 2, 3, 3, 5, 12, 12, 4, 7, 20], [0, 1, 1, 1, 2, 4, 6, 1, 4, 0, 13]
    noise = {**dict.fromkeys(range(11)), 5: 5, 6: 2, 7: LaplaceNoise(2), 9: GeometricNoise(1)}
    bags = np.random.default_rng(0).permutation(np.repeat(np.arange(11), sizes))
    observed = Observed.from_bags((np.array(counts) / sizes)[bags], bags, count_noise=noise)
    risk = count_risk(observed, large_bags=10)
    kernels = ["tilted_normal", "tilted_weights", "poisson_binomial", "weighted_counts"]
    assert kernel_names(risk) == ["sum_rows", *kernels]


@pytest.mark.parametrize(
    ("counts", "kernel"),
    [
        ([9, 0, 0], "sum_rows"),
        ([0, 400, 0], "sum_rows"),
        ([1] * 9, "ExactCounts"),
        ([7, 7, 7], "ExactCounts"),
        ([8, 7, 7], "NormalCounts"),
        ([1] * 10, "NormalCounts"),
        ([255, 1, 0], "ExactCounts"),
        ([40] * 60, "NormalCounts"),
    ],
)
def test_how_a_bag_is_computed_depends_on_its_count_vectors(counts, kernel):
    assert kernel_names(count_risk(make_observed([counts]))) == [kernel]


def cost(sizes, padded):
    assert (padded >= sizes).all()
    return PASS_COST * len(np.unique(padded)) + np.sum(padded.astype(float) ** 2)


def every_padding(sizes):
    """Yield all ways to pad bags to existing sizes: the largest, and any subset of the others."""
    *others, largest = np.unique(sizes)
    for n_kept in range(len(others) + 1):
        for kept in combinations(others, n_kept):
            steps = np.array([*kept, largest])
            yield steps[np.searchsorted(steps, sizes)]


@given(st.lists(st.sampled_from([2, 3, 17, 40, 90, 150, 256]), min_size=1, max_size=60))
def test_passes_are_the_cheapest_of_all(sizes):
    sizes = np.array(sizes)
    lowest = min(cost(sizes, padded) for padded in every_padding(sizes))
    assert cost(sizes, padded_sizes(sizes)) == lowest


def test_every_row_of_a_bag_has_its_place():
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 60, 40)
    bags = rng.permutation(np.repeat(np.arange(40), sizes))
    observed = Observed.from_bags(1 / sizes[bags], bags)
    placed = [
        (observed.ids[bag], row)
        for group in count_risk(observed).groups
        for bag, column in zip(group.bags, group.rows.T, strict=True)
        for row in column[column >= 0]
    ]
    assert sorted(placed) == sorted(zip(bags, range(len(bags)), strict=True))


@given(seed=st.integers(0, 100))
def test_all_possible_vectors_are_listed_once(seed):
    low, high = random_ranges(np.random.default_rng(seed), 9, 4, 3)
    vectors = possible_vectors(low, high, 9)
    boxes = product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
    assert sorted(map(tuple, vectors.tolist())) == sorted(k for k in boxes if sum(k) == 9)
