"""The page of a table of margins: verdict, table, intervals, what speaks against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from decorrupt.app.pages.plots import draw_figure
from decorrupt.app.training.margins import TableReport
from decorrupt.documents import (
    Block,
    Cell,
    Document,
    Facts,
    Figure,
    Section,
    Table,
    Text,
    one_line,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

TONES = {"usable": "good", "check": "unsure", "do not use": "bad"}
MEANING = {
    "usable": "Usable: no sign in the totals speaks against the table.",
    "check": "Check: the table may be right, but compare it with other evidence.",
    "do not use": "Do not use: the totals do not show what the groups did.",
}
NEXT = {
    "usable": "Next: read rates together with their intervals, not alone.",
    "check": "Next: compare with a survey, or merge groups that are rare or alike.",
    "do not use": "Next: use smaller places, whose groups differ more, or a survey.",
}
CAVEAT = (
    "No estimate from totals can exclude that the rates of a group depend on who else lives in the "
    "place (the ecological fallacy)."
)
# Of the test whether rates depend on the composition of places.
LEVEL = 0.001
COMPOSITION = (
    "Rates seem to depend on the composition of the places: the share of an outcome does not "
    "change in proportion to the shares of the groups."
)
WIDTH = (
    "Where the width comes from: directions of the table that the totals hardly determine, where "
    "only the prior keeps groups near the common rates; places that differ more than their people "
    "explain; and chance within groups. The width is calibrated on real elections with known "
    "tables, see docs/evidence/elections.md."
)


# A terminal shows a column for each of so many outcomes, otherwise a line for each large cell.
MOST_COLUMNS = 5
LARGE_CELL = 0.01


def table_document(report: TableReport, *, is_narrow: bool = False) -> Document:
    """Return the document of a table, for a page or for a terminal, which is narrow."""
    has_columns = not is_narrow or len(report["outcomes"]) <= MOST_COLUMNS
    rates = _rates(report) if has_columns else _large_cells(report)
    against: list[Block] = [Text(reason, "note") for reason in report["reasons"]]
    p_value = report["check"]["composition_p_value"]
    if p_value is not None and p_value < LEVEL:
        against.append(Text(COMPOSITION, "note"))
    size = f"{report['n_people']:,} people in {report['n_places']:,} places"
    sections = [
        Section(
            "verdict",
            "Verdict",
            [
                Text(MEANING[report["verdict"]], TONES[report["verdict"]]),
                Text(NEXT[report["verdict"]]),
            ],
        ),
        Section("against", "What speaks against it", [*against, Text(CAVEAT, "faint")]),
        Section("table", "The table", [rates, _heat_map(report)]),
        Section("intervals", "Rates with intervals", [_intervals(report), Text(WIDTH, "faint")]),
        Section("beside", "Bounds and Goodman's regression", [_beside(report)], folded=True),
        Section("signs", "Signs without the truth", [_signs(report)], folded=True),
    ]
    return Document("Table of groups and outcomes", f"Estimated from totals: {size}.", sections)


def _rates(report: TableReport) -> Table:
    rows: list[list[Cell]] = []
    for r, group in enumerate(report["groups"]):
        people = f"{sum(report['table'][r]):,.0f}"
        ends = zip(report["rates"][r], report["rates_low"][r], report["rates_high"][r], strict=True)
        cells = [
            {"text": f"{rate:.1%}", "under": f"({low:.0%} to {high:.0%})", "sort": rate}
            for rate, low, high in ends
        ]
        rows.append([group, {"text": people, "sort": sum(report["table"][r])}, *cells])
    columns = ["group", "people", *report["outcomes"]]
    caption = "Share of each group with each outcome, with 95 % intervals"
    return Table("rates", caption, columns, rows)


def _large_cells(report: TableReport) -> Table:
    people = np.array(report["table"])
    large = [
        cell
        for cell in np.argsort(-people, axis=None)
        if people.flat[cell] >= LARGE_CELL * people.sum()
    ]
    rows: list[list[Cell]] = []
    for r, c in zip(*np.unravel_index(large, people.shape), strict=True):
        ends = f"{report['rates_low'][r][c]:.0%} to {report['rates_high'][r][c]:.0%}"
        rate = report["rates"][r][c]
        numbers = ((f"{people[r, c]:,.0f}", people[r, c]), (f"{rate:.1%}", rate))
        cells: list[Cell] = [{"text": text, "sort": value} for text, value in numbers]
        rows.append([report["groups"][r], report["outcomes"][c], *cells, ends])
    caption = (
        f"Cells with {LARGE_CELL:.0%} of the people or more, and the share of the group; --report "
        "shows all cells"
    )
    columns = ("group", "outcome", "people", "share of the group", "95 % interval")
    return Table("large-cells", caption, columns, rows, heads=2)


def _heat_map(report: TableReport) -> Figure:
    rates = np.array(report["rates"])

    def plot(figure: Drawing) -> None:
        axes: Any = figure.add_subplot()
        axes.grid(visible=False)
        # Not an image: the page's security policy allows vector drawings only.
        axes.pcolormesh(rates, cmap="Blues", vmin=0, vmax=1)
        for (r, c), rate in np.ndenumerate(rates):
            colour = "white" if rate > 0.55 else "black"
            axes.text(
                c + 0.5, r + 0.5, f"{rate:.0%}", ha="center", va="center", color=colour, fontsize=8
            )
        axes.set_xticks(
            np.arange(rates.shape[1]) + 0.5, _short(report["outcomes"]), rotation=35, ha="right"
        )
        axes.set_yticks(np.arange(rates.shape[0]) + 0.5, _short(report["groups"]))
        axes.invert_yaxis()

    size = (2.2 + 0.55 * rates.shape[1], 1.3 + 0.32 * rates.shape[0])
    title = "Heat map of the rates"
    words = "Groups are rows, outcomes are columns; darker is a larger share of the group."
    return Figure(
        lambda: draw_figure(plot, name="heat-map", title=title, description=words, size=size), words
    )


def _intervals(report: TableReport) -> Figure:
    rates, low, high = (np.array(report[key]) for key in ("rates", "rates_low", "rates_high"))
    goodman = np.array(report["goodman"])
    n_groups, n_outcomes = rates.shape

    def plot(figure: Drawing) -> None:
        axes: Any = figure.add_subplot()
        labels, place = [], np.arange(n_outcomes)
        for r, group in enumerate(_short(report["groups"])):
            at = place + r * (n_outcomes + 1)
            axes.hlines(at, low[r], high[r], color="C0", linewidth=2.5, alpha=0.6)
            axes.plot(rates[r], at, "o", color="C0", label="rate, 95 %" if r == 0 else None)
            axes.plot(goodman[r], at, "x", color="C1", label="Goodman" if r == 0 else None)
            labels += [f"{group}: {name}" for name in _short(report["outcomes"])] + [""]
        axes.set_yticks(range(len(labels) - 1), labels[:-1])
        axes.invert_yaxis()
        axes.set(xlabel="share of the group", xlim=(-0.02, 1.02))
        figure.legend(loc="outside upper right", ncols=2)

    size = (5.6, 0.9 + 0.19 * n_groups * (n_outcomes + 1))
    words = "Dots are the rates of the table, bars their 95 % intervals, crosses Goodman's rates."
    title = "Rates with intervals"
    return Figure(
        lambda: draw_figure(plot, name="intervals", title=title, description=words, size=size),
        words,
    )


def _short(names: list[str]) -> list[str]:
    plain = [one_line(name) for name in names]
    return [name if len(name) <= 18 else name[:17] + "…" for name in plain]


def _beside(report: TableReport) -> Table:
    rows: list[list[Cell]] = []
    for r, group in enumerate(report["groups"]):
        for c, outcome in enumerate(report["outcomes"]):
            low, high = report["bounds_low"][r][c], report["bounds_high"][r][c]
            rows.append(
                [
                    group,
                    outcome,
                    {"text": f"{report['rates'][r][c]:.1%}", "sort": report["rates"][r][c]},
                    {"text": f"{low:.1%} to {high:.1%}", "sort": high - low},
                    {"text": f"{report['goodman'][r][c]:.1%}", "sort": report["goodman"][r][c]},
                ]
            )
    certain = "are those of the expected outcomes" if report["is_noisy"] else "need no model"
    caption = (
        f"Bounds {certain} (Duncan and Davis 1953); Goodman's regression is non-negative least "
        "squares, the baseline"
    )
    columns = ("group", "outcome", "rate", "bounds", "Goodman")
    return Table("beside", caption, columns, rows, heads=2)


def _signs(report: TableReport) -> Facts:
    check = report["check"]
    return Facts(
        [
            ("people in the wrong cell, expected", f"{check['expected_error']:.1%}"),
            ("people not where equal groups would put them", f"{check['distance']:.1%}"),
            ("differences between places that groups explain", f"{check['explained']:.0%}"),
            ("over-dispersion of places", f"{check['overdispersion']:.2f}"),
            ("difference between halves of the places", f"{check['halves_differ']:.1%}"),
            ("difference from the same rates in every place", f"{check['rates_differ']:.1%}"),
            ("left open by totals alone, up to", f"{check['undetermined']:.0%} of the people"),
            ("rates depend on composition (test)", report["composition"]),
        ]
    )
