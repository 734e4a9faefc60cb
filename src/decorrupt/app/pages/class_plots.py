"""Plots of several classes: predicted against known shares of one class."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from decorrupt.app.pages.plots import MARGIN, dot_area, draw_diagonal
from decorrupt.documents.figures import COLOURS, draw

SIZE = (3.2, 2.7)


def class_agreement_plot(
    points: Sequence[tuple[float, float, float]], largest: float, name: str, title: str, words: str
) -> Markup:
    """Return predicted against known shares of a class, one dot per bag.

    Parameters
    ----------
    points : sequence of (known, predicted, size)
        One entry per bag; `size` is relative to the largest bag.
    largest : float
        The largest share of all classes: all plots have the same axes.
    name, title, words : str
        As in :func:`decorrupt.documents.figures.draw`.
    """
    known, predicted, sizes = zip(*points, strict=True)

    def plot(figure: Figure) -> None:
        axes = figure.add_subplot()
        draw_diagonal(axes)
        areas = [dot_area(size) for size in sizes]
        axes.scatter(known, predicted, s=areas, color=COLOURS[0], alpha=0.6, linewidths=0)
        ends = (-MARGIN * largest, largest * (1 + MARGIN))
        axes.set(xlim=ends, ylim=ends, xlabel="known share", ylabel="predicted share")
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_locator(MaxNLocator(4))

    return draw(plot, name=name, title=title, description=words, size=SIZE)
