"""Documents: sections of text, tables and figures, rendered as HTML, markdown or plain text.

All pages are a :class:`Document` of plain values and share one template. Pages are self-contained
and make no network requests: ``base.html.j2`` includes the style sheet and the script in the file,
and its content security policy allows only these two. ``macros.html.j2`` defines the sortable table
and the figure.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

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


def render(template: str, **content: Any) -> str:
    """Return ``templates/<template>`` rendered with `content`.

    Parameters
    ----------
    template : str
        A file in this package's ``templates``. Values are escaped in files that end in
        ``.html.j2``; these extend ``base.html.j2`` and fill its blocks.
    **content
        Plain values, and the SVG of :func:`decorrupt.documents.figures.draw`.

    Raises
    ------
    jinja2.UndefinedError
        If the template uses a name that is not in `content`.
    """
    return _environment().get_template(template).render(content)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("decorrupt.documents"),
        autoescape=select_autoescape(enabled_extensions=("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _read("page.css"), _read("page.js")
    environment.globals |= {
        "page_style": Markup(style),  # noqa: S704 — our own files, no user input
        "page_script": Markup(script),  # noqa: S704
        "page_policy": _policy(style, script),
    }
    return environment


def _read(name: str) -> str:
    return (resources.files("decorrupt.documents") / "templates" / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow the page's own style sheet and script by their hashes, and no requests."""
    return (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
