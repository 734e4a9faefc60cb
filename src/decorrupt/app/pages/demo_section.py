"""Sections of the demonstration: bags of images, their counts, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.app.pages.class_sections import confusion_table
from decorrupt.app.pages.provenance import comparison_blocks
from decorrupt.app.training.demo import DemoResult
from decorrupt.app.training.results import BagPrediction
from decorrupt.documents import Block, Cell, Figure, Panels, Section, Table, Text

SHOWN_BAGS, IMAGES_PER_LINE = 3, 8
# Grey levels of an image; more would make the file larger, not clearer.
LEVELS = 8
GAP = 2  # pixels between images
NBSP = "\N{NO-BREAK SPACE}"
PIXEL = 3.5  # CSS pixels per pixel of an image


def demo_sections(result: DemoResult) -> list[Section]:
    """Return what was learned from, and the model beside one that was trained on labels."""
    labels, names = result.labels, result.data.observed.classes.tolist()
    about = f" on {labels['n_rows']:,} test rows with labels"
    table = confusion_table(names, labels["confusion"], "test-confusion", about)
    images = _images(result) if result.data.image_shape is not None else []
    title = "Comparison with a model trained on labels"
    return [
        Section("images", "What it learned from", images),
        Section("comparison", title, comparison_blocks(result.test)),
        Section("confusion", "Recall per class", [table], folded=True),
    ]


def _images(result: DemoResult) -> list[Block]:
    observed = result.data.observed
    by_name = {bag["bag"]: bag for bag in result.trained.held_out["per_bag"]}
    bags = [by_name[bag] for bag in observed.ids[:SHOWN_BAGS].tolist()]
    text = (
        f"{SHOWN_BAGS} of {observed.n_bags} bags. In training it was known how many images of each "
        "class a bag contains, but not which image belongs to which class."
    )
    figures = [_bag_figure(result, number, bag) for number, bag in enumerate(bags)]
    return [Text(text), Panels(figures), _counts(bags, observed.classes.tolist())]


def _bag_figure(result: DemoResult, number: int, bag: BagPrediction) -> Figure:
    data = result.data
    images = data.X[data.observed.row_bag == number].reshape(-1, *(data.image_shape or ()))
    known = ", ".join(
        f"{round(share * bag['size'])}{NBSP}×{NBSP}{name}"
        for name, share in zip(data.observed.classes, bag["known"], strict=True)
        if share
    )
    title = f"Bag {bag['bag']}: {bag['size']} images"
    drawing = partial(draw_images, images, f"bag-{number}", title, known)
    return Figure(drawing, f"Known: {known}.", title)


def _counts(bags: Sequence[BagPrediction], classes: Sequence[str]) -> Table:
    rows: list[list[Cell]] = []
    for bag in bags:
        known = [round(share * bag["size"]) for share in bag["known"]]
        found = [round(share * bag["size"]) for share in bag["classified"]]
        rows.append([f"bag {bag['bag']}", "known", *known])
        rows.append([f"bag {bag['bag']}", "classified", *found])
    caption = (
        "Number of images of each class: as known in training, and as classified by a model "
        "trained without this bag"
    )
    heads = ["bag", "", *classes]
    return Table("bag-counts", caption, heads, rows, heads=2, sortable=False)


def draw_images(images: FloatArray, name: str, title: str, words: str) -> Markup:
    """Return grey images as one ``<svg>`` in the page's text colour, without embedded files.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        Values from 0, the page's background, to the largest, its text colour.
    name : str
        Unique on the page.
    title, words : str
        The alternative text.
    """
    _, height, width = images.shape
    levels = np.rint(images / images.max() * LEVELS).astype(int)
    n_lines = -(-len(images) // IMAGES_PER_LINE)
    size = (IMAGES_PER_LINE * (width + GAP) - GAP, n_lines * (height + GAP) - GAP)
    paths = "".join(
        f'<path fill="currentColor" fill-opacity="{level / LEVELS:g}" '
        f'd="{"".join(_runs(levels, level))}"/>'
        for level in range(1, LEVELS + 1)
    )
    return Markup(  # noqa: S704 — numbers, and escaped texts
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {size[0]} {size[1]}" '
        f'width="{size[0] * PIXEL:g}" height="{size[1] * PIXEL:g}" shape-rendering="crispEdges" '
        f"aria-labelledby={quoteattr(f'{name}-title {name}-description')}>"
        f"<title id={quoteattr(f'{name}-title')}>{escape(title)}</title>"
        f"<desc id={quoteattr(f'{name}-description')}>{escape(words)}</desc>{paths}</svg>"
    )


def _runs(levels: NDArray[np.int_], level: int) -> Iterator[str]:
    """Yield a rectangle for every horizontal run of pixels of one level."""
    _, height, width = levels.shape
    for place, image in enumerate(levels):
        left = place % IMAGES_PER_LINE * (width + GAP)
        top = place // IMAGES_PER_LINE * (height + GAP)
        for y, line in enumerate(image == level):
            edges = np.flatnonzero(np.diff(np.concatenate([[False], line, [False]])))
            for start, end in edges.reshape(-1, 2).tolist():
                yield f"M{left + start} {top + y}h{end - start}v1H{left + start}z"
