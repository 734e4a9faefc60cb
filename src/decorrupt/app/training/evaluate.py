"""Evaluation of a model on rows with labels, or on bags without labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from decorrupt._typing import FloatArray
from decorrupt.app.training.assumptions import (
    accuracy_in_words,
    baseline_warnings,
    expect_accuracy,
    in_words,
    named,
    only_possible,
)
from decorrupt.app.training.held_out import held_out_results, histogram
from decorrupt.app.training.predict import Predictions, Predictor
from decorrupt.app.training.preprocess import prepare
from decorrupt.app.training.results import (
    CalibrationBin,
    ColumnImportance,
    Confusion,
    ExpectedAccuracy,
    HeldOutResults,
    LabelResults,
    Measured,
    plain,
)
from decorrupt.app.training.roles import BagRows
from decorrupt.assumptions.check import check_strata_assumptions
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
            "accuracy": mean_of(right),
            "balanced_accuracy": _balanced(right, is_pos),
            "roc_auc": _auc(is_pos, probabilities),
            "brier": mean_of((probabilities - is_pos) ** 2),
            "log_loss": mean_of(log_loss),
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


def mean_of(values: Any) -> Measured:
    """Return the mean with its standard error."""
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


@dataclass(frozen=True)
class BagEvaluation:
    """Results on bags, what these satisfy in words, and the accuracy that follows."""

    results: HeldOutResults
    assumptions: list[str]
    expected: ExpectedAccuracy
    warnings: list[str]


def evaluate_bags(
    predictor: Predictor, rows: BagRows, predictions: Predictions, seed: int
) -> BagEvaluation:
    """Return what the bags satisfy, the accuracy, and the label-free criteria of every bag.

    Criteria that need an assumption which the bags contradict are None.
    """
    strata, n_classes = rows.strata, rows.strata.n_classes or 2
    prepared = prepare(rows.table.frame, predictor.columns, table=rows.table.name)
    preprocessor = predictor.model[0]
    report = named(
        check_strata_assumptions(preprocessor.transform(prepared), strata, None, random_state=seed),
        preprocessor,
    )
    found = (predictions.decisions, predictions.probabilities)
    method = predictor.card["method"]["chosen"]
    expected = expect_accuracy(strata, *found, report, method=method, seed=seed)
    results = held_out_results(strata, *found, counts=True, classes=rows.classes)
    return BagEvaluation(
        only_possible(results, expected),
        [*in_words(report), *accuracy_in_words(expected, report, n_classes)],
        expected,
        baseline_warnings(expected, n_classes),
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
