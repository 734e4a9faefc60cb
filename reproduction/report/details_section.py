"""Sections on cost, selected settings, failures, rows left out, versions and data sets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from decorrupt.documents import (
    Block,
    Cell,
    Figure,
    Table,
    Text,
    count,
    duration,
    number,
    value_cell,
)
from reproduction.report.plots import cost_plot
from reproduction.report.summary import MAIN_METRIC, columns_of, labels_of


def cost_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return accuracy against time, and a table of time and memory."""
    labels, means = labels_of(summary), summary["tables"][MAIN_METRIC]["means"]
    if not summary["costs"]:
        return [Text("No run has finished.")]
    text = (
        "Seconds of one run on one core: selection of settings, training and testing. The machine "
        "was shared, so small differences mean nothing. Memory is the peak of the process, which "
        "may come from an earlier run in it."
    )
    rows = [
        [
            labels[cost["method"]],
            cost["n_runs"],
            value_cell(cost["median_seconds"], duration),
            value_cell(cost["longest_seconds"], duration),
            value_cell(cost["total_seconds"], duration),
            None if cost["peak_mb"] is None else round(cost["peak_mb"]),
            _accuracy(means[cost["method"]]),
        ]
        for cost in summary["costs"]
    ]
    heads = ["method", "runs", "median", "longest", "all runs", "memory, MB", "balanced accuracy"]
    table = Table("costs", "Time and memory per method, over all its runs", heads, rows)
    return [Text(text), _cost_figure(summary), table]


def _accuracy(mean: Mapping[str, Any]) -> Cell:
    text, cells = number(mean["mean"]), count(mean["n_cells"], "cell")
    return {"text": text, "sort": f"{mean['mean']:.9f}", "under": cells}


def _cost_figure(summary: Mapping[str, Any]) -> Block:
    found = summary["trade_off"]
    if not found["points"]:
        return Text("No plot: there is no cell that all methods have.")
    columns = {column.key: column for column in columns_of(summary)}
    points = [(columns[p["method"]], p["seconds"], p["mean"]) for p in found["points"]]
    caption = (
        f"Mean balanced accuracy against the median time per run, both over the "
        f"{count(found['n_cells'], 'cell')} that all methods have. Dashed: the best published "
        "number of each cell, averaged."
    )
    return Figure(partial(cost_plot, points, found["best_published"]), caption)


def choice_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return how often each setting, and each method by the automatic choice, was selected."""
    labels = labels_of(summary)
    text = (
        "How often cross-validation selected each setting. Where the kernel’s γ is scaled by the "
        "number of features, the table shows γ times that number."
    )
    rows = [
        [
            labels[entry["method"]],
            entry["parameter"],
            ", ".join(f"{_setting(c['value'], labels)}: {c['count']}×" for c in entry["counts"]),
        ]
        for entry in summary["choices"]
    ]
    heads = ["method", "setting", "value: times"]
    settings = Table("choices", "Selected settings", heads, rows, heads=2)
    return [Text(text), settings, *_methods_chosen(summary, labels)]


def _setting(value: Any, labels: Mapping[str, str]) -> str:
    return f"{value:g}" if isinstance(value, float) else labels.get(str(value), str(value))


def _methods_chosen(summary: Mapping[str, Any], labels: Mapping[str, str]) -> list[Block]:
    by_dataset = summary["methods_chosen"]
    if not by_dataset:
        return []
    names = sorted({name for counts in by_dataset.values() for name in counts})
    rows = [[dataset, *(n.get(name, 0) for name in names)] for dataset, n in by_dataset.items()]
    heads = ["data set", *(labels.get(name, name) for name in names)]
    caption = "Methods that the automatic choice selected, in runs"
    return [Table("methods-chosen", caption, heads, rows)]


def failure_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the failed runs, and the number of finished runs and missing cells per method."""
    labels = labels_of(summary)
    rows = [
        [
            cell["dataset"],
            cell["bag_size"],
            labels[cell["method"]],
            cell["repetition"],
            cell["status"],
        ]
        for cell in summary["failures"]
    ]
    heads = ["data set", "bag size", "method", "repetition", "error"]
    failed = Table("failures", "Failed runs that no later run replaced", heads, rows, heads=2)
    keys = ("n_cells", "n_missing", "n_runs", "fewest", "most")
    covered = [
        [labels[entry["method"]], *(entry[key] for key in keys)] for entry in summary["coverage"]
    ]
    heads = ["method", "cells", "missing cells", "runs", "fewest per cell", "most per cell"]
    return [
        failed if rows else Text("No run failed."),
        Table("coverage", "Finished runs per method; missing cells were not run", heads, covered),
    ]


def left_out_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the number of training rows that did not fill a bag."""
    found = {(entry["dataset"], entry["bag_size"]): entry for entry in summary["left_out"]}
    if not found:
        return [Text("The records do not contain this.")]
    datasets, sizes = (sorted({key[k] for key in found}) for k in (0, 1))
    rows = [[name, *(_left_out(found.get((name, size))) for size in sizes)] for name in datasets]
    caption = "Training rows that did not fill a bag, by bag size"
    return [Table("left-out-rows", caption, ["data set", *map(str, sizes)], rows)]


def _left_out(entry: Mapping[str, Any] | None) -> Cell:
    if entry is None:
        return None
    left, used = entry["n_left_out"], entry["n_train"]
    return {"text": str(left), "sort": left, "under": f"of {left + used:,}"}


def environment_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the versions that produced the numbers."""
    found = summary["environments"]
    names = sorted({name for entry in found for name in entry["versions"]})
    if not names:
        return [Text("The records do not contain this.")]
    rows = [[*(e["versions"].get(name) for name in names), e["n_records"]] for e in found]
    caption = "Versions, and the number of records made with them"
    return [Table("versions", caption, [*names, "records"], rows, heads=0)]


def data_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return source and licence of the data sets, as the licence requires."""
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
    heads = ["data set", "features", "positive class", "source", "licence"]
    caption = "The data sets, all from the UCI Machine Learning Repository"
    return [Table("sources", caption, heads, rows)]
