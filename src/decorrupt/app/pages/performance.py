"""How good a model is: by bags without labels, by labels, and which columns it leans on."""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from decorrupt.app.pages.plots import (
    agreement_plot,
    calibration_plot,
    importance_plot,
    score_plot,
)
from decorrupt.app.pages.wording import (
    CRITERIA,
    METRICS,
    MOST_BAGS,
    MOST_BARS,
    MOST_POINTS,
    Kind,
    measured_cell,
    name_cell,
    number_cell,
    percent,
    shown_of,
)
from decorrupt.documents.document import Block, Cell, Definitions, Figure, Panels, Table, Text
from decorrupt.documents.numbers import count, number, signed

Found = Mapping[str, Any]
PLUS_MINUS = "Behind ± stands the standard error: the truth is rarely further off than twice it."


def measures(values: Found, words: Found, name: str, caption: str) -> list[Block]:
    """Return each measure with its standard error and which way is better, then its meaning."""
    known = {key: words.get(key, (key.replace("_", " "), "", "")) for key in values}
    rows: list[list[Cell]] = [
        [{"text": known[key][0], "under": known[key][2]}, measured_cell(value)]
        for key, value in values.items()
    ]
    if not rows:
        return []
    table = Table(name, f"{caption} {PLUS_MINUS}", ["measure", "value"], rows, sortable=False)
    meanings = [(title, meaning) for title, meaning, _ in known.values() if meaning]
    return [table, Definitions(meanings)] if meanings else [table]


def bag_judgement(results: Found, kind: Kind, name: str) -> list[Block]:
    """Return the label-free measures, three pictures and the groups that fit least."""
    caption = f"Measures that need no labels, only {kind.known}."
    table = measures(results.get("criteria") or {}, CRITERIA, f"{name}-criteria", caption)
    groups = [row for row in results.get("per_bag") or [] if row.get("predicted") is not None]
    figures = [
        *_agreement(groups, kind, name),
        *_scores(results.get("histogram"), name),
        *_calibration(results, name),
    ]
    panels: list[Block] = [Panels(figures)] if figures else []
    return [*table, *panels, *_least_fitting(groups, kind, name)]


def label_judgement(labels: Found, name: str) -> list[Block]:
    """Return what true labels say: measures, right and wrong decisions, two pictures."""
    caption = "Measured on rows whose true class is known."
    blocks = measures(labels.get("metrics") or {}, METRICS, f"{name}-metrics", caption)
    if labels.get("confusion"):
        blocks.append(_confusion(labels["confusion"], f"{name}-confusion"))
    figures = [*_scores(labels.get("histogram"), name), *_calibration(labels, name)]
    return [*blocks, Panels(figures)] if figures else blocks


def importance_blocks(results: Found, name: str) -> list[Block]:
    """Return how much the model loses when a column's values are shuffled."""
    rows = [row for row in results.get("importance") or [] if row.get("drop") is not None]
    if not rows:
        return []
    criterion = CRITERIA.get(results.get("importance_criterion") or "", ("criterion",))[0]
    few = rows[:MOST_BARS]
    text = (
        "Each column’s values are shuffled among the rows and the model is judged anew, without "
        "labels. The more it loses, the more it leans on the column. A column beside 0 is not "
        "missed, be it useless or be what it says also said by others. This is what the model "
        "does, not what causes what."
    )
    # Log-likelihoods per row fall by little, accuracies by more.
    decimals = 4 if abs(few[0]["drop"]) >= 0.01 else 5
    strongest = ", ".join(f"{row['column']} {signed(row['drop'], decimals)}" for row in few[:5])
    caption = (
        f"{shown_of(len(few), len(rows), 'column')}, the most important first. Bars: how far the "
        f"{criterion} falls, the mean of several shuffles; lines: ± its standard error."
    )
    drawing = importance_plot(few, f"{name}-importance", "criterion", f"{strongest}.")
    cells: list[list[Cell]] = [
        [
            name_cell(row["column"]),
            number_cell(row["drop"], decimals),
            number_cell(row.get("std_error"), decimals),
        ]
        for row in few
    ]
    heads = ["column", "fall", "± standard error"]
    numbers = Table(f"{name}-falls", f"The same in numbers: fall of the {criterion}", heads, cells)
    return [Text(text), Figure(drawing, caption), numbers]


