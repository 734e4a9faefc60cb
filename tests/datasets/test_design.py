from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from decorrupt.datasets import design_bags
from decorrupt.theory import information


def between(values, bags):
    sizes = np.bincount(bags)
    means = np.bincount(bags, values) / sizes
    return float(np.sum(sizes * (means - np.mean(values)) ** 2))


def all_partitions(n_rows, size):
    """Bags of consecutive rows, each of `size` rows or more."""
    for n_cuts in range(n_rows // size):
        for cuts in combinations(range(size, n_rows - size + 1), n_cuts):
            edges = [0, *cuts, n_rows]
            if min(np.diff(edges)) >= size:
                yield np.repeat(np.arange(len(edges) - 1), np.diff(edges))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(-5, 5).map(lambda v: round(v, 2)), min_size=4, max_size=10),
    st.integers(1, 4),
)
def test_bags_are_the_best_of_all(values, size):
    values = np.array(values)
    bags = design_bags(np.zeros((len(values), 1)), values, size=size)
    assert np.bincount(bags).min() >= size
    ordered = np.sort(values)
    best = max(between(ordered, one) for one in all_partitions(len(values), size))
    assert between(values, bags) == pytest.approx(best, abs=1e-9)


def test_designed_bags_contain_more_information_than_random_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    labels = X[:, 0] + rng.normal(size=500) > 0
    found = {}
    for name, bags in {
        "random": rng.permutation(500) // 20,
        "designed": design_bags(X, X[:, 0], size=20),
    }.items():
        sizes = np.bincount(bags)
        found[name] = float(information(sizes, np.bincount(bags, labels) / sizes))
    assert found["designed"] > 5 * found["random"]


def test_without_a_score_the_main_direction_is_used():
    rng = np.random.default_rng(1)
    factor = rng.normal(size=60)
    X = factor[:, None] + 0.01 * rng.normal(size=(60, 4))
    bags = design_bags(X, size=20)
    expected = design_bags(X, factor, size=20)
    assert np.mean(bags == expected) > 0.9 or np.mean(bags == expected.max() - expected) > 0.9
    assert design_bags(sparse.csr_matrix(X), size=20).shape == (60,)
    assert design_bags(X[:, :1], size=30).max() == 1


@pytest.mark.parametrize(
    ("score", "size", "message"),
    [
        ([0.1, 0.2], 1, "3 rows"),
        ([0.1, np.nan, 0.2], 1, "finite"),
        (None, 4, "size=4"),
        (None, 0, "size=0"),
    ],
)
def test_bad_arguments_are_named(score, size, message):
    with pytest.raises(ValueError, match=message):
        design_bags(np.eye(3), score, size=size)
