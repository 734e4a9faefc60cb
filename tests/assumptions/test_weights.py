"""The tests of assumptions with rows that represent many."""

import numpy as np
import pytest

from decorrupt import check_assumptions


def table(by_column):
    """Return categories, bags and people; bags by a column of X, or at random."""
    rng = np.random.default_rng(0)
    n_people, n_bags = 6000, 30
    X = rng.integers(0, 4, (n_people, 2)).astype(float)
    labels = rng.random(n_people) < 1 / (1 + np.exp(1.5 - X[:, 0]))
    bags = rng.integers(0, n_bags, n_people)
    if by_column:
        bags = (8 * X[:, 0] + rng.integers(0, 7, n_people)).astype(int)
    share = np.bincount(bags, labels) / np.maximum(np.bincount(bags), 1)
    return X, share[bags], bags


def merged(X, y, bags):
    """Return one row per bag and category, and how many rows it represents."""
    rows, weights = np.unique(np.column_stack([X, y, bags]), axis=0, return_counts=True)
    return rows[:, :2], rows[:, 2], rows[:, 3], weights


@pytest.mark.parametrize("by_column", [False, True])
def test_weights_lead_to_the_decisions_of_repeated_rows(by_column):
    X, y, bags = table(by_column)
    expected = check_assumptions(X, y, bags=bags, random_state=0)
    rows, shares, own_bags, weights = merged(X, y, bags)
    assert len(rows) < len(X) / 5
    found = check_assumptions(rows, shares, bags=own_bags, sample_weight=weights, random_state=0)
    assert found.common_classes_rejected == expected.common_classes_rejected == by_column
    assert found.common_probabilities_rejected == expected.common_probabilities_rejected
    np.testing.assert_allclose(
        found.class_means.dispersions, expected.class_means.dispersions, rtol=1e-4
    )
    np.testing.assert_allclose(
        found.count_dispersion.dispersion, expected.count_dispersion.dispersion, rtol=0.15
    )
    assert found.count_dispersion.n_rows == expected.count_dispersion.n_rows == len(X)
