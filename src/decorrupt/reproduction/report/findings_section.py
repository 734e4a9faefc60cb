"""The two tables and the curves: every cell's numbers, ours beside the printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from decorrupt.documents.document import Block, Cell, Figure, Panels, Table, Text
from decorrupt.documents.numbers import figure_cell, number, signed
from decorrupt.reproduction.report.columns import Column
from decorrupt.reproduction.report.plots import size_plot, swatch
from decorrupt.reproduction.report.summary import MAIN_METRIC, columns_of
from decorrupt.reproduction.report.wording import HEADS, MARKS, SUSPECT, change


def table_blocks(summary: Mapping[str, Any], metric: str) -> list[Block]:
    """Return Table 1 or 2, a row a cell, the printed numbers beside ours."""
    columns, table = columns_of(summary), summary["tables"][metric]
    most = {entry["method"]: entry["most"] for entry in summary["coverage"]}
    above, below, equal = (MARKS[verdict] for verdict in ("better", "worse", "same"))
    reading = (
        "Mean ± standard deviation over the repetitions, whose number is given as 5×; the best of "
        f"a row, the ceiling aside, in bold. {above} above, {below} below, {equal} within "
        f"{summary['tie']:g} of the published number of the same method; for our other methods, of "
        "the best published number of the cell. — is missing."
    )
    rows = [
        [row["dataset"], row["bag_size"], *(_value(row, column, most) for column in columns)]
        for row in table["rows"]
    ]
    return [
        Text(reading),
        Text(SUSPECT, "note"),
        Table(
            name=f"paper-table-{table['number']}",
            caption=f"Table {table['number']}. {_title(metric)} by cell and method",
            columns=[*HEADS, *(_heading(column, summary) for column in columns)],
            rows=rows,
            heads=2,
            footer=_footer(table, columns),
            groups=[("", 2), *_groups(columns)],
        ),
    ]


def _title(metric: str) -> str:
    return metric.replace("_", " ").capitalize()


def _groups(columns: Sequence[Column]) -> list[tuple[str, int]]:
    return [(name, len(list(group))) for name, group in groupby(columns, lambda c: c.group)]


def _heading(column: Column, summary: Mapping[str, Any]) -> str:
    if column.is_published:
        return f"{column.short}, 5×"
    (entry,) = [entry for entry in summary["coverage"] if entry["method"] == column.key]
    fewest, most = entry["fewest"], entry["most"]
    times = f"{most}×" if fewest == most else f"{fewest}–{most}×"
    return f"{column.short}, {times}" if most else column.short


def _value(row: Mapping[str, Any], column: Column, most: Mapping[str, int]) -> Cell:
    value = row["values"].get(column.key)
    if value is None:
        return None
    fewer = f" ({value['n']}×)" if value["n"] < most.get(column.key, 0) else ""
    spread = "" if value["std"] is None else f"± {number(value['std'])}"
    return {
        "text": number(value["mean"]) + ("†" if value.get("suspect") else ""),
        "sort": f"{value['mean']:.6f}",
        "strong": value["best"],
        "under": f"{spread}{fewer}".strip(),
        "change": change(value) if "verdict" in value else "",
        "tone": "suspect" if value.get("suspect") else value.get("verdict", ""),
    }


def _footer(table: Mapping[str, Any], columns: Sequence[Column]) -> list[list[Cell]]:
    n_rows, common = len(table["rows"]), table["common_means"]
    rows: list[list[Cell]] = [
        ["mean", f"{n_rows} cells", *(_mean(table["means"].get(c.key), n_rows) for c in columns)]
    ]
    if 0 < common["n_cells"] < n_rows:
        shared = [common["means"].get(column.key) for column in columns]
        cells = [None if mean is None else figure_cell(mean) for mean in shared]
        rows.append(["mean", f"the {common['n_cells']} all have", *cells])
    return rows


def _mean(found: Mapping[str, Any] | None, n_rows: int) -> Cell:
    if found is None:
        return None
    fewer = "" if found["n_cells"] == n_rows else f"{found['n_cells']} cells"
    apart = found["difference"]
    return figure_cell(found["mean"]) | {
        "under": fewer,
        "change": "" if apart is None else signed(apart),
    }


def curve_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return a plot a data set."""
    rows = summary["tables"][MAIN_METRIC]["rows"]
    columns = [
        column for column in columns_of(summary) if any(column.key in row["values"] for row in rows)
    ]
    figures = []
    for place, (dataset, group) in enumerate(groupby(rows, lambda row: row["dataset"])):
        drawing = size_plot(list(group), columns, f"curve-{place}")
        figures.append(Figure(drawing, "", dataset))
    legend = [(swatch(c, f"swatch-{k}"), c.label) for k, c in enumerate(columns)]
    text = (
        "One plot a data set, with a scale of its own. Dashed: published numbers. Black or white: "
        "the supervised ceiling. Dotted: guessing."
    )
    return [Text(text), Panels(figures, legend)]
