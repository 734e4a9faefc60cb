"""Text labels of points, placed without overlaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from decorrupt.documents.figures import STYLE

POINTS_PER_INCH = 72
# Size of a letter, as a multiple of the font size; browser fonts are not wider.
LETTER_WIDTH, LINE_HEIGHT = 0.62, 1.2
GAP = 6.0


class Box(NamedTuple):
    """A rectangle on the figure, in points."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two boxes overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def is_within(self, other: Box) -> bool:
        """Whether it is completely inside the other."""
        return (
            self.left >= other.left
            and self.bottom >= other.bottom
            and self.right <= other.right
            and self.top <= other.top
        )


def annotate_points(
    axes: Axes, points: Sequence[tuple[float, float, str]], lines: Sequence[float] = ()
) -> None:
    """Label each point (x, y, text) without covering points, labels and horizontal `lines`.

    Call this after limits and scales are set. If no place is free, the label takes the place inside
    the axes with the fewest overlaps.
    """
    figure: Any = axes.figure
    figure.draw_without_rendering()
    scale = POINTS_PER_INCH / figure.dpi
    frame = Box(*(axes.bbox.extents * scale))
    spots = [tuple(axes.transData.transform((x, y)) * scale) for x, y, _ in points]
    taken = [Box(x - GAP / 2, y - GAP / 2, x + GAP / 2, y + GAP / 2) for x, y in spots]
    heights = [axes.transData.transform((1, height))[1] * scale for height in lines]
    taken += [Box(frame.left, y - 1, frame.right, y + 1) for y in heights]
    # From right to left: points at the right edge have the fewest possible places.
    for k in sorted(range(len(points)), key=lambda k: -spots[k][0]):
        x, y, text = points[k]
        box, offset, across, along = min(
            _places(spots[k], text),
            key=lambda place: (not place[0].is_within(frame), sum(map(place[0].overlaps, taken))),
        )
        taken.append(box)
        label = axes.annotate(
            text, (x, y), xytext=offset, textcoords="offset points", ha=across, va=along
        )
        label.set_in_layout(False)  # the layout must not change after the places are computed


Place = tuple[Box, tuple[float, float], str, str]


def _places(spot: tuple[float, ...], text: str) -> Iterator[Place]:
    """Yield the possible places of a label: right, left, above, below, and the corners."""
    x, y = spot
    width = LETTER_WIDTH * STYLE["font.size"] * len(text)
    height = LINE_HEIGHT * STYLE["font.size"]
    for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
        left = x + GAP * right - width * (1 - right) / 2
        bottom = y + GAP * up - height * (1 - up) / 2
        across = {1: "left", 0: "center", -1: "right"}[right]
        along = {1: "bottom", 0: "center", -1: "top"}[up]
        yield (
            Box(left, bottom, left + width, bottom + height),
            (GAP * right, GAP * up),
            across,
            along,
        )
