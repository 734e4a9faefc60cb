"""Evaluation of a model on rows with labels, or on bags without labels."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError
from decorrupt.app.training.held_out import (
    Judged,
    checks_of,
    expected_of,
    held_out_results,
    histogram,
    without_assumed,
)
from decorrupt.app.training.predict import Predictions, Predictor
from decorrupt.app.training.preprocess import prepare
from decorrupt.app.training.results import (
    CalibrationBin,
    ClassResult,
    ColumnImportance,
    ExpectedAccuracy,
    LabelResults,
    Measured,
    plain,
)
from decorrupt.app.training.roles import BagRows
from decorrupt.app.training.source_roles import read_label_names
from decorrupt.app.training.table import Table
from decorrupt.assumptions import check_observed_assumptions
from decorrupt.model_selection import (
    bag_permutation_importance,
    estimate_accuracy,
    quantile_bins,
)

CALIBRATION_BINS = 10
# Probabilities are clipped to this distance from 0 and 1, so that the log loss is finite.
SUREST = 1e-7
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


def evaluate_labels(
    predictions: Predictions, labels: NDArray[np.intp], class_shares: dict[str, float]
) -> LabelResults:
    """Return accuracy, mean recall, Brier score and log loss, recall by class, confusion matrix.

    For two classes also the AUC, and the mean recall is called balanced accuracy.

    Parameters
    ----------
    predictions : Predictions
        Of the rows.
    labels : ndarray of int
        The number of each row's class; of two classes 1 is the positive one.
    class_shares : dict
        The classes in order, with the shares that the probabilities assume.
    """
    predicted, probabilities = predictions.chosen, predictions.probabilities
    names, rows = list(class_shares), np.arange(len(labels))
    confusion = np.zeros((len(names), len(names)), dtype=int)
    np.add.at(confusion, (labels, predicted), 1)
    classes = [_class_result(name, labels == c, predicted == c) for c, name in enumerate(names)]
    shown, is_hit = probabilities[rows, predicted], predicted == labels
    if len(names) == 2:
        shown, is_hit = probabilities[:, 1], labels == 1
    return LabelResults(
        n_rows=len(labels),
        class_shares=class_shares,
        metrics=_metrics(predictions, labels, macro_recall(classes)),
        classes=classes,
        confusion=confusion.tolist(),
        histogram=histogram(shown, is_hit),
        calibration=calibration_from_labels(shown, is_hit),
        calibration_from="labels",
    )


def _metrics(
    predictions: Predictions, labels: NDArray[np.intp], recall: Measured
) -> dict[str, Measured]:
    probabilities = predictions.probabilities
    n_rows, n_classes = probabilities.shape
    errors = np.sum((probabilities - np.eye(n_classes)[labels]) ** 2, axis=1)
    true_probabilities = np.clip(probabilities[np.arange(n_rows), labels], SUREST, 1)
    found = {"accuracy": share_of(predictions.chosen == labels)}
    if n_classes == 2:
        found["balanced_accuracy"] = recall
        found["roc_auc"] = _auc(labels == 1, probabilities[:, 1])
        found["brier"] = mean_of(errors / 2)
    else:
        found["macro_recall"] = recall
        found["brier_classes"] = mean_of(errors)
    return found | {"log_loss": mean_of(-np.log(true_probabilities))}


def mean_of(values: Any) -> Measured:
    """Return the mean with its standard error."""
    values = np.asarray(values, dtype=float)
    std_error = values.std() / np.sqrt(len(values))
    return Measured(value=float(values.mean()), std_error=float(std_error))


def share_of(is_right: NDArray[np.bool_]) -> Measured:
    """Return the share with its standard error; 0 of n or n of n are not certain.

    Their error is that of one more right and one more wrong row.
    """
    found, n_rows = mean_of(is_right), len(is_right)
    if not found["std_error"]:
        share = (is_right.sum() + 1) / (n_rows + 2)
        found["std_error"] = float(np.sqrt(share * (1 - share) / n_rows))
    return found


def _class_result(
    name: str, is_true: NDArray[np.bool_], is_predicted: NDArray[np.bool_]
) -> ClassResult:
    return ClassResult(
        name=name,
        n_rows=int(is_true.sum()),
        n_predicted=int(is_predicted.sum()),
        recall=share_of(is_predicted[is_true]) if is_true.any() else NOTHING,
        precision=share_of(is_true[is_predicted]) if is_predicted.any() else NOTHING,
    )


def macro_recall(classes: list[ClassResult]) -> Measured:
    """Return (1/K)·Σ_c recall_c; None if a class has no rows."""
    recalls = [one["recall"] for one in classes]
    values = [one["value"] for one in recalls]
    if None in values:
        return NOTHING
    variance = sum((one["std_error"] or 0) ** 2 for one in recalls) / len(recalls) ** 2
    return Measured(value=float(np.mean(cast(list[float], values))), std_error=float(variance**0.5))


def _auc(is_pos: NDArray[np.bool_], scores: FloatArray) -> Measured:
    """Return the area under the ROC curve; its standard error after Hanley & McNeil (1982)."""
    n_pos, n_neg = int(is_pos.sum()), int((~is_pos).sum())
    if not (n_pos and n_neg):
        return NOTHING
    auc = float(roc_auc_score(is_pos, scores))
    both_pos, both_neg = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = (
        auc * (1 - auc) + (n_pos - 1) * (both_pos - auc**2) + (n_neg - 1) * (both_neg - auc**2)
    )
    return Measured(value=auc, std_error=float(np.sqrt(max(variance, 0) / (n_pos * n_neg))))


def calibration_from_labels(
    probabilities: FloatArray, is_pos: NDArray[np.bool_], n_bins: int = CALIBRATION_BINS
) -> list[CalibrationBin]:
    """Return the predicted and true share of positives in bins with about equally many rows."""
    edges, in_bin = quantile_bins(probabilities, n_bins)
    bins = []
    for low, high, inside in zip(edges[:-1], edges[1:], in_bin, strict=True):
        if not inside.any():
            continue
        share = is_pos[inside].mean()
        bins.append(
            {
                "low": low,
                "high": high,
                "n_rows": inside.sum(),
                "predicted": probabilities[inside].mean(),
                "share": share,
                "std_error": np.sqrt(share * (1 - share) / inside.sum()),
            }
        )
    return cast(list[CalibrationBin], plain(bins))


def evaluate_bags(
    predictor: Predictor, rows: BagRows, predictions: Predictions, seed: int
) -> Judged:
    """Return what the bags satisfy, the accuracy, and the label-free criteria of every bag."""
    observed = rows.observed
    prepared = prepare(rows.table.frame, predictor.columns, table=rows.table.name)
    preprocessor = predictor.model[0]
    matrix = preprocessor.transform(prepared)
    report = check_observed_assumptions(matrix, observed, None, random_state=seed)
    checks = checks_of(report, preprocessor)
    results = held_out_results(
        observed, predictions.decisions, predictions.probabilities, counts=True
    )
    accuracy = estimate_accuracy(predictor.model[-1], matrix, observed, random_state=seed)
    return Judged(without_assumed(results, checks), expected_of(accuracy), checks)


def mean_recall(labels: LabelResults) -> Measured:
    """Return the mean recall, which is called balanced accuracy for two classes."""
    return labels["metrics"]["balanced_accuracy" if len(labels["classes"]) == 2 else "macro_recall"]


def contradiction(found: Measured, expected: ExpectedAccuracy) -> list[str]:
    """Return a warning if the interval of the labels and that of the training data are disjoint."""
    value, std_error = found["value"], found["std_error"]
    if value is None or std_error is None:
        return []
    apart = max(value - 2 * std_error - expected["high"], expected["low"] - value - 2 * std_error)
    if apart <= 0:
        return []
    estimate = f"{expected['value']:.3f} ({expected['low']:.2f} to {expected['high']:.2f})"
    return [
        f"the labels contradict the estimate from training, {estimate}: these rows differ from "
        "those, or its assumptions fail"
    ]


def combined(found: Measured, expected: ExpectedAccuracy) -> Measured:
    """Return the accuracy from labelled rows and from the training data together.

    The posterior of the training data is taken as normal; both are weighted by 1/variance.
    """
    value, std_error = found["value"], found["std_error"]
    own = (expected["high"] - expected["low"]) / (2 * norm.ppf((1 + expected["level"]) / 2))
    if value is None or not std_error or not own:
        return found
    precision = 1 / std_error**2 + 1 / own**2
    mean = (value / std_error**2 + expected["value"] / own**2) / precision
    return Measured(value=float(mean), std_error=float(precision**-0.5))


def bag_importance(
    predictor: Predictor, rows: BagRows, seed: int
) -> tuple[list[ColumnImportance], str]:
    """Return the importance of the model's columns on these bags, and the criterion's name."""
    prepared = prepare(rows.table.frame, predictor.columns, table=rows.table.name)
    criterion = "count_log_likelihood"
    found = bag_permutation_importance(
        predictor.model, prepared, rows.observed, scoring=criterion, random_state=seed
    )
    return [plain(one._asdict()) for one in found], criterion
