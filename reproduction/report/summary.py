"""Records → one dict with every number of the report, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from reproduction.published import PUBLISHED_TABLES
from reproduction.records import DONE, REQUIRED, Record, cell_of, finished_cells, latest
from reproduction.report import details
from reproduction.report.agreement import agreement
from reproduction.report.columns import Column, all_columns
from reproduction.report.comparison import compare
from reproduction.report.tables import TIE, paper_table, report_cells

FORMAT = 1
MAIN_METRIC = "balanced_accuracy"


def summarise_run(records: Sequence[Record]) -> dict[str, Any]:
    """Return the report's numbers.

    A cell with several records counts as finished if one of them is; the last finished one is used.
    """
    done = latest(record for record in records if record["status"] == DONE)
    columns = all_columns(record["method"] for record in records)
    runs = {
        column.key: [record for record in done if record["method"] == column.key]
        for column in columns
        if not column.is_published
    }
    cells = report_cells(records)
    tables = {metric: paper_table(done, metric, columns) for metric in PUBLISHED_TABLES}
    finished = finished_cells(done)
    failed = [record for record in latest(records) if cell_of(record) not in finished]
    return {
        "format": FORMAT,
        "tie": TIE,
        "n_records": len(records),
        "n_done": len(done),
        "columns": [asdict(column) for column in columns],
        "tables": tables,
        "headline": _headline(tables[MAIN_METRIC]),
        "comparison": compare(done, MAIN_METRIC, columns),
        "agreement": agreement(tables[MAIN_METRIC]),
        "costs": details.costs(runs),
        "trade_off": details.trade_off(runs, tables[MAIN_METRIC]),
        "choices": details.choices(runs),
        "methods_chosen": details.methods_chosen(runs["auto"]),
        "failures": [{key: record[key] for key in REQUIRED} for record in failed],
        "coverage": details.coverage(runs, len(cells)),
        "left_out": details.left_out_rows(done),
        "environments": details.environments(done),
        "data_sets": details.data_sets(cells),
    }


def columns_of(summary: Mapping[str, Any]) -> list[Column]:
    """Return the columns of a summary."""
    return [Column(**entry) for entry in summary["columns"]]


def labels_of(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return the label of each column by its key."""
    return {entry["key"]: entry["label"] for entry in summary["columns"]}


def _headline(table: dict[str, Any]) -> dict[str, Any]:
    """Return in how many cells the automatic choice reaches the best published number."""
    both = [
        {key: row[key] for key in ("dataset", "bag_size")}
        | {"difference": row["values"]["auto"]["difference"]}
        for row in table["rows"]
        if "auto" in row["values"] and row["best_published"] is not None
    ]
    below = [cell for cell in both if cell["difference"] < 0]
    return {"n_cells": len(both), "n_at_least": len(both) - len(below), "below": below}
