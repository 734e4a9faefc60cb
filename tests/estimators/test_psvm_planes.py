"""Label planes of conv-∝SVM: counts, most violated labels against all labellings, directions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from decorrupt.corruption import Strata
from decorrupt.estimators.psvm_planes import (
    count_ranges,
    cutting_planes,
    most_violated,
    principal_directions,
)
from oracles.convex_psvm import allowed_labellings, box_maximum, label_matrix


def make_strata(bags, proportions):
    return Strata(np.arange(len(proportions)), np.asarray(bags), np.asarray(proportions, float))


@pytest.mark.parametrize(
    ("size", "proportion", "tolerance", "lowest", "highest"),
    [
        (10, 0.3, 0.0, 3, 3),
        (10, 0.3, 0.1, 2, 4),
        (10, 0.3, 0.09, 3, 3),
        (3, 0.333, 0.0, 1, 1),  # a rounded proportion: the nearest count
        (4, 0.3, 0.01, 1, 1),
        (4, 0.3, 0.05, 1, 1),
        (4, 0.3, 0.25, 1, 2),
        (5, 0.5, 0.0, 2, 3),  # both are equally near
        (5, 0.05, 0.0, 0, 0),
        (4, 0.5, 1.0, 0, 4),
    ],
)
def test_allowed_counts(size, proportion, tolerance, lowest, highest):
    ranges = count_ranges(make_strata(np.zeros(size, dtype=int), [proportion]), tolerance)
    assert (ranges.lowest.tolist(), ranges.highest.tolist()) == ([lowest], [highest])


@st.composite
def weighted_directions(draw):
    """Up to 10 rows in up to 3 bags; α is often 0, and values tie."""
    bags = draw(st.lists(st.integers(0, 2), min_size=1, max_size=10))
    bags = np.unique(bags, return_inverse=True)[1]
    counts = [draw(st.integers(0, int(np.sum(bags == k)))) for k in range(bags.max() + 1)]
    n_directions = draw(st.integers(1, 3))
    entry = st.integers(-4, 4).map(float) | st.floats(-3, 3)
    entries = draw(
        st.lists(entry, min_size=len(bags) * n_directions, max_size=len(bags) * n_directions)
    )
    alpha = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)
    dual = draw(st.lists(alpha, min_size=len(bags), max_size=len(bags)))
    shares = np.array(counts) / np.bincount(bags)
    return np.array(dual), np.reshape(entries, (len(bags), n_directions)), bags, shares


@given(weighted_directions(), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_the_most_violated_labels_are_the_best_of_all_allowed_labellings(drawn, tolerance):
    dual, directions, bags, shares = drawn
    allowed = allowed_labellings(bags, shares, tolerance)
    labels = most_violated(dual, directions, count_ranges(make_strata(bags, shares), tolerance))
    values = np.abs((allowed * dual) @ directions).max(axis=1)
    assert np.abs((labels * dual) @ directions).max() == pytest.approx(values.max(), abs=1e-12)
    assert (allowed == labels).all(axis=1).any()
