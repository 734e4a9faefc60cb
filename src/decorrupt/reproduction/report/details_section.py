"""What the runs cost, what was chosen, what failed, what was left out, and on which versions."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from decorrupt.datasets.uci import LICENCE, SOURCES
from decorrupt.reproduction.records import DONE, Record
from decorrupt.reproduction.report.columns import Column
from decorrupt.reproduction.report.spread import CellKey

# A parameter with more values than this is shown rounded, or by its range.
MANY_VALUES = 8


def costs(done: Sequence[Record], columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return seconds and memory by method."""
    found = []
    for column in columns:
        own = [record for record in done if record["method"] == column.key]
        if own:
            seconds = [record["seconds"] for record in own]
            peaks = [record["peak_mb"] for record in own if record.get("peak_mb") is not None]
            found.append(
                {
                    "method": column.key,
                    "n_runs": len(own),
                    "median_seconds": statistics.median(seconds),
                    "longest_seconds": max(seconds),
                    "total_seconds": sum(seconds),
                    "peak_mb": max(peaks, default=None),
                }
            )
    return found


def trade_off(done: Sequence[Record], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return median time and mean accuracy by method, over the cells that all methods have."""
    common = table["common_means"]
    cells = set(map(tuple, common["cells"]))
    seconds: dict[str, list[float]] = {}
    for record in done:
        if (record["dataset"], record["bag_size"]) in cells:
            seconds.setdefault(record["method"], []).append(record["seconds"])
    points = [
        {"method": method, "seconds": statistics.median(found), "mean": common["means"][method]}
        for method, found in seconds.items()
    ]
    return {"n_cells": len(cells), "points": points, "best_published": common["best_published"]}


def choices(done: Sequence[Record], columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return how often each value of each parameter was chosen, by method."""
    found = []
    for column in columns:
        values: dict[str, list[Any]] = {}
        for record in done:
            if record["method"] == column.key:
                for name, value in _parameters(record).items():
                    values.setdefault(name, []).append(value)
        found += [
            {"method": column.key, "parameter": name, "counts": _counts(given)}
            for name, given in sorted(values.items())
            if len(set(map(str, given))) > 1
        ]
    return found


def _parameters(record: Record) -> dict[str, Any]:
    """Return the chosen values; our kernel widths, which scale with the columns, without that."""
    params = dict(record.get("params") or {})
    source = SOURCES.get(record["dataset"])
    gamma = params.get("kernel_gamma")
    if source and isinstance(gamma, float) and _significant(gamma, 3) != gamma:
        params["kernel_gamma × features"] = params.pop("kernel_gamma") * source.n_features
    return params


def _counts(values: Sequence[Any]) -> list[dict[str, Any]]:
    """Return values and their numbers, in order; many different floats rounded to one figure."""
    if len(set(map(str, values))) > MANY_VALUES:
        values = [_significant(v, 1) if isinstance(v, float) else v for v in values]
    counted = Counter(values)
    numbers = all(isinstance(value, int | float) for value in counted)
    order = sorted(counted, key=None if numbers else str)
    return [{"value": value, "count": counted[value]} for value in order]


def _significant(value: float, figures: int) -> float:
    return float(f"{value:.{figures}g}")


def methods_chosen(done: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Return how often the automatic choice took which method, by data set."""
    found: dict[str, Counter[str]] = {}
    for record in done:
        if record["method"] == "auto" and "method" in (record.get("params") or {}):
            found.setdefault(record["dataset"], Counter())[str(record["params"]["method"])] += 1
    return {dataset: dict(counter) for dataset, counter in found.items()}


def failures(last: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the cells whose last try failed, with the error."""
    keys = ("dataset", "bag_size", "method", "repetition", "status")
    return [{key: record[key] for key in keys} for record in last if record["status"] != DONE]


def coverage(
    done: Sequence[Record], columns: Sequence[Column], n_cells: int
) -> list[dict[str, Any]]:
    """Return, by method of ours, how many cells have records, and with how many repetitions."""
    found = []
    for column in columns:
        if not column.is_published:
            counts = Counter(
                (record["dataset"], record["bag_size"])
                for record in done
                if record["method"] == column.key
            )
            found.append(
                {
                    "method": column.key,
                    "n_cells": len(counts),
                    "n_missing": n_cells - len(counts),
                    "n_runs": sum(counts.values()),
                    "fewest": min(counts.values(), default=0),
                    "most": max(counts.values(), default=0),
                }
            )
    return found


def left_out_rows(done: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the training rows that filled no bag, by cell."""
    found = {
        (record["dataset"], record["bag_size"]): (record["n_left_out"], record["n_train"])
        for record in done
        if {"n_left_out", "n_train"} <= record.keys()
    }
    return [
        {"dataset": dataset, "bag_size": size, "n_left_out": left, "n_train": used}
        for (dataset, size), (left, used) in sorted(found.items())
    ]


def environments(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return every combination of versions, and how many records it made."""
    counted = Counter(tuple(sorted((record.get("versions") or {}).items())) for record in records)
    return [{"versions": dict(pairs), "n_records": n} for pairs, n in counted.most_common()]


def data_sets(cells: Sequence[CellKey]) -> list[dict[str, Any]]:
    """Return the known data sets with what must be said of them wherever they are shown."""
    return [
        {
            "dataset": name,
            "n_features": SOURCES[name].n_features,
            "positive_classes": list(SOURCES[name].positive_classes),
            "reference": SOURCES[name].reference,
            "page": SOURCES[name].page,
            "licence": LICENCE,
        }
        for name in dict.fromkeys(dataset for dataset, _ in cells)
        if name in SOURCES
    ]
