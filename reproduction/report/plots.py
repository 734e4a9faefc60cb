"""The plots of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, StrMethodFormatter

from decorrupt.documents import COLOURS, FOREGROUND, draw
from reproduction.report.columns import Column

GUESSING = 0.5  # balanced accuracy of a random guess
# One colour and marker per method; published numbers have the colour of their rerun.
_LOOKS = {
    "auto": (COLOURS[0], "o"),
    "corrected_loss_published": (COLOURS[1], "s"),
    "count_likelihood": (COLOURS[2], "^"),
    "mean_map": (COLOURS[3], "v"),
    "invcal": (COLOURS[4], "D"),
    "alternating_psvm": (COLOURS[5], "P"),
    "convex_psvm": (COLOURS[5], "p"),
    "corrected_loss": (COLOURS[6], "X"),
    "supervised": (FOREGROUND, "*"),
    "published:corrected_loss": (COLOURS[1], ""),
    "published:invcal": (COLOURS[4], ""),
    "published:alternating_psvm": (COLOURS[5], ""),
}


def _look(column: Column) -> dict[str, Any]:
    colour, marker = _LOOKS.get(column.key, (COLOURS[7], "p"))
    strong = column.key in ("auto", "supervised")
    return {
        "color": colour,
        "marker": marker,
        "linestyle": (0, (4, 2)) if column.is_published else "-",
        "linewidth": 2.4 if strong else 1.4,
        "zorder": 4 if column.sees_labels else 3 if strong else 2,
    }


def swatch(column: Column, name: str) -> Markup:
    """Return the method's line and marker for the legend."""

    def plot(figure: Figure) -> None:
        figure.set_layout_engine("none")  # no axis labels need space
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.plot([0, 1, 2], [0, 0, 0], markevery=[1], clip_on=False, **_look(column))

    return draw(plot, name=name, title=column.label, description="", size=(0.42, 0.16))


def size_plot(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], name: str) -> Markup:
    """Return the plot of one data set: accuracy against bag size, one line per method."""
    dataset = rows[0]["dataset"]
    sizes = [row["bag_size"] for row in rows]

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log", base=2)
        for column in columns:
            points = [row for row in rows if column.key in row["values"]]
            means = [row["values"][column.key]["mean"] for row in points]
            axes.plot([row["bag_size"] for row in points], means, **_look(column))
        axes.xaxis.set_major_locator(FixedLocator(sizes))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        if axes.get_ylim()[0] < GUESSING:
            axes.axhline(GUESSING, color=FOREGROUND, linewidth=0.8, linestyle=":", zorder=1)
        axes.set(xlabel="bag size", ylabel="balanced accuracy")

    return draw(
        plot,
        name=name,
        title=f"{dataset}: balanced accuracy against bag size",
        description=_description(rows, columns),
        size=(4.0, 3.0),
    )


def _description(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> str:
    """Return each method's values at the smallest and the largest bag size."""
    ends = []
    for column in columns:
        own = [row for row in rows if column.key in row["values"]]
        if own:
            first, last = (row["values"][column.key]["mean"] for row in (own[0], own[-1]))
            sizes = f"{own[0]['bag_size']} to {own[-1]['bag_size']}"
            ends.append(f"{column.label} {first:.3f} to {last:.3f} (bags of {sizes})")
    return "; ".join(ends) + "."


def _is_above(height: float, heights: Sequence[float]) -> bool:
    """Whether a label goes above its point: unless the next higher point is much the nearest."""
    above = min((other - height for other in heights if other > height), default=math.inf)
    below = min((height - other for other in heights if other < height), default=math.inf)
    return 2 * above > below


def cost_plot(
    points: Sequence[tuple[Column, float, float]], best_published: float | None
) -> Markup:
    """Return mean balanced accuracy against seconds; points are (method, seconds, accuracy)."""
    heights = [accuracy for _, _, accuracy in points]

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        for column, seconds, accuracy in points:
            axes.plot([seconds], [accuracy], **_look(column) | {"markersize": 7})
            up = _is_above(accuracy, heights)
            axes.annotate(
                column.label,
                (seconds, accuracy),
                (4, 5 if up else -5),
                textcoords="offset points",
                va="bottom" if up else "top",
            )
        if best_published is not None:
            axes.axhline(best_published, color=FOREGROUND, linewidth=1, linestyle=(0, (4, 2)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.margins(x=0.2, y=0.15)
        axes.set(xlabel="median seconds per run", ylabel="mean balanced accuracy")

    words = "; ".join(f"{c.label}: {seconds:.1f} s, {value:.3f}" for c, seconds, value in points)
    return draw(
        plot,
        name="cost-plot",
        title="Balanced accuracy against time",
        description=f"{words}.",
        size=(4.4, 3.4),
    )
