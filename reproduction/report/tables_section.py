"""Sections with the paper's two tables, and the plots of accuracy against bag size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from decorrupt.documents import Block, Cell, Figure, Panels, Table, Text, number, signed, value_cell
from reproduction.published import PUBLISHED_REPETITIONS
from reproduction.report.columns import MARKS, Column
from reproduction.report.plots import size_plot, swatch
from reproduction.report.summary import MAIN_METRIC, columns_of

SUSPECT = (
    "† In both tables, the paper’s ∝SVM row for contraceptive is identical to the one for german. "
    "We show and count it as published, but it cannot be right."
)


def table_blocks(summary: Mapping[str, Any], metric: str) -> list[Block]:
    """Return Table 1 or 2: one row per cell, one column per method."""
    columns, table = columns_of(summary), summary["tables"][metric]
    coverage = {entry["method"]: entry for entry in summary["coverage"]}
    most = {method: entry["most"] for method, entry in coverage.items()}
    explanation = (
        "Mean ± standard deviation over the repetitions; 5× means five repetitions. The best value "
        f"of each row, without the ceiling, is bold. {MARKS['better']} above, {MARKS['worse']} "
        f"below, {MARKS['same']} within {summary['tie']:g} of the published number: of the same "
        "method for reruns and improvements, of the best published method in the cell for the "
        "others. — is missing."
    )
    title = metric.replace("_", " ").capitalize()
    return [
        Text(explanation),
        Text(SUSPECT, "note"),
        Table(
            name=f"paper-table-{table['number']}",
            caption=f"Table {table['number']}. {title} by cell and method",
            columns=["data set", "bag size", *(_heading(c, coverage.get(c.key)) for c in columns)],
            rows=[
                [
                    row["dataset"],
                    row["bag_size"],
                    *(_value(row, column, most) for column in columns),
                ]
                for row in table["rows"]
            ],
            heads=2,
            footer=_footer(table, columns),
            groups=[
                ("", 2),
                *((g, len(list(own))) for g, own in groupby(c.group for c in columns)),
            ],
        ),
    ]


def _heading(column: Column, coverage: Mapping[str, Any] | None) -> str:
    if coverage is None:
        return f"{column.short}, {PUBLISHED_REPETITIONS}×"
    fewest, most = coverage["fewest"], coverage["most"]
    times = f"{most}×" if fewest == most else f"{fewest}–{most}×"
    return f"{column.short}, {times}" if most else column.short


def _value(row: Mapping[str, Any], column: Column, most: Mapping[str, int]) -> Cell:
    value = row["values"].get(column.key)
    if value is None:
        return None
    fewer = f" ({value['n']}×)" if value["n"] < most.get(column.key, 0) else ""
    spread = "" if value["std"] is None else f"± {number(value['std'])}"
    verdict, suspect = value.get("verdict", ""), value.get("suspect", False)
    return {
        "text": number(value["mean"]) + ("†" if suspect else ""),
        "sort": f"{value['mean']:.9f}",
        "strong": value["best"],
        "under": f"{spread}{fewer}".strip(),
        # The mark makes the difference readable without colour.
        "change": f"{MARKS[verdict]} {signed(value['difference'])}" if verdict else "",
        "tone": "suspect" if suspect else verdict,
    }


def _footer(table: Mapping[str, Any], columns: Sequence[Column]) -> list[list[Cell]]:
    n_rows, common = len(table["rows"]), table["common_means"]
    rows: list[list[Cell]] = [
        ["mean", f"{n_rows} cells", *(_mean(table["means"].get(c.key), n_rows) for c in columns)]
    ]
    if 0 < common["n_cells"] < n_rows:
        cells = (value_cell(common["means"].get(column.key)) for column in columns)
        rows.append(["mean", f"{common['n_cells']} common cells", *cells])
    return rows


def _mean(found: Mapping[str, Any] | None, n_rows: int) -> Cell:
    if found is None:
        return None
    difference = found["difference"]
    return {
        "text": number(found["mean"]),
        "sort": f"{found['mean']:.9f}",
        "under": "" if found["n_cells"] == n_rows else f"{found['n_cells']} cells",
        "change": "" if difference is None else signed(difference),
    }


def curve_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return one plot per data set."""
    rows = summary["tables"][MAIN_METRIC]["rows"]
    present = {key for row in rows for key in row["values"]}
    columns = [column for column in columns_of(summary) if column.key in present]
    figures = [
        Figure(partial(size_plot, list(group), columns, f"curve-{place}"), "", dataset)
        for place, (dataset, group) in enumerate(groupby(rows, lambda row: row["dataset"]))
    ]
    legend = [(swatch(c, f"swatch-{k}"), c.label) for k, c in enumerate(columns)]
    text = (
        "One plot per data set; the vertical scales differ. Dashed: published numbers. Black or "
        "white: the supervised ceiling. Dotted: guessing."
    )
    return [Text(text), Panels(figures, legend)]
