"""Figures drawn by matplotlib, as inline SVG that follows the light or dark colours of the page.

matplotlib's SVG is changed in three ways: inline styles become attributes, because the page's
security policy allows no inline styles; ids get a prefix, because all figures of a page share one
namespace; the text colour becomes the text colour of the page.
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
# Replaced by the page's text colour.
FOREGROUND = "#010203"
# Each colour has a contrast of at least 3:1 on the light and the dark page.
COLOURS = ("#0b78b8", "#cf5b00", "#0a8f6a", "#b4589a", "#8a6fd1", "#a67c00", "#d14545", "#7b828a")

STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: searchable, accessible, in the page's font
    "svg.hashsalt": "decorrupt",  # the same figure gives the same SVG
    "text.parse_math": False,  # names may contain a dollar sign
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
    """Return the drawing of `plot` as one ``<svg>`` for :func:`decorrupt.documents.to_html`.

    Parameters
    ----------
    plot : callable
        Draws on an empty figure, in :data:`STYLE`.
    name : str
        Letters, digits and hyphens, unique on the page: the prefix of all ids.
    title, description : str
        The alternative text: a title, and the content in words.
    size : (float, float)
        Width and height in inches of 96 pixels; shrunk on narrower screens.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        plot(figure)
        text = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=True, metadata=nothing)
    root = ElementTree.fromstring(text.getvalue())  # noqa: S314 — made by matplotlib
    for element in root.iter():
        _tidy(element, name)
    _describe(root, name, title, description, size)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 — escaped as XML


def _tidy(element: ElementTree.Element, prefix: str) -> None:
    """Turn styles into attributes, round to two decimals, prefix ids and references."""
    for declaration in element.attrib.pop("style", "").split(";"):
        key, _, value = declaration.partition(":")
        if value and key.strip() != "font-family":  # the page has its own
            element.set(key.strip(), value.strip())
    for key, value in element.attrib.items():
        element.set(key, _local(key, value, prefix))
    for child in list(element):
        if child.tag in (f"{{{SVG}}}style", f"{{{SVG}}}metadata"):
            element.remove(child)  # a style sheet in a figure would apply to the whole page


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
