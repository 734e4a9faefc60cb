"""Plots of the model pages: agreement, probabilities, calibration, importance, bags."""

from __future__ import annotations

import unicodedata
import warnings
from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from decorrupt.app.training.results import BagPrediction, CalibrationBin, Histogram
from decorrupt.documents import COLOURS, FOREGROUND
from decorrupt.model_selection import BagCalibrationDisplay
from decorrupt.model_selection import CalibrationBin as BinOfCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

SIZE, SMALL_SIZE = (4.0, 3.3), (3.2, 2.7)
LONGEST_LABEL = 22
MARGIN = 0.03
SMALLEST_DOT, LARGEST_DOT = 12.0, 70.0  # points²
DOTTED = (0, (1, 3))


def draw_figure(plot: Callable[[Figure], None], **description: Any) -> Markup:
    """Return a drawing; matplotlib is loaded when a page is rendered, not for a terminal."""
    from decorrupt.documents import draw

    return draw(plot, **description)


def _few_ticks(axis: Axis, n: int = 10, *, integer: bool = False) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(n, integer=integer))


def agreement_plot(
    rows: Sequence[BagPrediction],
    c: int,
    name: str,
    title: str,
    words: str,
    largest_share: float | None = None,
) -> Markup:
    """Return predicted against known shares of a class, one dot per group; more rows, larger dots.

    Parameters
    ----------
    rows : sequence of BagPrediction
        The groups.
    c : int
        The number of the class.
    name, title, words : str
        As in :func:`decorrupt.documents.draw`.
    largest_share : float, optional
        Of all classes, for small plots with the same axes; by default the axes end at 1.
    """
    share = "proportion" if largest_share is None else "share"
    known = [row["known"][c] for row in rows]
    predicted = [row["predicted"][c] for row in rows]
    largest = max(row["size"] for row in rows)
    areas = [SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * row["size"] / largest for row in rows]

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=FOREGROUND, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
        axes.scatter(known, predicted, s=areas, color=COLOURS[0], alpha=0.6, linewidths=0)
        axes.set(xlabel=f"known {share}", ylabel=f"predicted {share}")
        if largest_share is None:
            _unit(axes, "xy")
            return
        ends = (-MARGIN * largest_share, largest_share * (1 + MARGIN))
        axes.set(xlim=ends, ylim=ends)
        _few_ticks(axes.xaxis, 4)
        _few_ticks(axes.yaxis, 4)

    size = SIZE if largest_share is None else SMALL_SIZE
    return draw_figure(plot, name=name, title=title, description=words, size=size)


def score_plot(
    histogram: Histogram, name: str, words: str, sides: Sequence[str] = ("negative", "positive")
) -> Markup:
    """Return a histogram of probabilities, by class (`sides`) where labels are known."""
    edges, counts = histogram["edges"], histogram["counts"]
    widths = [high - low for low, high in pairwise(edges)]
    positive = histogram.get("counts_positive")

    def bars(axes: Axes, heights: Sequence[float], bottom: Any, **look: Any) -> None:
        axes.bar(edges[:-1], heights, widths, bottom, align="edge", linewidth=0, **look)

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        if positive is None:
            bars(axes, counts, 0, color=COLOURS[0])
        else:
            negative = [n - own for n, own in zip(counts, positive, strict=True)]
            bars(axes, negative, 0, color=COLOURS[0], label=sides[0])
            bars(axes, positive, negative, color=COLOURS[1], label=sides[1], hatch="///")
            axes.legend()
        _unit(axes, "x")
        _few_ticks(axes.yaxis, integer=True)
        axes.set(xlabel="predicted probability", ylabel="rows")

    title = "Histogram of the predicted probabilities"
    return draw_figure(plot, name=name, title=title, description=words, size=SIZE)


