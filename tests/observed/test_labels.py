"""Reading labels: the order of the classes, bags of rows or of classes, messages."""

import numpy as np
import pytest

from decorrupt.observed import labels_as_bags, read_labels


def test_classes_are_sorted():
    classes, codes = read_labels(["no", "yes", "no"])
    assert classes.tolist() == ["no", "yes"]
    assert codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize("labels", [[0, 1, 1], [0, 2, 1, 1, 2]])
def test_labels_are_one_bag_per_class_or_per_row(labels):
    n_classes, n_rows = max(labels) + 1, len(labels)
    pure = labels_as_bags(labels, rows_as_bags=False)
    assert pure.sizes.tolist() == np.bincount(labels).tolist()
    assert pure.proportions.tolist() == np.eye(n_classes).tolist()
    assert pure.row_bag.tolist() == labels
    single = labels_as_bags(labels)
    assert single.sizes.tolist() == [1] * n_rows
    assert single.proportions.tolist() == np.eye(n_classes)[labels].tolist()
    for observed in (pure, single):
        assert observed.classes.tolist() == list(range(n_classes))
        assert observed.row_proportions.tolist() == np.eye(n_classes)[labels].tolist()


def test_the_larger_of_two_labels_is_the_positive_class():
    observed = labels_as_bags(np.array([1, -1, -1, 1, 1]), rows_as_bags=False)
    assert observed.classes.tolist() == [-1, 1]
    assert observed.proportions[:, 1].tolist() == [0, 1]
    assert observed.sizes.tolist() == [2, 3]
    assert observed.row_bag.tolist() == [1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.2, 0.7], r"Unknown label type: continuous.*pass bags="),
        ([[0.2, 0.8], [0.5, 0.5]], r"y should be a 1d array.*shape \(2, 2\).*pass bags="),
        (["yes", "yes"], r"y has only one class, \['yes'\]"),
    ],
)
def test_what_is_no_label(labels, message):
    with pytest.raises(ValueError, match=message):
        read_labels(labels)
