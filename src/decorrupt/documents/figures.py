"""Figures of pages: drawn by matplotlib, put into the page as SVG that follows its colours.

matplotlib's SVG is made fit to stand inside a page: inline styles become attributes, because the
page's security policy allows no inline styles; ids are prefixed, because all figures of a page
share one name space; whatever is drawn in the colour of text takes the page's, light or dark.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
from cycler import cycler
from markupsafe import Markup
from matplotlib.figure import Figure

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
PIXELS_PER_INCH = 96

# Drawn in this colour by us, and in the page's text colour by the browser.
FOREGROUND = "#010203"
# Seven hues and a grey, each with a contrast of at least 3 to 1 on the light and the dark page.
COLOURS = ("#0b78b8", "#cf5b00", "#0a8f6a", "#b4589a", "#8a6fd1", "#a67c00", "#d14545", "#7b828a")

STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: searchable, read aloud, in the page's font
    "svg.hashsalt": "decorrupt",  # the same figure gives the same text
    "text.parse_math": False,  # names may hold a dollar sign
    "font.size": 9,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.axisbelow": True,
    "grid.alpha": 0.15,
    "legend.frameon": False,
} | dict.fromkeys(
    (
        "text.color",
        "axes.labelcolor",
        "axes.edgecolor",
        "xtick.color",
        "ytick.color",
        "grid.color",
        "hatch.color",
        "patch.edgecolor",
    ),
    FOREGROUND,
)

ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)


def draw(
    plot: Callable[[Figure], None],
    *,
    name: str,
    title: str,
    description: str,
    size: tuple[float, float] = (5.0, 3.2),
) -> Markup:
    """Return what `plot` draws as one ``<svg>`` for :func:`decorrupt.documents.page.render`.

    Parameters
    ----------
    plot : callable
        Draws on an empty figure, in this module's :data:`STYLE`.
    name : str
        Letters, digits and hyphens, not used twice on a page: the prefix of all ids.
    title, description : str
        The alternative text: what is shown, and what it shows.
    size : (float, float)
        Width and height in inches of 96 pixels; narrower screens shrink the figure.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        plot(figure)
        text = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=True, metadata=nothing)
    root = ElementTree.fromstring(text.getvalue())  # noqa: S314 — matplotlib's own text
    for element in root.iter():
        _tidy(element, name)
    _describe(root, name, title, description, size)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 — escaped as XML


def _tidy(element: ElementTree.Element, prefix: str) -> None:
    """Unfold the style, keep two decimals, prefix ids and references to them."""
    for declaration in element.attrib.pop("style", "").split(";"):
        key, _, value = declaration.partition(":")
        if value and key.strip() != "font-family":  # the page's own
            element.set(key.strip(), value.strip())
    for key, value in element.attrib.items():
        element.set(key, _local(key, value, prefix))
    for child in list(element):
        if child.tag in (f"{{{SVG}}}style", f"{{{SVG}}}metadata"):
            element.remove(child)  # a style sheet of a figure would hold for the whole page


def _local(key: str, value: str, prefix: str) -> str:
    if key == "id":
        return f"{prefix}-{value}"
    if key == HREF:
        return value.replace("#", f"#{prefix}-", 1)
    if value == FOREGROUND:
        return "currentColor"
    if key in ("d", "x", "y", "transform", "points"):
        return re.sub(r"(\.\d\d)\d+", r"\1", " ".join(value.split()))
    return value.replace("url(#", f"url(#{prefix}-")


def _describe(
    root: ElementTree.Element, name: str, title: str, description: str, size: tuple[float, float]
) -> None:
    ids = {"title": f"{name}-title", "desc": f"{name}-description"}
    root.attrib.update(
        {
            "role": "img",
            "aria-labelledby": " ".join(ids.values()),
            "width": f"{size[0] * PIXELS_PER_INCH:g}",
            "height": f"{size[1] * PIXELS_PER_INCH:g}",
        }
    )
    for place, (tag, text) in enumerate(zip(ids, (title, description), strict=True)):
        element = ElementTree.Element(f"{{{SVG}}}{tag}", {"id": ids[tag]})
        element.text = text
        root.insert(place, element)
