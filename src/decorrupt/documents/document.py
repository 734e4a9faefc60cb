"""Documents: sections of text, tables and figures, rendered as HTML, markdown or plain text.

All pages are a :class:`Document` of plain values and share one template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from markupsafe import Markup

from decorrupt.documents.page import render

# A value, None if missing, or the mapping that macros.html.j2 describes.
Cell = str | int | float | Mapping[str, Any] | None


@dataclass(frozen=True)
class Text:
    """A paragraph; `tone` is "", "note", "faint", or "good", "unsure" or "bad" for a verdict."""

    kind: ClassVar[str] = "text"
    text: str
    tone: str = ""


@dataclass(frozen=True)
class Command:
    """A command to copy into a shell."""

    kind: ClassVar[str] = "command"
    text: str


@dataclass(frozen=True)
class Facts:
    """Terms with a number or a few words each, in large type."""

    kind: ClassVar[str] = "facts"
    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Rows of cells.

    Attributes
    ----------
    name : str
        Letters, digits and hyphens; unique in the document.
    caption : str
        What the table shows and how to read it.
    columns : sequence of str
        Column headings.
    rows, footer : sequence of sequences of Cell
        `footer` is not sorted.
    heads : int
        Number of leading cells of each row that are row headings.
    groups : sequence of (str, int)
        Headings above the columns, with the number of columns of each; "" for none.
    sortable : bool
        Whether readers can sort the rows.
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
    """A drawing with its caption; `draw` makes it when a page is rendered."""

    kind: ClassVar[str] = "figure"
    draw: Callable[[], Markup]
    caption: str
    heading: str = ""


@dataclass(frozen=True)
class Panels:
    """Figures side by side, as many as fit on the screen, with one legend."""

    kind: ClassVar[str] = "panels"
    figures: Sequence[Figure]
    legend: Sequence[tuple[Markup, str]] = ()


Block = Text | Command | Facts | Table | Figure | Panels


@dataclass(frozen=True)
class Section:
    """A heading and its content; `name` as in :class:`Table`.

    The details of a `folded` section are one click away on a page, and left out of short texts.
    """

    name: str
    title: str
    blocks: Sequence[Block]
    folded: bool = False


@dataclass(frozen=True)
class Document:
    """A whole page: title, first paragraph and sections."""

    title: str
    lead: str
    sections: Sequence[Section]


def to_html(document: Document) -> str:
    """Return one self-contained HTML file."""
    return render("document.html.j2", document=document)


def to_markdown(document: Document) -> str:
    """Return markdown, with the captions in place of the figures."""
    return render("document.md.j2", document=document, in_row=_in_row)


def _in_row(value: Cell) -> str:
    """Return a cell's text for a markdown table: one line, bars escaped."""
    if value is None:
        return "—"
    if not isinstance(value, Mapping):
        return _flat(value)
    text = f"**{_flat(value['text'])}**" if value.get("strong") else _flat(value["text"])
    rest = (_flat(value[key]) for key in ("under", "change") if value.get(key))
    return " ".join([text, *rest])


def _flat(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
