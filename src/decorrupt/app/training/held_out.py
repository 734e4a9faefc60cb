"""Evaluation of a model on held-out rows without labels, and the tests of its assumptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.app.training.results import (
    AssumptionChecks,
    BagPrediction,
    CalibrationBin,
    ExpectedAccuracy,
    HeldOutResults,
    Histogram,
    Measured,
    plain,
)
from decorrupt.assumptions import AssumptionReport
from decorrupt.losses import chosen_classes, scores_of_probabilities
from decorrupt.model_selection import (
    AccuracyEstimate,
    calibration_curve_from_proportions,
    count_score,
    fit_calibration,
    proportion_risk,
)
from decorrupt.observed import Observed

HISTOGRAM_BINS = 20
# Log-odds stay finite.
SMALLEST_PROBABILITY = 1e-9
SHOWN_COLUMNS = 3


def criteria(
    observed: Observed, decisions: FloatArray, probabilities: FloatArray, *, counts: bool
) -> dict[str, Measured]:
    """Return the label-free criteria with standard errors.

    `counts`: whether the proportions are exact counts over sizes, as in bags, so that the count
    likelihood applies.
    """
    found = {"proportion_risk": _measured(*proportion_risk(observed, decisions))}
    if counts:
        found["count_log_likelihood"] = _measured(*count_score(observed, probabilities))
    return found


def _measured(value: float, std_error: float) -> Measured:
    return Measured(value=plain(value), std_error=plain(std_error))


# Of rows that represent more, a sample is judged.
MOST_JUDGED_ROWS = 100_000


def held_out_results(
    observed: Observed,
    decisions: FloatArray,
    probabilities: FloatArray,
    *,
    counts: bool,
) -> HeldOutResults:
    """Return all held-out results of a page except the importance of columns.

    The parameters are those of :func:`criteria`; rows that were never held out are NaN.
    """
    seen = seen_rows(decisions)
    observed, decisions, probabilities = observed.take(seen), decisions[seen], probabilities[seen]
    found = criteria(observed, decisions, probabilities, counts=counts)
    is_binary = observed.n_classes == 2
    results = HeldOutResults(
        criteria=found,
        classes=observed.classes.tolist(),
        per_bag=per_bag(observed, decisions, probabilities),
        histogram=histogram(probabilities[:, 1] if is_binary else probabilities.max(axis=1)),
        calibration=calibration_from_proportions(observed, probabilities) if is_binary else [],
        calibration_from="proportions",
        importance=None,
        importance_criterion=None,
    )
    if counts and is_binary:
        results["calibration_slope"] = calibration_slope(observed, probabilities)
    return results


def calibration_slope(observed: Observed, probabilities: FloatArray) -> float:
    """Return the factor for the log-odds at which the counts of the bags are most likely."""
    scores = scores_of_probabilities(probabilities, SMALLEST_PROBABILITY)
    return fit_calibration(scores, observed)[0]


def seen_rows(decisions: FloatArray) -> NDArray[np.intp]:
    """Return the rows that were held out: those whose decisions are not NaN."""
    return np.flatnonzero(~np.isnan(decisions.reshape(len(decisions), -1)).any(axis=1))


def per_bag(
    observed: Observed, decisions: FloatArray, probabilities: FloatArray
) -> list[BagPrediction]:
    """Return the known and predicted class shares of every bag."""
    classified = np.eye(observed.n_classes)[chosen_classes(decisions)]
    shares = (observed.mean_by_bag(rows) for rows in (probabilities, classified))
    columns = (observed.ids, observed.sizes, observed.proportions, *shares)
    return [
        BagPrediction(bag=plain(bag), size=size, known=known, predicted=mean, classified=share)
        for bag, size, known, mean, share in zip(
            *(column.tolist() for column in columns), strict=True
        )
    ]


def histogram(probabilities: FloatArray, is_pos: Any = None) -> Histogram:
    """Return a histogram of the probabilities; with labels, also of the positive rows."""
    edges = np.linspace(0, 1, HISTOGRAM_BINS + 1)
    found = {"edges": edges, "counts": np.histogram(probabilities, edges)[0]}
    if is_pos is not None:
        found["counts_positive"] = np.histogram(probabilities[is_pos], edges)[0]
    return cast(Histogram, plain(found))


def calibration_from_proportions(
    observed: Observed, probabilities: FloatArray
) -> list[CalibrationBin]:
    """Return the label-free calibration curve of the second class.

    There are no bins if all proportions are equal.
    """
    try:
        bins = calibration_curve_from_proportions(observed, probabilities[:, 1])
    except ValueError:
        return []
    return [plain(one._asdict()) for one in bins]


@dataclass(frozen=True)
class Judged:
    """Held-out results of a model, the accuracy to expect and what the bags satisfy."""

    results: HeldOutResults
    expected: ExpectedAccuracy
    checks: AssumptionChecks | None = None


def checks_of(report: AssumptionReport, preprocessor: Any) -> AssumptionChecks:
    """Return the tests of the assumptions, with the columns as the user's table names them."""
    report = replace(report, column_names=column_of_features(preprocessor))
    worst = [one.column for one in report.violating_columns or report.columns]
    classes, counts = report.class_means, report.count_dispersion
    return AssumptionChecks(
        classes_p_value=None if classes is None else plain(classes.p_value),
        classes_differ=plain(report.common_classes_rejected),
        columns=list(dict.fromkeys(worst))[:SHOWN_COLUMNS],
        chances_p_value=None if counts is None else plain(counts.p_value),
        chances_differ=plain(report.common_probabilities_rejected),
        bag_effect=plain(report.bag_effect),
    )


def column_of_features(preprocessor: Any) -> tuple[str, ...]:
    """Return the column of the user's table behind each feature of the fitted preprocessor."""
    found: list[str] = []
    for kind, part, columns in preprocessor.transformers_:
        if kind == "numbers":
            found += [*columns, *(columns[k] for k in part["impute"].indicator_.features_)]
            continue
        encoder = part["encode"]
        for name, levels, rare in zip(
            columns, encoder.categories_, encoder.infrequent_categories_, strict=True
        ):
            n_folded = 0 if rare is None else len(rare) - 1  # rare levels share one feature
            found += [name] * (len(levels) - n_folded)
    return tuple(found)


def expected_of(found: AccuracyEstimate, *, has_bags: bool = True) -> ExpectedAccuracy:
    """Return the record of an estimate; without bags there is no share to guess by."""
    expected = ExpectedAccuracy(
        value=found.value,
        low=found.low,
        high=found.high,
        level=found.level,
        evidence=found.evidence,
        guessing=found.guessing,
    )
    if has_bags:
        expected["group_rate"] = found.group_rate
        expected["better_than_group_rate"] = found.better_than_group_rate
    return expected


def without_assumed(results: HeldOutResults, checks: AssumptionChecks | None) -> HeldOutResults:
    """Return the results without the calibration curve unless (A), which it assumes, was tested."""
    if checks is not None and checks["classes_differ"] is False:
        return results
    found = results.copy()
    found["calibration"] = []
    return found
