"""The judgement of a trained model on held-out rows, and the tests of its assumptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from decorrupt._typing import FloatArray
from decorrupt.app.training.held_out import seen_rows
from decorrupt.app.training.results import (
    AssumptionChecks,
    ExpectedAccuracy,
    HeldOutResults,
    Measured,
    plain,
)
from decorrupt.assumptions import AssumptionReport
from decorrupt.model_selection import (
    Predictions,
    estimate_observed_accuracy,
    observed_rate_accuracy,
)
from decorrupt.observed import Observed

CORRECTED = "corrected"
NEED_COMMON_CLASSES = ("corrected_accuracy", "corrected_risk")
SHOWN_COLUMNS = 3


@dataclass(frozen=True)
class Judged:
    """Held-out results of a model, the accuracy to expect and what the bags satisfy."""

    results: HeldOutResults
    expected: ExpectedAccuracy | None = None
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


def expect_accuracy(
    observed: Observed,
    decisions: FloatArray,
    probabilities: FloatArray,
    checks: AssumptionChecks | None,
    *,
    method: str,
    seed: int,
    fitted: Predictions | None = None,
) -> ExpectedAccuracy:
    """Return the balanced accuracy on held-out rows with its interval and the baselines.

    Rows that were never held out are NaN in `decisions`. `fitted` are the decisions and
    probabilities of the final model for all rows, see :func:`decorrupt.estimate_accuracy`.
    """
    seen = seen_rows(decisions)
    tested = observed.take(seen)
    found = estimate_observed_accuracy(
        tested,
        Predictions(decisions[seen], probabilities[seen]),
        common_classes=checks is None or not checks["classes_differ"],
        fitted=None if fitted is None else Predictions(*(values[seen] for values in fitted)),
        random_state=seed,
    )
    return ExpectedAccuracy(
        value=found.value,
        low=found.low,
        high=found.high,
        level=found.level,
        basis=found.basis,
        method=method,
        constant=1 / observed.n_classes,
        # Of all bags: the tested ones may lack a class.
        group_rate=observed_rate_accuracy(observed),
    )


def only_possible(results: HeldOutResults, expected: ExpectedAccuracy) -> HeldOutResults:
    """Return the results without estimates that assume (A) if the data contradict it.

    Otherwise corrected accuracy and risk are limited to [0, 1].
    """
    criteria = results["criteria"].copy()
    for name in NEED_COMMON_CLASSES:
        own = criteria[name]
        if expected["basis"] != CORRECTED or own["value"] is None:
            criteria[name] = Measured(value=None, std_error=None)
        else:
            value = min(max(own["value"], 0.0), 1.0)
            criteria[name] = Measured(value=value, std_error=own["std_error"])
    found = results.copy()
    found["criteria"] = criteria
    if expected["basis"] != CORRECTED:
        found["calibration"] = []
    return found