def _agreement(rows: Sequence[Found], kind: Kind, name: str) -> list[Figure]:
    if not rows:
        return []
    drawn = rows
    if len(rows) > MOST_POINTS:  # chosen at random, and the same ones every time
        drawn = random.Random(0).sample(list(rows), MOST_POINTS)  # noqa: S311
    apart = [row["predicted"] - row["known"] for row in rows]
    words = (
        f"{count(len(rows), kind.one)}; predicted minus known {signed(statistics.fmean(apart))} on "
        f"average, {number(statistics.fmean(map(abs, apart)))} without the sign."
    )
    caption = (
        f"One dot a {kind.one}, larger for more rows; on the dashed line, prediction and knowledge "
        f"agree. Where the columns tell little of the class, dots lie flatter. {words}"
    )
    if len(drawn) < len(rows):
        caption += f" Drawn are {len(drawn):,} of them, chosen at random."
    drawing = agreement_plot(drawn, kind, f"{name}-agreement", words)
    return [Figure(drawing, caption, "Predicted and known shares")]


def _scores(histogram: Found | None, name: str) -> list[Figure]:
    if not histogram or not sum(histogram["counts"]):
        return []
    edges, counts = histogram["edges"], histogram["counts"]
    total = sum(counts)
    mids = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    low = sum(n for n, mid in zip(counts, mids, strict=True) if mid < 0.2) / total
    high = sum(n for n, mid in zip(counts, mids, strict=True) if mid > 0.8) / total
    words = (
        f"{count(total, 'row')}; {percent(low, 0)} have a probability below 0.2, "
        f"{percent(high, 0)} one above 0.8."
    )
    meaning = (
        "The nearer to the ends the rows stand, the surer the model is of them, rightly or not."
    )
    if "counts_positive" in histogram:
        meaning = "The less the two colours overlap, the better the model tells them apart."
    drawing = score_plot(histogram, f"{name}-scores", words)
    return [Figure(drawing, f"{meaning} {words}", "How sure the model is")]


def _calibration(results: Found, name: str) -> list[Figure]:
    bins = [
        row
        for row in results.get("calibration") or []
        if row.get("share") is not None and row.get("predicted") is not None
    ]
    if not bins:
        return []
    words = "; ".join(f"{number(row['predicted'])}: {number(row['share'])}" for row in bins)
    origin = (
        "by true labels"
        if results.get("calibration_from") == "labels"
        else "worked out from known shares without labels, and so able to leave 0 to 1"
    )
    caption = (
        f"Of rows with a probability of 0.7, 70 % should be positive: dots on the dashed line. "
        f"Each dot holds about as many rows as any other; the share of positives is {origin}. "
        "Lines: ± two standard errors."
    )
    described = f"Predicted probability and share of positives: {words}."
    drawing = calibration_plot(bins, f"{name}-calibration", described)
    return [Figure(drawing, caption, "Can the probabilities be believed?")]


def _least_fitting(rows: Sequence[Found], kind: Kind, name: str) -> list[Block]:
    if not rows:
        return []
    worst = sorted(rows, key=lambda row: -abs(row["predicted"] - row["known"]))[:MOST_BAGS]
    cells: list[list[Cell]] = [
        [
            name_cell(row["bag"]),
            row["size"],
            number_cell(row["known"]),
            number_cell(row["predicted"]),
            {
                "text": signed(row["predicted"] - row["known"]),
                "sort": f"{row['predicted'] - row['known']:.9g}",
            },
            number_cell(row.get("predicted_positive")),
        ]
        for row in worst
    ]
    caption = (
        f"The {kind.many} whose share is predicted worst, the worst first: "
        f"{shown_of(len(worst), len(rows), kind.one)}. Small {kind.many} are often far off by "
        "chance; look at large ones."
    )
    heads = [kind.one, "rows", "known", "predicted", "difference", "called positive"]
    return [Table(f"{name}-groups", caption, heads, cells)]


def _confusion(counts: Found, name: str) -> Table:
    def row(title: str, right: int, wrong: int, *, right_first: bool) -> list[Cell]:
        total = max(right + wrong, 1)
        cells: list[Cell] = [
            {"text": f"{right:,}", "under": f"{percent(right / total)}, right", "sort": right},
            {"text": f"{wrong:,}", "under": f"{percent(wrong / total)}, wrong", "sort": wrong},
        ]
        return [title, *(cells if right_first else cells[::-1])]

    tp, fn = counts["true_positive"], counts["false_negative"]
    tn, fp = counts["true_negative"], counts["false_positive"]
    rows = [
        row("truly positive", tp, fn, right_first=True),
        row("truly negative", tn, fp, right_first=False),
    ]
    heads = ["rows that are", "called positive", "called negative"]
    return Table(name, "Right and wrong decisions", heads, rows, sortable=False)
