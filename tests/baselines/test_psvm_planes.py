"""Label planes of conv-∝SVM: counts, most violated labels against all labellings, directions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from decorrupt.baselines.psvm_planes import (
    count_ranges,
    cutting_planes,
    most_violated,
    principal_directions,
)
from decorrupt.baselines.psvm_relaxation import solve_saddle
from helpers.bags import rows_in_bags
from oracles.convex_psvm import allowed_labellings, box_maximum, label_matrix


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
    ranges = count_ranges(rows_in_bags(np.zeros(size, dtype=int), [proportion]), tolerance)
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
    labels = most_violated(dual, directions, count_ranges(rows_in_bags(bags, shares), tolerance))
    values = np.abs((allowed * dual) @ directions).max(axis=1)
    assert np.abs((labels * dual) @ directions).max() == pytest.approx(values.max(), abs=1e-12)
    assert (allowed == labels).all(axis=1).any()


def centred(gram):
    means = gram.mean(axis=0)
    return gram - means - means[:, None] + means.mean()


def test_directions_keep_the_trace_and_at_least_fifty():
    X = np.random.default_rng(0).normal(size=(120, 2))
    smooth, sharp = rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=50.0)
    assert principal_directions(smooth)[1].shape == (120, 50)
    directions = principal_directions(sharp)[1]
    assert 50 < directions.shape[1] < 120
    assert np.sum(directions**2) >= 0.9 * np.trace(centred(sharp))
    assert np.sum(directions[:, :-1] ** 2) < 0.9 * np.trace(centred(sharp))
    few = principal_directions(smooth[:20, :20])[1]
    np.testing.assert_allclose(few @ few.T, centred(smooth[:20, :20]), atol=1e-8)


def test_a_constant_added_to_the_kernel_does_not_change_the_directions():
    gram = rbf_kernel(np.random.default_rng(0).normal(size=(80, 2)), gamma=0.5)
    found, moved = principal_directions(gram)[1], principal_directions(gram + 100)[1]
    np.testing.assert_allclose(np.abs(moved[:, :5]), np.abs(found[:, :5]), atol=1e-6)


def test_negative_eigenvalues_by_rounding_are_removed():
    X = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    gram = (X @ X.T).astype(float)
    assert np.linalg.eigvalsh(gram)[0] < 0
    shifted, _ = principal_directions(gram)
    assert np.linalg.eigvalsh(shifted)[0] >= 0
    np.testing.assert_allclose(shifted, gram, atol=1e-5)


@pytest.mark.parametrize("gram", [np.diag([2.0, 1.0, -0.5]), np.diag([1.0, 1.0, 1.0]) - 0.9])
def test_other_negative_eigenvalues_are_refused(gram):
    """The second has one only in the direction that centring removes."""
    with pytest.raises(ValueError, match="kernel must be positive semidefinite"):
        principal_directions(gram)


@pytest.fixture
def small_case():
    """Eight rows in three bags: 18 allowed labellings."""
    rng = np.random.default_rng(1)
    bags = np.repeat([0, 1, 2], [3, 3, 2])
    shares = np.array([1 / 3, 2 / 3, 0.5])
    gram = rbf_kernel(rng.normal(size=(8, 2)), gamma=0.4)
    return gram, bags, shares


@pytest.mark.parametrize("cost", [1.0, 10.0])
def test_planes_lower_the_objective_down_to_that_of_the_whole_hull(small_case, cost):
    """The hull of all labellings is below every subset of them and below every single one."""
    gram, bags, shares = small_case
    ranges = count_ranges(rows_in_bags(bags, shares), 0.0)
    found = cutting_planes(gram, ranges, cost, max_planes=30, tol=0.0)
    assert 1 < len(found.history) == found.planes.shape[1]
    assert (np.diff(found.history) <= 1e-6 * found.history[0]).all()
    allowed = allowed_labellings(bags, shares, 0.0)
    assert len(allowed) == 18
    hull = solve_saddle(gram, allowed.T.astype(float), cost).value
    single = min(box_maximum(gram * np.outer(y, y), cost)[0] for y in allowed)
    assert hull <= single * (1 + 1e-7)
    assert hull * (1 - 1e-7) <= found.history[-1] <= hull * 1.01


def test_planes_differ_and_their_number_is_limited(small_case):
    gram, bags, shares = small_case
    ranges = count_ranges(rows_in_bags(bags, shares), 0.0)
    many = cutting_planes(gram, ranges, 10.0, max_planes=30, tol=0.0)
    assert len(np.unique(many.planes, axis=1).T) == many.planes.shape[1]
    few = cutting_planes(gram, ranges, 10.0, max_planes=2, tol=0.0)
    np.testing.assert_array_equal(few.planes, many.planes[:, :2])
    first = cutting_planes(gram, ranges, 10.0, max_planes=30, tol=1.0)
    assert first.planes.shape[1] == 2, "no decrease can be more than all of it"


def test_soft_labels_are_the_top_eigenvector(small_case):
    gram, bags, shares = small_case
    ranges = count_ranges(rows_in_bags(bags, shares), 0.0)
    found = cutting_planes(gram, ranges, 10.0, max_planes=4, tol=0.0)
    values, vectors = np.linalg.eigh(label_matrix(found.planes, found.saddle.weights))
    expected = vectors[:, -1] * np.sqrt(values[-1])
    soft = found.soft_labels()
    np.testing.assert_allclose(soft, np.sign(soft @ expected) * expected, atol=1e-9)
    assert soft @ (found.planes @ found.saddle.weights) > 0
