"""Cost, selected settings, coverage, rows left out, versions and data sets of the runs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from reproduction.records import Record
from reproduction.report.tables import CellKey
from reproduction.uci import UCI_LICENCE, UCI_SOURCES

# The finished records of each method.
Runs = Mapping[str, Sequence[Record]]
# The values of a parameter with more different values than this are rounded.
MANY_VALUES = 8


def costs(runs: Runs) -> list[dict[str, Any]]:
    """Return seconds and memory per method."""
    return [
        {
            "method": method,
            "n_runs": len(records),
            "median_seconds": statistics.median(r["seconds"] for r in records),
            "longest_seconds": max(r["seconds"] for r in records),
            "total_seconds": sum(r["seconds"] for r in records),
            "peak_mb": max((r["peak_mb"] for r in records if r.get("peak_mb")), default=None),
        }
        for method, records in runs.items()
        if records
    ]


def trade_off(runs: Runs, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return median time and mean accuracy per method, over the cells that all methods have."""
    common = table["common_means"]
    cells = set(map(tuple, common["cells"]))
    points = [
        {"method": method, "seconds": statistics.median(seconds), "mean": common["means"][method]}
        for method, records in runs.items()
        if method in common["means"]
        and (seconds := [r["seconds"] for r in records if (r["dataset"], r["bag_size"]) in cells])
    ]
    return {"n_cells": len(cells), "points": points, "best_published": common["best_published"]}


def choices(runs: Runs) -> list[dict[str, Any]]:
    """Return how often each value of each parameter was selected, per method."""
    found = []
    for method, records in runs.items():
        values: dict[str, list[Any]] = {}
        for record in records:
            for name, value in _parameters(record).items():
                values.setdefault(name, []).append(value)
        found += [
            {"method": method, "parameter": name, "counts": _counts(selected)}
            for name, selected in sorted(values.items())
            if len(set(map(str, selected))) > 1
        ]
    return found


def _parameters(record: Record) -> dict[str, Any]:
    """Return the selected values; a γ that was scaled by 1/n_features is multiplied by it."""
    params = dict(record.get("params") or {})
    source = UCI_SOURCES.get(record["dataset"])
    gamma = params.get("kernel_gamma")
    if source and isinstance(gamma, float) and _significant(gamma, 3) != gamma:
        params["kernel_gamma × features"] = params.pop("kernel_gamma") * source.n_features
    return params


def _counts(values: Sequence[Any]) -> list[dict[str, Any]]:
    """Return sorted values and their counts; many different floats are rounded to one digit."""
    if len(set(map(str, values))) > MANY_VALUES:
        values = [_significant(v, 1) if isinstance(v, float) else v for v in values]
    counted = Counter(values)
    numbers = all(isinstance(value, int | float) for value in counted)
    order = sorted(counted, key=None if numbers else str)
    return [{"value": value, "count": counted[value]} for value in order]


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def methods_chosen(records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Return how often the automatic choice selected each method, per data set."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        if "method" in (record.get("params") or {}):
            found.setdefault(record["dataset"], Counter())[str(record["params"]["method"])] += 1
    return {dataset: dict(counter) for dataset, counter in found.items()}


def coverage(runs: Runs, n_cells: int) -> list[dict[str, Any]]:
    """Return how many cells have finished runs, and how many runs per cell, for each method."""
    found = []
    for method, records in runs.items():
        counts = Counter((record["dataset"], record["bag_size"]) for record in records)
        found.append(
            {
                "method": method,
                "n_cells": len(counts),
                "n_missing": n_cells - len(counts),
                "n_runs": len(records),
                "fewest": min(counts.values(), default=0),
                "most": max(counts.values(), default=0),
            }
        )
    return found


def left_out_rows(done: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the number of training rows that did not fill a bag, per cell."""
    keys = ("dataset", "bag_size", "n_left_out", "n_train")
    found = {
        (record["dataset"], record["bag_size"]): {key: record[key] for key in keys}
        for record in done
        if set(keys) <= record.keys()
    }
    return [found[cell] for cell in sorted(found)]


def environments(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return every combination of versions, and its number of records."""
    counted = Counter(tuple(sorted((record.get("versions") or {}).items())) for record in records)
    return [{"versions": dict(pairs), "n_records": n} for pairs, n in counted.most_common()]


def data_sets(cells: Sequence[CellKey]) -> list[dict[str, Any]]:
    """Return source and licence of the known data sets."""
    return [
        {
            "dataset": name,
            "n_features": source.n_features,
            "positive_classes": list(source.positive_classes),
            "reference": source.reference,
            "page": source.page,
            "licence": UCI_LICENCE,
        }
        for name in dict.fromkeys(dataset for dataset, _ in cells)
        if (source := UCI_SOURCES.get(name))
    ]
