"""What stands behind the findings: cost, choices, failures, rows left out, versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decorrupt.documents.document import Block, Cell, Figure, Table, Text
from decorrupt.documents.numbers import count, duration, number
from decorrupt.reproduction.report.plots import cost_plot
from decorrupt.reproduction.report.summary import MAIN_METRIC, columns_of


def cost_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return time against accuracy, and a table of both."""
    labels = {column.key: column.label for column in columns_of(summary)}
    means = summary["tables"][MAIN_METRIC]["means"]
    if not summary["costs"]:
        return [Text("No run has finished.")]
    text = (
        "Seconds of one run: choice of settings, training and test, on one core. Runs shared the "
        "machine with others, so take small differences for nothing. Memory is the largest the "
        "process had used until then, earlier runs included."
    )
    rows = [[labels[cost["method"]], *_cost_cells(cost, means)] for cost in summary["costs"]]
    heads = ["method", "runs", "median", "longest", "all runs", "memory, MB", "balanced accuracy"]
    return [
        Text(text),
        *_cost_figure(summary),
        Table("costs", "Time and memory by method, all its runs", heads, rows),
    ]


def _cost_figure(summary: Mapping[str, Any]) -> list[Block]:
    found = summary["trade_off"]
    columns = {column.key: column for column in columns_of(summary)}
    if not found["points"]:
        return [Text("No plot: there is no cell that all methods have.")]
    points = [(columns[p["method"]], p["seconds"], p["mean"]) for p in found["points"]]
    caption = (
        f"Mean balanced accuracy against the median time of a run, both over the "
        f"{count(found['n_cells'], 'cell')} that all methods have. Dashed: the best published "
        "number of each cell, on the mean."
    )
    return [Figure(cost_plot(points, found["best_published"]), caption)]


def _cost_cells(cost: Mapping[str, Any], means: Mapping[str, Any]) -> list[Cell]:
    times: list[Cell] = [
        {"text": duration(cost[key]), "sort": cost[key]}
        for key in ("median_seconds", "longest_seconds", "total_seconds")
    ]
    mean = means[cost["method"]]
    fewer = f"{mean['n_cells']} cells"
    accuracy = {"text": number(mean["mean"]), "sort": f"{mean['mean']:.6f}", "under": fewer}
    peak = None if cost["peak_mb"] is None else round(cost["peak_mb"])
    return [cost["n_runs"], *times, peak, accuracy]


def choice_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return which settings won, and which methods the automatic choice took."""
    labels = {column.key: column.label for column in columns_of(summary)}
    text = (
        "How often each setting won the cross-validation. Where the kernel’s width is scaled to "
        "the number of features, it is shown times that number."
    )
    rows = [
        [
            labels[entry["method"]],
            entry["parameter"],
            ", ".join(f"{_setting(c['value'], labels)}: {c['count']}×" for c in entry["counts"]),
        ]
        for entry in summary["choices"]
    ]
    settings = Table(
        "choices", "Settings chosen", ["method", "setting", "value: times"], rows, heads=2
    )
    return [Text(text), settings, *_methods_chosen(summary, labels)]


def _setting(value: Any, labels: Mapping[str, str]) -> str:
    return f"{value:g}" if isinstance(value, float) else labels.get(str(value), str(value))


def _methods_chosen(summary: Mapping[str, Any], labels: Mapping[str, str]) -> list[Block]:
    by_dataset = summary["methods_chosen"]
    names = sorted({name for counts in by_dataset.values() for name in counts})
    rows: list[list[Cell]] = [
        [dataset, *(counts.get(name, 0) for name in names)]
        for dataset, counts in by_dataset.items()
    ]
    if not rows:
        return []
    heads = ["data set", *(labels.get(name, name) for name in names)]
    return [Table("methods-chosen", "Methods that the automatic choice took, in runs", heads, rows)]


def failure_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return what went wrong, and what has not been run."""
    labels = {column.key: column.label for column in columns_of(summary)}
    failed = summary["failures"]
    rows = [
        [
            cell["dataset"],
            cell["bag_size"],
            labels[cell["method"]],
            cell["repetition"],
            cell["status"],
        ]
        for cell in failed
    ]
    heads = ["data set", "bag size", "method", "repetition", "error"]
    found: Block = (
        Table("failures", "Cells whose last run failed", heads, rows, heads=2)
        if rows
        else Text("No cell failed.")
    )
    return [found, _coverage(summary, labels)]


def _coverage(summary: Mapping[str, Any], labels: Mapping[str, str]) -> Table:
    keys = ("n_cells", "n_missing", "n_runs", "fewest", "most")
    rows = [
        [labels[entry["method"]], *(entry[key] for key in keys)] for entry in summary["coverage"]
    ]
    heads = ["method", "cells", "missing cells", "runs", "fewest a cell", "most a cell"]
    return Table("coverage", "Finished runs by method; the rest has not been run", heads, rows)


def left_out_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the training rows that filled no bag."""
    found = {(e["dataset"], e["bag_size"]): e for e in summary["left_out"]}
    if not found:
        return [Text("The records do not say.")]
    datasets, sizes = (sorted({key[k] for key in found}) for k in (0, 1))
    rows = [[name, *(_left_out(found.get((name, size))) for size in sizes)] for name in datasets]
    return [
        Table(
            "left-out-rows",
            "Training rows that filled no bag, of how many, by bag size",
            ["data set", *map(str, sizes)],
            rows,
        )
    ]


def _left_out(entry: Mapping[str, Any] | None) -> Cell:
    if entry is None:
        return None
    left, used = entry["n_left_out"], entry["n_train"]
    return {"text": str(left), "sort": left, "under": f"of {left + used:,}"}


def environment_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the versions the numbers were made with."""
    found = summary["environments"]
    names = sorted({name for entry in found for name in entry["versions"]})
    if not names:
        return [Text("The records do not say.")]
    rows = [[*(e["versions"].get(name) for name in names), e["n_records"]] for e in found]
    return [
        Text(f"{count(len(found), 'combination')} of versions made these records."),
        Table(
            "versions", "Versions, and the records they made", [*names, "records"], rows, heads=0
        ),
    ]


def data_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return where the data come from, as their licence asks."""
    rows = [
        [
            entry["dataset"],
            entry["n_features"],
            " and ".join(entry["positive_classes"]),
            f"{entry['reference']}. {entry['page']}",
            entry["licence"],
        ]
        for entry in summary["data_sets"]
    ]
    heads = ["data set", "features", "first kind (class)", "source", "licence"]
    caption = "The data sets, all from the UCI Machine Learning Repository"
    return [Table("sources", caption, heads, rows)]
