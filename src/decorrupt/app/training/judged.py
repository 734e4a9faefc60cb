"""The judgement of a trained model on held-out rows, and the tests of its assumptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from decorrupt.app.training.results import (
    AssumptionChecks,
    ExpectedAccuracy,
    HeldOutResults,
    plain,
)
from decorrupt.assumptions import AssumptionReport
from decorrupt.model_selection import AccuracyEstimate

SHOWN_COLUMNS = 3


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
