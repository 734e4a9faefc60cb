"""Default folds for few and for many bags."""

import numpy as np
import pytest

from decorrupt.model_selection import bag_folds
from decorrupt.model_selection.folds import source_folds
from decorrupt.observed import as_observed


def test_whole_bags_are_held_out_where_there_are_enough():
    bags = np.repeat(np.arange(6), 5)
    folds = bag_folds(np.linspace(0, 1, 6)[bags], bags=bags, n_splits=3, random_state=0)
    assert len(folds) == 3
    for train, test in folds:
        assert not set(bags[train]) & set(bags[test])


def test_rows_of_every_bag_are_held_out_where_bags_are_few():
    bags = np.repeat([0, 1], 20)
    folds = bag_folds(np.array([0.2, 0.8])[bags], bags=bags, n_splits=4, random_state=0)
    assert len(folds) == 4
    assert all(len(set(bags[test])) == 2 for _, test in folds)


def test_too_few_rows_to_hold_any_out_are_said_to_be_too_few():
    with pytest.raises(ValueError, match="2 rows in 2 bags are too few"):
        bag_folds([0.2, 0.8], bags=["a", "b"])


def test_folds_of_sources_split_every_stratum():
    labels = np.repeat([0, 1], 10)
    noisy = as_observed(labels, noise_rates=(0.1, 0.1))
    for _, test in source_folds(noisy, 5, 0):
        assert np.bincount(labels[test]).tolist() == [2, 2]
    given = [(np.arange(10), np.arange(10, 20))]
    assert source_folds(noisy, given) == given
