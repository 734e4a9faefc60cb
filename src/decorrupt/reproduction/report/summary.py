"""Records → one plain dict with every number of the report; it goes into JSON as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from decorrupt.reproduction.published import PUBLISHED_TABLES
from decorrupt.reproduction.records import DONE, Record, cell_of, finished_cells, latest
from decorrupt.reproduction.report.agreement import agreement
from decorrupt.reproduction.report.columns import Column, all_columns
from decorrupt.reproduction.report.comparison import compare
from decorrupt.reproduction.report.details_section import (
    choices,
    costs,
    coverage,
    data_sets,
    environments,
    failures,
    left_out_rows,
    methods_chosen,
    trade_off,
)
from decorrupt.reproduction.report.tables import TIE, paper_table, report_cells

FORMAT = 1
MAIN_METRIC = "balanced_accuracy"


def summarise_run(records: Sequence[Record]) -> dict[str, Any]:
    """Return the report's numbers.

    Where a cell has several records, a finished one counts, and of several the last.
    """
    done = latest(record for record in records if record["status"] == DONE)
    columns = all_columns(record["method"] for record in records)
    cells = report_cells(records)
    tables = {metric: paper_table(done, metric, columns) for metric in PUBLISHED_TABLES}
    finished = finished_cells(done)
    unfinished = [record for record in latest(records) if cell_of(record) not in finished]
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
        "costs": costs(done, columns),
        "trade_off": trade_off(done, tables[MAIN_METRIC]),
        "choices": choices(done, columns),
        "methods_chosen": methods_chosen(done),
        "failures": failures(unfinished),
        "coverage": coverage(done, columns, len(cells)),
        "left_out": left_out_rows(done),
        "environments": environments(done),
        "data_sets": data_sets(cells),
    }


def columns_of(summary: Mapping[str, Any]) -> list[Column]:
    """Return the columns a summary was made with."""
    return [Column(**entry) for entry in summary["columns"]]


def _headline(table: dict[str, Any]) -> dict[str, Any]:
    """Return how the automatic choice does against the best printed number, cell by cell."""
    both = [
        (row, row["values"]["auto"])
        for row in table["rows"]
        if "auto" in row["values"] and row["best_published"] is not None
    ]
    short = [
        {"dataset": row["dataset"], "bag_size": row["bag_size"], "difference": value["difference"]}
        for row, value in both
        if value["difference"] < 0
    ]
    return {"n_cells": len(both), "n_at_least": len(both) - len(short), "below": short}
