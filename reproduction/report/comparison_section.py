"""Sections that compare the methods with each other, and our reruns with the published numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from decorrupt.documents import Block, Cell, Table, Text, count, number, p_value, signed, value_cell
from reproduction.report.columns import MARKS
from reproduction.report.summary import labels_of

Labels = Mapping[str, str]


def comparison_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return wins, ties and losses, ranks, and the tests of all pairs."""
    labels, found = labels_of(summary), summary["comparison"]
    text = (
        "The methods are compared by balanced accuracy, cell by cell. Two methods that we ran are "
        "compared over the repetitions that both have (the same splits and bags); a published mean "
        "is compared with the mean over all our repetitions. A difference below "
        f"{summary['tie']:g} is a tie. The six cells of a data set contain the same rows and are "
        "not independent, so the p-values are descriptive only."
    )
    return [
        Text(text),
        _matrix(found["pairs"], labels),
        *_rank_blocks(found["ranks"], labels),
        _pair_table(found, labels),
    ]


def _matrix(pairs: Sequence[Mapping[str, Any]], labels: Labels) -> Table:
    results = {
        (pair["one"], pair["other"]): (pair["wins"], pair["ties"], pair["losses"]) for pair in pairs
    }
    results |= {(other, one): result[::-1] for (one, other), result in results.items()}
    present = [key for key in labels if any(key in pair for pair in results)]
    return Table(
        name="wins",
        caption="Wins – ties – losses of the row’s method against the column’s, in cells",
        columns=["method", *(labels[key] for key in present)],
        rows=[
            [labels[one], *(_result(results.get((one, other))) for other in present)]
            for one in present
        ],
        sortable=False,
    )


def _result(result: tuple[int, int, int] | None) -> Cell:
    if result is None:  # the diagonal
        return ""
    wins, _, losses = result
    tone = "same" if wins == losses else "better" if wins > losses else "worse"
    text = f"{MARKS[tone]} {'–'.join(map(str, result))}"
    return {"text": text, "sort": wins, "tone": tone}


def _rank_blocks(ranks: Mapping[str, Any], labels: Labels) -> list[Block]:
    if not ranks["average"]:
        return [Text("Too few methods have the same cells to compute ranks.")]
    caption = f"Average rank over {ranks['n_cells']} cells, 1 is best"
    if ranks["p"] is not None:
        p = p_value(ranks["p"])
        caption += f"; Friedman’s χ² = {ranks['statistic']:.1f}, p {'' if '<' in p else '= '}{p}"
    if ranks["left_out"]:
        missing = ", ".join(labels[key] for key in ranks["left_out"])
        caption += f"; not ranked, because cells are missing: {missing}"
    order = sorted(ranks["average"].items(), key=lambda item: item[1])
    rows = [[labels[key], value_cell(rank, lambda r: number(r, 2))] for key, rank in order]
    return [Table("ranks", caption, ["method", "average rank"], rows)]


def _pair_table(found: Mapping[str, Any], labels: Labels) -> Table:
    rows = [
        [
            labels[pair["one"]],
            labels[pair["other"]],
            pair["n_cells"],
            "–".join(str(pair[key]) for key in ("wins", "ties", "losses")),
            value_cell(pair["mean_difference"], signed),
            value_cell(pair["p"], p_value),
            value_cell(pair["p_holm"], p_value),
        ]
        for pair in found["pairs"]
        if pair["n_cells"]
    ]
    caption = (
        "All pairs: two-sided Wilcoxon signed-rank test over the cells, and its p-value corrected "
        f"for {count(found['n_tests'], 'test')} (Holm)"
    )
    columns = ["method", "against", "cells", "wins–ties–losses", "mean difference", "p", "p, Holm"]
    return Table("pairs", caption, columns, rows, heads=2)


def agreement_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return how many cells deviate from the published numbers, and which."""
    labels, found = labels_of(summary), summary["agreement"]
    text = (
        "Our reruns of the three published methods, compared with the published numbers in pooled "
        "standard deviations of the repetitions: (ours − published) / √(((n−1)s² + 4s′²) / (n+3)). "
        f"More than {found['limit']:g} is called a deviation. ∞ means that neither side varied and "
        "the means differ."
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


def _deviations(cells: Sequence[Mapping[str, Any]], labels: Labels) -> Block:
    if not cells:
        return Text("No cell deviates.")
    rows = [
        [
            labels[cell["method"]],
            cell["dataset"] + ("†" if cell["suspect"] else ""),
            cell["bag_size"],
            value_cell(cell["published"]),
            value_cell(cell["ours"]),
            cell["n"],
            _deviation(cell),
        ]
        for cell in cells
    ]
    columns = ["method", "data set", "bag size", "published", "ours", "repetitions"]
    return Table("deviations", "Deviating cells", [*columns, "pooled deviations"], rows, heads=2)


def _deviation(cell: Mapping[str, Any]) -> Cell:
    tone, sign = ("better", 1) if cell["difference"] > 0 else ("worse", -1)
    size = sign * 1e9 if cell["pooled"] is None else cell["pooled"]
    text = f"{'+−'[sign < 0]}∞" if cell["pooled"] is None else signed(cell["pooled"], 1)
    return {"text": f"{MARKS[tone]} {text}", "sort": size, "tone": tone}
