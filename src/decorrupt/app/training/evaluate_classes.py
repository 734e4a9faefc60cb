"""Evaluation of a model of several classes on rows with labels."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from decorrupt.app.tables import TableError
from decorrupt.app.training.evaluate import SUREST, calibration_from_labels, mean_of
from decorrupt.app.training.held_out import histogram
from decorrupt.app.training.predict import Predictions
from decorrupt.app.training.results import ClassLabelResults, ClassResult, Measured
from decorrupt.app.training.roles import Table
from decorrupt.app.training.source_roles import read_label_names

NOTHING = Measured(value=None, std_error=None)


def read_class_labels(table: Table, column: str, classes: list[str]) -> NDArray[np.intp]:
    """Return the number of each row's class.

    Raises
    ------
    TableError
        If a label is missing, or is not a class of the model.
    """
    names = read_label_names(table, column)
    known = {name: number for number, name in enumerate(classes)}
    for row, name in enumerate(names):
        if name not in known:
            raise TableError(
                f"{table.name}, row {row + 1}: column {column!r} contains {name!r}, which is not a "
                f"class of the model: {', '.join(map(repr, classes))}"
            )
    return np.array([known[name] for name in names], dtype=np.intp)


def evaluate_class_labels(
    predictions: Predictions, labels: NDArray[np.intp], class_shares: dict[str, float]
) -> ClassLabelResults:
    """Return accuracy, mean recall, log loss, recall by class and confusion matrix.

    Parameters
    ----------
    predictions : Predictions
        Of the rows.
    labels : ndarray of int
        The number of each row's class.
    class_shares : dict
        The classes in order, with the shares that the probabilities assume.
    """
    predicted, probabilities = predictions.chosen, predictions.probabilities
    right, names = predicted == labels, list(class_shares)
    true_probabilities = probabilities[np.arange(len(labels)), labels]
    errors = np.sum((probabilities - np.eye(len(names))[labels]) ** 2, axis=1)
    confusion = np.zeros((len(names), len(names)), dtype=int)
    np.add.at(confusion, (labels, predicted), 1)
    classes = [_class_result(name, labels == c, predicted == c) for c, name in enumerate(names)]
    surest = probabilities[np.arange(len(labels)), predicted]
    return ClassLabelResults(
        n_rows=len(labels),
        class_shares=class_shares,
        metrics={
            "accuracy": mean_of(right),
            "macro_recall": macro_recall(classes),
            "brier_classes": mean_of(errors),
            "log_loss": mean_of(-np.log(np.clip(true_probabilities, SUREST, 1))),
        },
        classes=classes,
        confusion=cast(list[list[int]], confusion.tolist()),
        histogram=histogram(surest, right),
        calibration=calibration_from_labels(surest, right),
        calibration_from="labels",
    )


def _class_result(
    name: str, is_true: NDArray[np.bool_], is_predicted: NDArray[np.bool_]
) -> ClassResult:
    return ClassResult(
        name=name,
        n_rows=int(is_true.sum()),
        n_predicted=int(is_predicted.sum()),
        recall=mean_of(is_predicted[is_true]) if is_true.any() else NOTHING,
        precision=mean_of(is_true[is_predicted]) if is_predicted.any() else NOTHING,
    )


def macro_recall(classes: list[ClassResult]) -> Measured:
    """Return (1/K)·Σ_c recall_c; None if a class has no rows."""
    recalls = [one["recall"] for one in classes]
    values = [one["value"] for one in recalls]
    if None in values:
        return NOTHING
    variance = sum((one["std_error"] or 0) ** 2 for one in recalls) / len(recalls) ** 2
    return Measured(value=float(np.mean(cast(list[float], values))), std_error=float(variance**0.5))
