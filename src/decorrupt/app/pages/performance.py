"""Sections on performance: without labels, with labels, calibration, feature importance."""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from functools import partial

from decorrupt.app.pages.class_sections import class_share_table, confusion_table, recall_table
from decorrupt.app.pages.plots import agreement_plot, calibration_plot
from decorrupt.app.pages.wording import (
    MOST_BARS,
    MOST_POINTS,
    PLUS_MINUS,
    Kind,
    measured_cell,
    name_cell,
    number_cell,
    shown_of,
)
from decorrupt.app.training.results import (
    CalibrationBin,
    HeldOutResults,
    LabelResults,
    Measured,
)
from decorrupt.documents import Block, Cell, Figure, Panels, Table, Text, count, number
from decorrupt.glossary import CLASS_CRITERIA, CRITERIA, METRICS, Measure

# Calibration slopes that need no remark.
ABOUT_ONE = (0.8, 1.25)


def measures(
    values: Mapping[str, Measured], known: Mapping[str, Measure], name: str, caption: str
) -> Table:
    """Return a table of measures with their standard errors."""
    rows: list[list[Cell]] = [
        [{"text": known[key].label, "under": known[key].better}, measured_cell(value)]
        for key, value in values.items()
    ]
    return Table(name, f"{caption} {PLUS_MINUS}", ["measure", "value"], rows, sortable=False)


def bag_results(results: HeldOutResults, kind: Kind, name: str) -> list[Block]:
    """Return the label-free measures, predicted against known shares, and the calibration."""
    several = len(results["classes"]) > 2
    caption = f"Measures that need no labels, only {kind.known}."
    known = CLASS_CRITERIA if several else CRITERIA
    table = measures(results["criteria"], known, f"{name}-criteria", caption)
    agreement = _agreement(results, kind, name)
    if several:
        shares = class_share_table(results["per_bag"], results["classes"], name)
        return [table, agreement, shares]
    figures = [
        agreement,
        *calibration_figures(results["calibration"], results["calibration_from"], name),
    ]
    slope = _slope(results["calibration_slope"]) if "calibration_slope" in results else []
    return [table, Panels(figures), *slope]


def label_tables(labels: LabelResults, name: str) -> list[Block]:
    """Return recall and precision of each class, and the confusion matrix."""
    classes = labels["classes"]
    names = [one["name"] for one in classes]
    return [
        recall_table(classes, f"{name}-classes"),
        confusion_table(names, labels["confusion"], f"{name}-confusion"),
    ]


def label_results(labels: LabelResults, name: str) -> list[Block]:
    """Return the measures that need labels, and the calibration."""
    several, caption = len(labels["classes"]) > 2, "Measured on rows with a known true class."
    table = measures(labels["metrics"], METRICS, f"{name}-metrics", caption)
    origin, bins = labels["calibration_from"], labels["calibration"]
    return [table, *calibration_figures(bins, origin, name, of_class=several)]


def importance_blocks(results: HeldOutResults, name: str) -> list[Block]:
    """Return how much the criterion drops when a column is shuffled."""
    rows = [row for row in results["importance"] or [] if row["drop"] is not None]
    if not rows:
        return []
    criterion = CRITERIA[results["importance_criterion"] or ""].label
    few = rows[:MOST_BARS]
    text = (
        "The values of one column at a time are shuffled among the rows, and the model is "
        "evaluated again without labels. The larger the drop, the more the model uses the column. "
        "A drop near 0 means that the column is not useful, or that other columns contain the same "
        "information. A negative drop means that the model was better without the column, by "
        "chance or because it learned noise from it. Importance describes the model; it does not "
        "show causes."
    )
    # Log-likelihoods per row drop by little, accuracies by more.
    decimals = 4 if abs(few[0]["drop"] or 0) >= 0.01 else 5
    caption = (
        f"{shown_of(len(few), len(rows), 'column')}, the most important first. Mean drop of the "
        f"{criterion} over several shuffles."
    )
    cells: list[list[Cell]] = [
        [
            name_cell(row["column"]),
            number_cell(row["drop"], decimals),
            number_cell(row["std_error"], decimals),
        ]
        for row in few
    ]
    heads = ["column", "drop", "± standard error"]
    return [Text(text), Table(f"{name}-drops", caption, heads, cells)]


def _agreement(results: HeldOutResults, kind: Kind, name: str) -> Figure:
    """Return predicted against known shares: of positives, or of each of several classes."""
    classes = range(len(results["classes"]))
    shown = classes if len(classes) > 2 else classes[1:]
    points = [
        (bag["known"][c], bag["predicted"][c], bag["size"])
        for bag in results["per_bag"]
        for c in shown
    ]
    difference = statistics.fmean(abs(predicted - known) for known, predicted, _ in points)
    words = (
        f"{count(len(results['per_bag']), kind.one)}; mean absolute difference "
        f"{number(difference)}."
    )
    dot = f"One dot per {kind.one}" + " and class" * (len(shown) > 1)
    caption = (
        f"{dot}, larger for more rows; on the dashed line the predicted and the known share are "
        "equal. Where the columns contain little information about the class, the dots are on a "
        f"flatter line. {words}"
    )
    if len(points) > MOST_POINTS:
        points = random.Random(0).sample(points, MOST_POINTS)  # noqa: S311
        caption += f" The plot shows {MOST_POINTS:,} dots, chosen at random."
    title = f"Predicted against known share, {kind.one} by {kind.one}"
    drawing = partial(agreement_plot, points, f"{name}-agreement", title, words)
    return Figure(drawing, caption, "Predicted and known shares")


def calibration_figures(
    bins: Sequence[CalibrationBin], origin: str, name: str, *, of_class: bool = False
) -> list[Figure]:
    """Return the calibration plot, if there are bins; `of_class`: of the predicted class."""
    if not bins:
        return []
    words = "; ".join(f"{number(row['predicted'])}: {number(row['share'])}" for row in bins)
    if of_class:
        caption = (
            "Of rows whose predicted class has a probability of 0.7, 70 % should be correct: dots "
            "on the dashed line. All dots have about the same number of rows. Lines: ± two "
            "standard errors."
        )
        described = f"Predicted probability and share of correct rows: {words}."
        share = "share of correct rows"
        drawing = partial(calibration_plot, bins, f"{name}-calibration", described, share)
        return [Figure(drawing, caption, "Calibration of the predicted class")]
    shares = (
        "measured with true labels"
        if origin == "labels"
        else "estimated from known proportions without labels; it can be below 0 or above 1"
    )
    caption = (
        "Of rows with a probability of 0.7, 70 % should be positive: dots on the dashed line. "
        f"All dots have about the same number of rows; the share of positives is {shares}. Lines: "
        "± two standard errors."
    )
    described = f"Predicted probability and share of positives: {words}."
    share = "share of positives"
    drawing = partial(calibration_plot, bins, f"{name}-calibration", described, share)
    return [Figure(drawing, caption, "Calibration")]


def _slope(slope: float) -> list[Block]:
    """Return what the calibration slope of held-out bags means."""
    if slope > 1:
        meaning = "the probabilities are too close to the middle"
    elif slope > 0:
        meaning = "the probabilities are too close to 0 and 1"
    else:
        meaning = "the probabilities do not agree with the counts"
    verdict = "" if ABOUT_ONE[0] <= slope <= ABOUT_ONE[1] else f" Here {meaning}."
    return [
        Text(
            f"Calibration slope: {number(slope)}. The counts of these bags are most likely "
            f"if the log-odds are multiplied by this number; 1 is best.{verdict}"
        )
    ]
