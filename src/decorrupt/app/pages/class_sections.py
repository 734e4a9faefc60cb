"""Sections by class: shares, recall and precision, the confusion matrix."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from decorrupt.app.pages.wording import (
    listed,
    measured_cell,
    name_cell,
    number_cell,
    percent,
)
from decorrupt.app.training.results import BagPrediction, BagSummary, ClassResult
from decorrupt.documents import Block, Cell, Facts, Table

WORTH = (
    "Worth in labelled rows: the number of rows of this class with known labels that would give "
    "the mean of the class as precisely. It describes the mean map; the count likelihood often "
    "needs far fewer rows. Where several classes always change together, they are hard to "
    "distinguish."
)


def class_bag_blocks(bags: BagSummary, size_facts: Sequence[tuple[str, str]]) -> list[Block]:
    """Return sizes of bags, and shares and information of several classes."""
    facts = [
        *size_facts,
        ("classes", f"{len(bags['classes'])}"),
        ("hardest to distinguish", listed(bags["hardest_classes"])),
        (
            "effective sample size",
            f"{bags['effective_sample_size']:,.0f} labelled rows "
            f"({percent(bags['efficiency'])} of all)",
        ),
    ]
    rows: list[list[Cell]] = [
        [
            name_cell(one["name"]),
            number_cell(one["pooled_proportion"]),
            number_cell(one["proportions"]["min"]),
            number_cell(one["proportions"]["max"]),
            number_cell(one["effective_rows"], 1),
        ]
        for one in bags["classes"]
    ]
    heads = ["class", "share of all rows", "smallest share", "largest share", "worth"]
    return [Facts(facts), Table("class-shares", f"Classes. {WORTH}", heads, rows)]


def class_share_table(bags: Sequence[BagPrediction], classes: Sequence[str], name: str) -> Table:
    """Return known and predicted shares of each class, and their difference per bag."""
    total = sum(bag["size"] for bag in bags)

    def pooled(key: str, c: int) -> float:
        return sum(bag["size"] * bag[key][c] for bag in bags) / total  # type: ignore[literal-required]

    rows: list[list[Cell]] = [
        [
            name_cell(label),
            *(number_cell(pooled(key, c)) for key in ("known", "predicted", "classified")),
            number_cell(statistics.fmean(abs(b["predicted"][c] - b["known"][c]) for b in bags)),
        ]
        for c, label in enumerate(classes)
    ]
    caption = "Shares of the classes among all rows, and the mean absolute difference per bag"
    heads = ["class", "known", "predicted", "classified", "difference per bag"]
    return Table(f"{name}-classes", caption, heads, rows)


def recall_table(classes: Sequence[ClassResult], name: str) -> Table:
    """Return recall and precision of each class."""
    rows: list[list[Cell]] = [
        [
            name_cell(one["name"]),
            one["n_rows"],
            measured_cell(one["recall"]),
            measured_cell(one["precision"]),
        ]
        for one in classes
    ]
    caption = (
        "Recall: share of the rows of the class that are recognised. Precision: share of the rows "
        "predicted as the class that belong to it."
    )
    return Table(name, caption, ["class", "rows", "recall", "precision"], rows)


def confusion_table(
    names: Sequence[str], confusion: Sequence[Sequence[int]], name: str, about: str = ""
) -> Table:
    """Return a confusion matrix; numbers of correct rows are bold."""

    def cell(n: int, *, is_right: bool) -> Cell:
        tone = "" if is_right or not n else "suspect"
        return {"text": f"{n:,}" if n else "·", "sort": n, "strong": is_right, "tone": tone}

    rows: list[list[Cell]] = [
        [name_cell(label), *(cell(n, is_right=c == place) for c, n in enumerate(row))]
        for place, (label, row) in enumerate(zip(names, confusion, strict=True))
    ]
    caption = f"Confusion matrix{about}: true classes in rows, predicted classes in columns"
    return Table(name, caption, ["true class", *names], rows, sortable=False)
