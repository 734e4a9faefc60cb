"""Sections on performance: without labels, with labels, calibration, feature importance."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from functools import partial

from decorrupt.app.pages.class_sections import (
    class_agreement_blocks,
    confusion_table,
    recall_table,
    some_bags,
)
from decorrupt.app.pages.plots import (
    agreement_plot,
    calibration_plot,
    importance_plot,
    score_plot,
)
from decorrupt.app.pages.wording import (
    MOST_BAGS,
    MOST_BARS,
    PLUS_MINUS,
    Kind,
    measured_cell,
    name_cell,
    number_cell,
    percent,
    shown_of,
)
from decorrupt.app.training.results import (
    BagPrediction,
    CalibrationBin,
    HeldOutResults,
    Histogram,
    LabelResults,
    Measured,
)
from decorrupt.documents import (
    Block,
    Cell,
    Figure,
    Panels,
    Table,
    Text,
    count,
    number,
    signed,
)
from decorrupt.glossary import CLASS_CRITERIA, CRITERIA, METRICS, Measure

# Calibration slopes that need no remark.
ABOUT_ONE = (0.8, 1.25)


def measures(
    values: Mapping[str, Measured], known: Mapping[str, Measure], name: str, caption: str
) -> list[Block]:
    """Return a table of measures with their standard errors."""
    rows: list[list[Cell]] = [
        [{"text": known[key].label, "under": known[key].better}, measured_cell(value)]
        for key, value in values.items()
    ]
    return [Table(name, f"{caption} {PLUS_MINUS}", ["measure", "value"], rows, sortable=False)]


def bag_results(results: HeldOutResults, kind: Kind, name: str) -> list[Block]:
    """Return the label-free measures, three plots and the groups with the largest errors.

    For several classes, plots and errors class by class.
    """
    several = len(results["classes"]) > 2
    caption = f"Measures that need no labels, only {kind.known}."
    known = CLASS_CRITERIA if several else CRITERIA
    table = measures(results["criteria"], known, f"{name}-criteria", caption)
    if several:
        scores = scores_figure(results["histogram"], name, of_class=True)
        return [*table, *class_agreement_blocks(results, name), Panels([scores])]
    groups = results["per_bag"]
    figures = [
        _agreement(groups, kind, name),
        scores_figure(results["histogram"], name),
        *calibration_figures(results["calibration"], results["calibration_from"], name),
    ]
    slope = _slope(results["calibration_slope"]) if "calibration_slope" in results else []
    return [*table, Panels(figures), *slope, _largest_errors(groups, kind, name)]


def label_tables(labels: LabelResults, name: str) -> list[Block]:
    """Return the confusion matrix; for several classes also recall and precision of each."""
    classes = labels["classes"]
    if len(classes) == 2:
        return [_confusion(labels["confusion"], f"{name}-confusion")]
    names = [one["name"] for one in classes]
    return [
        recall_table(classes, f"{name}-classes"),
        confusion_table(names, labels["confusion"], f"{name}-confusion"),
    ]


def label_results(labels: LabelResults, name: str) -> list[Block]:
    """Return the measures that need labels, and two plots."""
    several, caption = len(labels["classes"]) > 2, "Measured on rows with a known true class."
    origin, bins = labels["calibration_from"], labels["calibration"]
    figures = [
        scores_figure(labels["histogram"], name, of_class=several),
        *calibration_figures(bins, origin, name, of_class=several),
    ]
    table = measures(labels["metrics"], METRICS, f"{name}-metrics", caption)
    return [*table, Panels(figures)]


def importance_blocks(results: HeldOutResults, name: str) -> list[Block]:
    """Return how much the criterion drops when a column is shuffled."""
    rows = [
        (row["column"], row["drop"], row["std_error"])
        for row in results["importance"] or []
        if row["drop"] is not None
    ]
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
    decimals = 4 if abs(few[0][1]) >= 0.01 else 5
    largest = ", ".join(f"{column} {signed(drop, decimals)}" for column, drop, _ in few[:5])
    caption = (
        f"{shown_of(len(few), len(rows), 'column')}, the most important first. Bars: mean drop of "
        f"the {criterion} over several shuffles; lines: ± one standard error."
    )
    drawing = partial(importance_plot, few, f"{name}-importance", f"{largest}.")
    cells: list[list[Cell]] = [
        [name_cell(column), number_cell(drop, decimals), number_cell(std_error, decimals)]
        for column, drop, std_error in few
    ]
    heads = ["column", "drop", "± standard error"]
    numbers = Table(f"{name}-drops", f"The same as numbers: drop of the {criterion}", heads, cells)
    return [Text(text), Figure(drawing, caption), numbers]


def _agreement(rows: Sequence[BagPrediction], kind: Kind, name: str) -> Figure:
    drawn, apart = some_bags(rows), [_error(row) for row in rows]
    words = (
        f"{count(len(rows), kind.one)}; predicted minus known: {signed(statistics.fmean(apart))} "
        f"on average, absolute difference {number(statistics.fmean(map(abs, apart)))}."
    )
    caption = (
        f"One dot per {kind.one}, larger for more rows; on the dashed line the predicted and the "
        "known proportion are equal. Where the columns contain little information about the class, "
        f"the dots are on a flatter line. {words}"
    )
    if len(drawn) < len(rows):
        caption += f" The plot shows {len(drawn):,} of them, chosen at random."
    title = f"Predicted against known proportion, {kind.one} by {kind.one}"
    drawing = partial(agreement_plot, drawn, 1, f"{name}-agreement", title, words)
    return Figure(drawing, caption, "Predicted and known proportions")


def _error(row: BagPrediction) -> float:
    """Return predicted minus known share of positives."""
    return row["predicted"][1] - row["known"][1]


def scores_figure(histogram: Histogram, name: str, *, of_class: bool = False) -> Figure:
    """Return a histogram of probabilities; `of_class`: those of the predicted class."""
    edges, counts = histogram["edges"], histogram["counts"]
    total = sum(counts)
    mids = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    low = sum(n for n, mid in zip(counts, mids, strict=True) if mid < 0.2) / total
    high = sum(n for n, mid in zip(counts, mids, strict=True) if mid > 0.8) / total
    words = (
        f"{count(total, 'row')}; {percent(low, 0)} have a probability below 0.2, "
        f"{percent(high, 0)} above 0.8."
    )
    meaning = "Rows near 0 or 1 are those the model is certain about, correctly or not."
    if "counts_positive" in histogram:
        meaning = "The less the two colours overlap, the better the model separates the classes."
    if of_class:
        words = f"{count(total, 'row')}; {percent(high, 0)} have a probability above 0.8."
        meaning = "Rows near 1 are those the model is certain about, correctly or not."
        sides = ("wrong", "correct")
        drawing = partial(score_plot, histogram, f"{name}-scores", words, sides)
        return Figure(drawing, f"{meaning} {words}", "Probability of the predicted class")
    drawing = partial(score_plot, histogram, f"{name}-scores", words)
    return Figure(drawing, f"{meaning} {words}", "Predicted probabilities")


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
    drawing = partial(calibration_plot, bins, f"{name}-calibration", described)
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


def _largest_errors(rows: Sequence[BagPrediction], kind: Kind, name: str) -> Table:
    worst = sorted(rows, key=lambda row: -abs(_error(row)))[:MOST_BAGS]
    cells: list[list[Cell]] = [
        [
            name_cell(row["bag"]),
            row["size"],
            number_cell(row["known"][1]),
            number_cell(row["predicted"][1]),
            {"text": signed(_error(row)), "sort": f"{_error(row):.9g}"},
            number_cell(row["classified"][1]),
        ]
        for row in worst
    ]
    caption = (
        f"{kind.many.capitalize()} with the largest error of the predicted proportion: "
        f"{shown_of(len(worst), len(rows), kind.one)}. Small {kind.many} often have large errors "
        "by chance."
    )
    heads = [kind.one, "rows", "known", "predicted", "difference", "classified positive"]
    return Table(f"{name}-groups", caption, heads, cells)


def _confusion(counts: Sequence[Sequence[int]], name: str) -> Table:
    def row(title: str, right: int, wrong: int, *, right_first: bool) -> list[Cell]:
        total = max(right + wrong, 1)
        cells: list[Cell] = [
            {"text": f"{right:,}", "under": f"{percent(right / total)}, correct", "sort": right},
            {"text": f"{wrong:,}", "under": f"{percent(wrong / total)}, wrong", "sort": wrong},
        ]
        return [title, *(cells if right_first else cells[::-1])]

    (tn, fp), (fn, tp) = counts
    rows = [
        row("positive", tp, fn, right_first=True),
        row("negative", tn, fp, right_first=False),
    ]
    heads = ["true class", "classified positive", "classified negative"]
    return Table(name, "Confusion matrix", heads, rows, sortable=False)
