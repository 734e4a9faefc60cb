"""Evaluation of a model on rows with labels, or on bags without labels."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from decorrupt._typing import FloatArray
from decorrupt.app.training.held_out import held_out_results, histogram
from decorrupt.app.training.predict import Predictions, Predictor
from decorrupt.app.training.preprocess import prepare
from decorrupt.app.training.results import (
    CalibrationBin,
    ColumnImportance,
    Confusion,
    HeldOutResults,
    LabelResults,
    Measured,
    plain,
)
from decorrupt.app.training.roles import BagRows
from decorrupt.model_selection import bag_permutation_importance
from decorrupt.model_selection.calibration import quantile_bins

CALIBRATION_BINS = 10
# Probabilities are clipped to this distance from 0 and 1, so that the log loss is finite.
SUREST = 1e-7


def evaluate_labels(
    predictions: Predictions, is_pos: NDArray[np.bool_], class_prior: float, positive: str
) -> LabelResults:
    """Return accuracy, balanced accuracy, AUC, Brier score and log loss with standard errors.

    Parameters
    ----------
    predictions : Predictions
        Of the rows.
    is_pos : ndarray of bool
        Their labels.
    class_prior : float
        The share of positives that the probabilities assume; only recorded.
    positive : str
        The name of the positive class; only recorded.
    """
    predicted, probabilities = predictions.is_pos, predictions.probabilities
    right = predicted == is_pos
    sure = np.clip(probabilities, SUREST, 1 - SUREST)
    log_loss = -np.where(is_pos, np.log(sure), np.log1p(-sure))
    return LabelResults(
        positive=positive,
        n_rows=len(is_pos),
        n_positive=int(is_pos.sum()),
        class_prior=class_prior,
        metrics={
            "accuracy": _mean(right),
            "balanced_accuracy": _balanced(right, is_pos),
            "roc_auc": _auc(is_pos, probabilities),
            "brier": _mean((probabilities - is_pos) ** 2),
            "log_loss": _mean(log_loss),
        },
        confusion=Confusion(
            true_positive=int(np.sum(predicted & is_pos)),
            false_positive=int(np.sum(predicted & ~is_pos)),
            true_negative=int(np.sum(~predicted & ~is_pos)),
            false_negative=int(np.sum(~predicted & is_pos)),
        ),
        histogram=histogram(probabilities, is_pos),
        calibration=calibration_from_labels(probabilities, is_pos),
        calibration_from="labels",
    )


def _mean(values: Any) -> Measured:
    values = np.asarray(values, dtype=float)
    std_error = values.std() / np.sqrt(len(values))
    return Measured(value=float(values.mean()), std_error=float(std_error))


def _balanced(right: NDArray[np.bool_], is_pos: NDArray[np.bool_]) -> Measured:
    sides = [right[side] for side in (is_pos, ~is_pos) if side.any()]
    if len(sides) < 2:
        return Measured(value=None, std_error=None)
    variance = sum(side.mean() * (1 - side.mean()) / len(side) for side in sides) / 4
    value = float(np.mean([side.mean() for side in sides]))
    return Measured(value=value, std_error=float(np.sqrt(variance)))


def _auc(is_pos: NDArray[np.bool_], scores: FloatArray) -> Measured:
    """Return the area under the ROC curve; its standard error after Hanley & McNeil (1982)."""
    n_pos, n_neg = int(is_pos.sum()), int((~is_pos).sum())
    if not (n_pos and n_neg):
        return Measured(value=None, std_error=None)
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


def evaluate_bags(rows: BagRows, predictions: Predictions) -> HeldOutResults:
    """Return the label-free criteria and the predictions of every bag, without importance."""
    return held_out_results(
        rows.strata, predictions.decisions, predictions.probabilities, counts=True
    )


def bag_importance(
    predictor: Predictor, rows: BagRows, seed: int
) -> tuple[list[ColumnImportance], str]:
    """Return the importance of the model's columns on these bags, and the criterion's name."""
    prepared = prepare(rows.table.frame, predictor.columns, table=rows.table.name)
    strata, criterion = rows.strata, "count_log_likelihood"
    found = bag_permutation_importance(
        predictor.model,
        prepared,
        strata.row_proportions,
        bags=strata.row_stratum,
        scoring=criterion,
        random_state=seed,
    )
    return [plain(one._asdict()) for one in found], criterion
