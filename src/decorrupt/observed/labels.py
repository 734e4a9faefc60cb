"""Reading of class labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from decorrupt.observed.observed import Observed
from decorrupt.observed.weights import read_weights


def has_class_columns(y: Any) -> bool:
    """Return whether y has one column per class rather than one entry per row."""
    shape = np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


def read_labels(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes in sorted order, and the number of each row's class.

    Raises
    ------
    ValueError
        If y is not an array of class labels with at least two classes. The message for numbers
        that are not labels mentions `bags`.
    """
    if has_class_columns(y):
        raise ValueError(
            f"y should be a 1d array of labels, got shape {np.asarray(y).shape}. If it contains "
            "the shares of the classes, pass bags= as well"
        )
    labels = column_or_1d(y, warn=True)
    if type_of_target(labels) == "continuous":
        raise ValueError(
            "Unknown label type: continuous. Without bags, y must contain class labels; if it "
            "contains proportions of positives, pass bags= as well"
        )
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()}: a classifier needs rows of two classes"
        )
    return classes, codes.astype(np.intp, copy=False)


def labels_as_bags(
    y: ArrayLike, *, rows_as_bags: bool = True, sample_weight: Any = None
) -> Observed:
    """Return labelled rows as bags of one row, or the rows of each class as one pure bag."""
    classes, codes = read_labels(y)
    weights = read_weights(sample_weight, len(codes))
    if rows_as_bags:
        rows = np.arange(len(codes))
        return Observed(classes, rows, rows, np.eye(len(classes))[codes], weights=weights)
    ids = np.array([f"label {name}" for name in classes.tolist()])
    return Observed(classes, ids, codes, np.eye(len(classes)), weights=weights)
