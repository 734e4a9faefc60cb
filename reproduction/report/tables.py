"""Tables 1 and 2: mean ± standard deviation per cell, published and ours, and differences."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from reproduction.published import (
    PUBLISHED_REPETITIONS,
    PUBLISHED_TABLES,
    RERUNS,
    published_cells,
    published_numbers,
)
from reproduction.records import DONE, Record
from reproduction.report.columns import BEST_PUBLISHED, Column

# Means closer than this are called equal.
TIE = 0.005

CellKey = tuple[str, int]  # data set, bag size
# The values of one method by cell and repetition.
Scores = dict[CellKey, dict[int, float]]
Values = dict[str, dict[str, Any]]


class Spread(NamedTuple):
    """Mean, sample standard deviation (None for a single value) and number of values."""

    mean: float
    std: float | None
    n: int


def spread(values: Iterable[float]) -> Spread:
    """Return mean, standard deviation (with n − 1, as in the paper's tables) and number.

    Examples
    --------
    >>> spread([0.5, 1.0])
    Spread(mean=0.75, std=0.3535533905932738, n=2)
    """
    found = list(values)
    deviation = statistics.stdev(found) if len(found) > 1 else None
    return Spread(statistics.fmean(found), deviation, len(found))


def scores_by_method(records: Iterable[Record], metric: str) -> dict[str, Scores]:
    """Return the metric of all finished runs by method, cell and repetition."""
    found: dict[str, Scores] = {}
    for record in records:
        if record["status"] == DONE:
            cell = record["dataset"], record["bag_size"]
            by_cell = found.setdefault(record["method"], {})
            by_cell.setdefault(cell, {})[record["repetition"]] = float(record[metric])
    return found


def paper_table(
    records: Sequence[Record], metric: str, columns: Sequence[Column]
) -> dict[str, Any]:
    """Return one table as plain values.

    The rows are the paper's 42 cells and any other cells of the records. The `values` of a row
    contain only the methods that have a value in the cell.
    """
    found = scores_by_method(records, metric)
    rows = []
    for cell in report_cells(records):
        values = _published(metric, cell)
        for method, scores in found.items():
            if cell in scores:
                values[method] = spread(scores[cell].values())._asdict()
        rows.append(_row(cell, values, columns))
    return {
        "number": PUBLISHED_TABLES[metric],
        "metric": metric,
        "rows": rows,
        "means": _means(rows, columns),
        "common_means": _common_means(rows, columns),
    }


def report_cells(records: Sequence[Record]) -> list[CellKey]:
    """Return the paper's cells in its order, then any others of the records."""
    known = published_cells()
    own = {(record["dataset"], record["bag_size"]) for record in records}
    return [*known, *sorted(own - set(known))]


def verdict(difference: float) -> str:
    """Return "better", "worse" or, within `TIE`, "same"."""
    if abs(difference) < TIE:
        return "same"
    return "better" if difference > 0 else "worse"


def _published(metric: str, cell: CellKey) -> Values:
    numbers = published_numbers()
    return {
        f"published:{method}": numbers[metric, *cell, method]._asdict()
        | {"n": PUBLISHED_REPETITIONS}
        for method in RERUNS
        if (metric, *cell, method) in numbers
    }


def _row(cell: CellKey, values: Values, columns: Sequence[Column]) -> dict[str, Any]:
    published = [value["mean"] for key, value in values.items() if key.startswith("published:")]
    targets = {key: value["mean"] for key, value in values.items()}
    targets |= {BEST_PUBLISHED: max(published)} if published else {}
    rivals = [column.key for column in columns if not column.sees_labels and column.key in values]
    best = max((values[key]["mean"] for key in rivals), default=None)
    for column in columns:
        if column.key in values:
            value = values[column.key]
            value["best"] = column.key in rivals and round(value["mean"], 4) == round(best or 0, 4)
            if column.against in targets:
                value["difference"] = value["mean"] - targets[column.against]
                value["verdict"] = verdict(value["difference"])
    return {
        "dataset": cell[0],
        "bag_size": cell[1],
        "best_published": targets.get(BEST_PUBLISHED),
        "values": values,
    }


def _means(rows: Sequence[dict[str, Any]], columns: Sequence[Column]) -> dict[str, Any]:
    """Return each column's mean over its cells, and the mean of its differences."""
    means = {}
    for column in columns:
        own = [row["values"][column.key] for row in rows if column.key in row["values"]]
        differences = [value["difference"] for value in own if "difference" in value]
        if own:
            means[column.key] = {
                "mean": statistics.fmean(value["mean"] for value in own),
                "n_cells": len(own),
                "difference": statistics.fmean(differences) if differences else None,
                "n_compared": len(differences),
            }
    return means


def _common_means(rows: Sequence[dict[str, Any]], columns: Sequence[Column]) -> dict[str, Any]:
    """Return means over the cells in which every column has a value.

    A method that was run in fewer than half of the cells with our runs is left out: it would reduce
    the comparison of all others to its cells.
    """
    run = [row for row in rows if any(":" not in key for key in row["values"])] or rows
    counts = {c.key: sum(c.key in row["values"] for row in run) for c in columns}
    present = [key for key, count in counts.items() if count and 2 * count >= len(run)]
    common = [row for row in rows if all(key in row["values"] for key in present)]
    if not common:
        return {"n_cells": 0, "cells": [], "means": {}, "best_published": None}
    published = [row["best_published"] for row in common if row["best_published"] is not None]
    return {
        "n_cells": len(common),
        "cells": [[row["dataset"], row["bag_size"]] for row in common],
        "means": {
            key: statistics.fmean(row["values"][key]["mean"] for row in common) for key in present
        },
        "best_published": statistics.fmean(published) if published else None,
    }