def calibration_plot(
    bins: Sequence[CalibrationBin], name: str, words: str, share: str = "share of positives"
) -> Markup:
    """Return a share, by default of positives, against the probability, ± two standard errors."""
    display = BagCalibrationDisplay([BinOfCurve(**row) for row in bins])

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        display.plot(axes, color=COLOURS[0])
        _unit(axes, "x")
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -MARGIN), max(high, 1 + MARGIN))
        axes.set(ylabel=share)

    title = f"{share[0].upper()}{share[1:]} against predicted probability"
    return draw_figure(plot, name=name, title=title, description=words, size=SIZE)


def importance_plot(
    rows: Sequence[tuple[str, float, float | None]], name: str, words: str
) -> Markup:
    """Return one bar per (column, drop, standard error), the longest on top."""
    columns, drops, std_errors = zip(*rows, strict=True)

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        places = range(len(rows))
        axes.barh(places, drops, color=COLOURS[0], linewidth=0)
        axes.errorbar(
            drops,
            places,
            xerr=[std_error or 0 for std_error in std_errors],
            fmt="none",
            ecolor=FOREGROUND,
            elinewidth=1,
            capsize=2,
        )
        axes.axvline(0, color=FOREGROUND, linewidth=0.8)
        axes.set_yticks(places, [label(column) for column in columns])
        axes.tick_params(axis="y", length=0)
        _few_ticks(axes.xaxis, 4)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set(xlabel="drop of the criterion")

    with warnings.catch_warnings():
        # Only matplotlib's own font lacks them; the browser chooses the font of the page.
        warnings.filterwarnings("ignore", r"Glyph \d+", UserWarning)
        return draw_figure(
            plot,
            name=name,
            title="Drop of the criterion when a column is shuffled",
            description=words,
            # The page enlarges it; a wider one has unreadable texts on a phone.
            size=(4.2, 0.9 + 0.24 * max(len(rows), 4)),
        )


def spread_plot(proportions: Sequence[float], name: str, words: str) -> Markup:
    """Return a histogram of the proportions of the bags."""

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.hist(proportions, bins=20, range=(0, 1), color=COLOURS[0], linewidth=0)
        _unit(axes, "x")
        _few_ticks(axes.yaxis, integer=True)
        axes.set(xlabel="proportion", ylabel="bags")

    title = "Histogram of the proportions of the bags"
    return draw_figure(plot, name=name, title=title, description=words, size=SIZE)


def gain_plot(shares: Sequence[float], name: str, words: str) -> Markup:
    """Return the cumulative share of the information, the most informative bags first."""
    held = [0.0]
    for share in shares:
        held.append(held[-1] + share)
    step = max(1, len(held) // 400)
    places = [*range(0, len(held) - 1, step), len(held) - 1]

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot(places, [held[k] for k in places], color=COLOURS[0])
        axes.plot([0, len(shares)], [0, 1], color=FOREGROUND, linewidth=1.2, linestyle=DOTTED)
        _unit(axes, "y")
        axes.set_xlim(0, len(shares))
        _few_ticks(axes.xaxis, 5, integer=True)
        axes.set(xlabel="bags, the most informative first", ylabel="share of V")

    title = "Share of V that the most informative bags contribute"
    return draw_figure(plot, name=name, title=title, description=words, size=SIZE)


def label(name: str) -> str:
    """Return a name that fits next to a plot and is valid in XML: cut, no control characters."""
    signs = [sign if sign.isprintable() else " " for sign in unicodedata.normalize("NFC", name)]
    widths = list(accumulate(1 + _is_wide(sign) for sign in signs))
    text = "".join(signs)
    if widths and widths[-1] > LONGEST_LABEL:
        text = "".join(signs[: bisect(widths, LONGEST_LABEL - 1)]) + "…"
    # matplotlib's font has no wide characters and leaves them too little room.
    return "\N{NO-BREAK SPACE}" * sum(map(_is_wide, text)) + text


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"


def _unit(axes: Axes, directions: str) -> None:
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
    if "x" in directions:
        axes.set_xlim(-MARGIN, 1 + MARGIN)
        axes.set_xticks(ticks)
    if "y" in directions:
        axes.set_ylim(-MARGIN, 1 + MARGIN)
        axes.set_yticks(ticks)
