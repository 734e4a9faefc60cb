"""A document: sections of text, tables and figures, written once and shown as HTML or markdown.

Pages are built as a :class:`Document` of plain values, so that no page has a template, a table
lay-out or an escaping of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from markupsafe import Markup

from decorrupt.documents.page import render

# A value, None where it is missing, or the mapping that macros.html.j2 describes.
Cell = str | int | float | Mapping[str, Any] | None


@dataclass(frozen=True)
class Text:
    """A paragraph; its `tone` may be "lead", "note" or "faint"."""

    kind: ClassVar[str] = "text"
    text: str
    tone: str = ""


@dataclass(frozen=True)
class Facts:
    """Terms with a number or a few words each, shown large."""

    kind: ClassVar[str] = "facts"
    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Definitions:
    """Terms with a sentence or two each."""

    kind: ClassVar[str] = "definitions"
    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Rows of cells.

    Attributes
    ----------
    name : str
        Letters, digits and hyphens, not used twice in a document.
    caption : str
        What the table shows and how to read it.
    columns : sequence of str
        Their headings.
    rows, footer : sequence of sequences of Cell
        `footer` stays below however the rows are sorted.
    heads : int
        How many of the first cells name the row.
    groups : sequence of (str, int)
        Headings above the columns, with the number of columns under each; "" for none.
    sortable : bool
        Whether readers may sort it.
    """

    kind: ClassVar[str] = "table"
    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    heads: int = 1
    footer: Sequence[Sequence[Cell]] = ()
    groups: Sequence[tuple[str, int]] = ()
    sortable: bool = True


@dataclass(frozen=True)
class Figure:
    """A drawing of :func:`decorrupt.documents.figures.draw`, and what it shows in words."""

    kind: ClassVar[str] = "figure"
    drawing: Markup
    caption: str
    heading: str = ""


@dataclass(frozen=True)
class Panels:
    """Figures side by side, as many as the screen has room for, under one legend."""

    kind: ClassVar[str] = "panels"
    figures: Sequence[Figure]
    legend: Sequence[tuple[Markup, str]] = ()


Block = Text | Facts | Definitions | Table | Figure | Panels


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; `name` as in :class:`Table`."""

    name: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Document:
    """A whole page: its title, what it is about, and its sections."""

    title: str
    lead: str
    sections: Sequence[Section]


def to_html(document: Document) -> str:
    """Return one self-contained HTML file."""
    return render("document.html.j2", document=document)


def to_markdown(document: Document) -> str:
    """Return the same in markdown, figures by their captions."""
    return render("document.md.j2", document=document, in_row=_in_row)


def _in_row(value: Cell) -> str:
    """Return a cell's text for a markdown table, where lines and bars would break the row."""
    if value is None:
        return "—"
    if not isinstance(value, Mapping):
        return _flat(value)
    text = f"**{_flat(value['text'])}**" if value.get("strong") else _flat(value["text"])
    rest = (_flat(value[key]) for key in ("under", "change") if value.get(key))
    return " ".join([text, *rest])


def _flat(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
