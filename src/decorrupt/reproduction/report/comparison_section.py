"""Method against method, and our reruns against the printed numbers, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from decorrupt.documents.document import Block, Cell, Table, Text
from decorrupt.documents.numbers import count, figure_cell, p_value, signed
from decorrupt.reproduction.report.columns import Column
from decorrupt.reproduction.report.summary import columns_of
from decorrupt.reproduction.report.wording import HEADS, MARKS


def comparison_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return wins, ties and losses, ranks, and the tests of all pairs."""
    columns, found = columns_of(summary), summary["comparison"]
    labels = {column.key: column.label for column in columns}
    what = (
        f"Paired are cells, by balanced accuracy. Two methods of ours are compared in a cell over "
        f"the repetitions both have, which are the same splits and bags; a published mean is "
        f"compared with the mean of all our repetitions. Less than {summary['tie']:g} apart is a "
        "tie. The six cells of a data set hold the same rows and are not independent: take the "
        "p-values as a summary, not as proof."
    )
    return [
        Text(what),
        _matrix(found["pairs"], columns),
        *_rank_blocks(found["ranks"], labels),
        _pair_table(found, labels),
    ]


def _matrix(pairs: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> Table:
    record = {
        (pair["one"], pair["other"]): (pair["wins"], pair["ties"], pair["losses"]) for pair in pairs
    }
    record |= {(other, one): wtl[::-1] for (one, other), wtl in record.items()}
    present = [column for column in columns if any(column.key in pair for pair in record)]
    rows = [
        [one.label, *(_score(record.get((one.key, other.key)), one is other) for other in present)]
        for one in present
    ]
    return Table(
        name="wins",
        caption="Wins – ties – losses of the row’s method against the column’s, in cells",
        columns=["method", *(column.label for column in present)],
        rows=rows,
        sortable=False,
    )


def _score(record: tuple[int, int, int] | None, is_itself: bool) -> Cell:
    if record is None or is_itself:
        return "" if is_itself else None
    wins, _, losses = record
    tone = "same" if wins == losses else "better" if wins > losses else "worse"
    mark = MARKS[tone]
    return {"text": f"{mark} {'–'.join(map(str, record))}", "sort": wins, "tone": tone}


def _rank_blocks(ranks: Mapping[str, Any], labels: Mapping[str, str]) -> list[Block]:
    if not ranks["average"]:
        return [Text("Too few methods have the same cells for ranks.")]
    order = sorted(ranks["average"].items(), key=lambda item: item[1])
    test = (
        ""
        if ranks["p"] is None
        else f"; Friedman’s χ² = {ranks['statistic']:.1f}, p {_equals(ranks['p'])}"
    )
    missing = ", ".join(labels[key] for key in ranks["left_out"])
    left_out = f"; left out, because they lack cells: {missing}" if missing else ""
    caption = f"Average rank over {ranks['n_cells']} cells, 1 is best{test}{left_out}"
    rows: list[list[Cell]] = [[labels[key], figure_cell(rank, 2)] for key, rank in order]
    return [Table("ranks", caption, ["method", "average rank"], rows)]


def _equals(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _pair_table(found: Mapping[str, Any], labels: Mapping[str, str]) -> Table:
    rows = [
        [
            labels[pair["one"]],
            labels[pair["other"]],
            pair["n_cells"],
            "–".join(str(pair[key]) for key in ("wins", "ties", "losses")),
            {"text": signed(pair["mean_difference"]), "sort": f"{pair['mean_difference']:.6f}"},
            _p_cell(pair["p"]),
            _p_cell(pair["p_holm"]),
        ]
        for pair in found["pairs"]
        if pair["n_cells"]
    ]
    caption = (
        f"All pairs: Wilcoxon’s signed-rank test over the cells, two-sided, and its p corrected "
        f"for {count(found['n_tests'], 'test')} (Holm)"
    )
    columns = ["method", "against", "cells", "wins–ties–losses", "mean difference", "p", "p, Holm"]
    return Table("pairs", caption, columns, rows, heads=2)


def _p_cell(p: float | None) -> Cell:
    return None if p is None else {"text": p_value(p), "sort": f"{p:.9f}"}


def agreement_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return how many cells deviate from the published numbers, and which."""
    found = summary["agreement"]
    labels = {column.key: column.label for column in columns_of(summary)}
    text = (
        "Our faithful reruns of the three published methods against the published numbers, in "
        "pooled standard deviations of the repetitions: (ours − published) / √(((n−1)s² + 4s′²) / "
        f"(n+3)). More than {found['limit']:g} is called a deviation. ∞ stands where neither side "
        "varied and the means differ."
    )
    counts = [
        [
            labels[method],
            entry["n_cells"],
            entry["n_cells"] - entry["n_deviating"],
            entry["n_above"],
            entry["n_deviating"] - entry["n_above"],
            entry["n_suspect_deviating"],
        ]
        for method, entry in found["methods"].items()
    ]
    heads = ["method", "cells", "agree", "above", "below", "of these suspect †"]
    caption = f"Cells within and beyond {found['limit']:g} pooled standard deviations"
    return [
        Text(text),
        Table("agreement-counts", caption, heads, counts),
        _deviations([cell for cell in found["cells"] if cell["deviates"]], labels),
    ]


def _deviations(cells: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> Block:
    if not cells:
        return Text("No cell deviates.")
    rows = [
        [
            labels[cell["method"]],
            cell["dataset"] + ("†" if cell["suspect"] else ""),
            cell["bag_size"],
            figure_cell(cell["published"]),
            figure_cell(cell["ours"]),
            cell["n"],
            _deviation(cell),
        ]
        for cell in cells
    ]
    columns = ["method", *HEADS, "published", "ours", "repetitions", "pooled deviations"]
    return Table("deviations", "The cells that deviate", columns, rows, heads=2)


def _deviation(cell: Mapping[str, Any]) -> Cell:
    tone = "better" if cell["difference"] > 0 else "worse"
    if cell["pooled"] is None:
        size, text = (1e9 if tone == "better" else -1e9), "+∞" if tone == "better" else "−∞"
    else:
        size, text = cell["pooled"], signed(cell["pooled"], 1)
    return {"text": f"{MARKS[tone]} {text}", "sort": size, "tone": tone}
