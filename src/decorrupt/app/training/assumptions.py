"""What the bags satisfy, which methods that allows and what accuracy to expect, in plain words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from decorrupt._typing import FloatArray
from decorrupt.app.training.held_out import seen_rows
from decorrupt.app.training.results import ExpectedAccuracy, HeldOutResults, Measured
from decorrupt.assumptions import AssumptionReport
from decorrupt.model_selection import (
    Predictions,
    estimate_observed_accuracy,
    observed_rate_accuracy,
)
from decorrupt.observed import Observed

CORRECTED = "corrected"
CANNOT = "not testable with these bags"
NEED_COMMON_CLASSES = ("corrected_accuracy", "corrected_risk")
SHOWN_COLUMNS = 3
ALLOWED = {
    (False, False): "all methods",
    (True, False): "count likelihood, proportion matching and ∝SVM",
    (False, True): "methods for common class distributions, and count likelihood with a bag effect",
    (True, True): "count likelihood with a bag effect only",
}


def named(report: AssumptionReport, preprocessor: Any) -> AssumptionReport:
    """Return the report with the names of the prepared columns."""
    names = tuple(str(name).split("__", 1)[-1] for name in preprocessor.get_feature_names_out())
    return replace(report, column_names=names)


def with_names(message: str, report: AssumptionReport) -> str:
    """Return a message in which "column 3" is replaced by the column's name."""
    return re.sub(r"\bcolumn (\d+)", lambda found: report.column_names[int(found[1])], message)


def in_words(report: AssumptionReport) -> list[str]:
    """Return one sentence per assumption, and one on the methods that they allow."""
    classes, counts = report.common_classes_rejected, report.common_probabilities_rejected
    return [
        f"Rows of a class look the same in every bag (A): {_classes(report)}",
        f"Rows with equal columns have equal chances in every bag (B): {_counts(report)}",
        f"Methods that this allows: {ALLOWED[bool(classes), bool(counts)]}",
    ]


def _classes(report: AssumptionReport) -> str:
    if report.class_means is None:
        return CANNOT
    p_value = f"p = {report.class_means.p_value:.3g}"
    if not report.common_classes_rejected:
        return f"not contradicted ({p_value})"
    return f"no, bags differ most in {_worst(report)} ({p_value})"


def _worst(report: AssumptionReport) -> str:
    columns = report.violating_columns or report.columns
    return ", ".join(column.column for column in columns[:SHOWN_COLUMNS])


def _counts(report: AssumptionReport) -> str:
    if report.count_dispersion is None:
        return CANNOT
    p_value = f"p = {report.count_dispersion.p_value:.3g}"
    if not report.common_probabilities_rejected:
        return f"not contradicted ({p_value})"
    return f"no, {_excess(report)} ({p_value})"


def _excess(report: AssumptionReport) -> str:
    return f"shares differ by ±{report.bag_effect:.2g} more than rows explain"


def expect_accuracy(
    observed: Observed,
    decisions: FloatArray,
    probabilities: FloatArray,
    report: AssumptionReport | None,
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
        common_classes=report is None or not report.common_classes_rejected,
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
        group_rate=observed_rate_accuracy(tested),
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


def accuracy_in_words(
    expected: ExpectedAccuracy, report: AssumptionReport | None, n_classes: int
) -> list[str]:
    """Return the accuracy to expect, how sure that is, and what the baselines give."""
    lines = [f"{measure_name(n_classes).capitalize()} to expect: {in_interval(expected)}"]
    if expected["basis"] == CORRECTED:
        lines[0] += ", estimated from the proportions of held-out bags"
    else:
        calibrated = "calibrated " if n_classes == 2 else ""
        lines[0] += f", a rough guide from the model's own {calibrated}probabilities. "
        lines[0] += _if_right(report)
        lines.append(
            "Corrected accuracy and corrected risk are not shown, because they need (A): "
            f"{_contradiction(report)}"
        )
    lines.append(
        f"Baselines: the rate of a row's own bag gives {expected['group_rate']:.3f} in known bags, "
        f"the same answer for all rows {expected['constant']:.3g}"
    )
    return lines


def _if_right(report: AssumptionReport | None) -> str:
    if report is None:
        return "It is right only if (B) holds, which was not tested"
    if report.common_probabilities_rejected:
        return f"It is right only if (B) holds, but {_excess(report)}"
    return f"It is right only if (B) holds, which is {_counts(report)}"


def _contradiction(report: AssumptionReport | None) -> str:
    if report is not None and report.common_classes_rejected:
        return f"bags differ most in {_worst(report)}"
    worst = "" if report is None else _worst(report)
    impossible = "the held-out bags give an accuracy outside the possible range"
    return impossible + (f"; bags differ most in {worst}" if worst else "")


def in_interval(expected: ExpectedAccuracy) -> str:
    """Return the value and its interval, and what the latter leaves out."""
    ends, level = f"{expected['low']:.3f} to {expected['high']:.3f}", f"{expected['level']:.0%}"
    interval = f"{level} interval {ends}"
    if expected["basis"] != CORRECTED:
        interval = f"{ends} in {level} of resampled bags, not a confidence interval"
    return f"{expected['value']:.3f} ({interval})"


def measure_name(n_classes: int) -> str:
    """Return what the balanced accuracy is called for this number of classes."""
    return "balanced accuracy" if n_classes == 2 else "mean recall"


def contradictions(report: AssumptionReport) -> list[str]:
    """Return warnings on what the bags contradict, before any model is trained.

    If only (B) is rejected there is none: the methods that need (A) remain valid.
    """
    if not report.common_classes_rejected:
        return []
    said = [
        f"the rows of a class differ between bags, most in {_worst(report)}: mean map, corrected "
        "loss, and accuracies estimated from proportions would be wrong"
    ]
    if report.common_probabilities_rejected:
        said.append(
            f"the shares of the bags differ by about {report.bag_effect:.2g} more than their rows "
            "explain: the share of a new bag cannot be predicted more precisely"
        )
    return said


def baseline_warnings(expected: ExpectedAccuracy, n_classes: int) -> list[str]:
    """Return warnings if a model is not clearly better than the baselines."""
    said = []
    held_out = f"held-out {measure_name(n_classes)} {in_interval(expected)}"
    if expected["low"] <= expected["constant"]:
        said.append(f"{held_out}: not clearly better than chance")
    if expected["value"] <= expected["group_rate"]:
        said.append(
            f"for rows of known bags, the rate of their own bag gives {expected['group_rate']:.3f} "
            f"without any column, the model {expected['value']:.3f}"
        )
    return said
