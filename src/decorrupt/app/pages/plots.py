"""Plots of the model pages: counts against predictions, calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from decorrupt.app.training.results import CalibrationBin
from decorrupt.model_selection import BagCalibrationDisplay
from decorrupt.model_selection import CalibrationBin as BinOfCurve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (4.0, 3.3)
MARGIN = 0.03
SMALLEST_DOT, LARGEST_DOT = 12.0, 70.0  # points²


def draw_figure(plot: Callable[[Figure], None], **description: Any) -> Markup:
    """Return a drawing; matplotlib is loaded when a page is rendered, not for a terminal."""
    from decorrupt.documents import draw

    return draw(plot, **description)


def agreement_plot(
    points: Sequence[tuple[float, float, int]], name: str, title: str, words: str
) -> Markup:
    """Return predicted against known shares, one dot per (known, predicted, rows).

    Parameters
    ----------
    points : sequence of (float, float, int)
        Known share, predicted share and number of rows; more rows, larger dots.
    name, title, words : str
        As in :func:`decorrupt.documents.draw`.
    """
    known, predicted, sizes = zip(*points, strict=True)
    end = max(*known, *predicted)
    areas = [SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * size / max(sizes) for size in sizes]

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot([0, end], [0, end], color="C7", linewidth=1.2, linestyle="--")
        axes.scatter(known, predicted, s=areas, color="C0", alpha=0.6, linewidths=0)
        ends = (-MARGIN * end, end * (1 + MARGIN))
        axes.set(xlabel="known share", ylabel="predicted share", xlim=ends, ylim=ends)

    return draw_figure(plot, name=name, title=title, description=words, size=SIZE)


def calibration_plot(bins: Sequence[CalibrationBin], name: str, words: str, share: str) -> Markup:
    """Return a share, such as that of positives, against the probability, ± two standard errors."""
    display = BagCalibrationDisplay([BinOfCurve(**row) for row in bins])

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        display.plot(axes, color="C0")
        low, high = axes.get_ylim()
        axes.set(xlim=(-MARGIN, 1 + MARGIN), xticks=[0, 0.2, 0.4, 0.6, 0.8, 1], ylabel=share)
        axes.set_ylim(min(low, -MARGIN), max(high, 1 + MARGIN))

    title = f"{share[0].upper()}{share[1:]} against predicted probability"
    return draw_figure(plot, name=name, title=title, description=words, size=SIZE)
