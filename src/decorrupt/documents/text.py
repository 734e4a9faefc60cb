"""Documents as text for a terminal or a pipe."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text as Line

from decorrupt.documents.document import Block, Cell, Section, Table

STYLES = {"good": "bold green", "unsure": "bold yellow", "bad": "bold red", "faint": "dim"}
INDENT = (0, 0, 0, 2)


def to_text(sections: Sequence[Section], *, width: int, colour: bool = False) -> str:
    """Return sections as text, without their figures.

    Parameters
    ----------
    sections : sequence of Section
        Those to show; a section without a title is not indented.
    width : int
        Number of columns. Commands are never broken, so that they can be copied.
    colour : bool
        Whether to use the escape sequences of a terminal.
    """
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        markup=False,
        highlight=False,
        emoji=False,
    )
    with console.capture() as captured:
        for part in filter(None, map(_section, sections)):
            console.print(part, crop=False)
            console.print()
    # Grids fill their last column with spaces.
    lines = [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]
    return "\n".join(lines) + "\n"


def _section(section: Section) -> Group | None:
    parts = [part for block in section.blocks for part in _parts(block)]
    if not section.title:
        return Group(*parts)
    inner = [Padding(part, INDENT) for part in parts]
    return Group(Line(section.title, "bold"), *inner) if parts else None


def _parts(block: Block) -> Iterator[RenderableType]:
    """Yield what a block is on a terminal; nothing for figures."""
    if block.kind == "text":
        text = Line(block.text, STYLES.get(block.tone, ""))
        yield _columns([("-", text)], 1) if block.tone == "note" else text
    elif block.kind == "command":
        yield Padding(Line(block.text, no_wrap=True, overflow="ignore"), INDENT)
    elif block.kind == "facts":
        yield _columns(block.entries, 2)
    elif block.kind == "definitions":
        for term, text in block.entries:
            yield Line(term)
            yield Padding(Line(text, "dim"), INDENT)
    elif block.kind == "table":
        yield Line(_first_sentence(block.caption), "dim")
        yield Padding(_table(block), (0, 0, 1, 0))


def _columns(rows: Sequence[tuple[RenderableType, RenderableType]], gap: int) -> Grid:
    grid = Grid.grid(padding=(0, gap))
    for _ in range(2):
        grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def _first_sentence(caption: str) -> str:
    return caption.split(". ")[0].rstrip(".")


def _table(block: Table) -> Grid:
    table = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    numeric = [all(map(_is_number, column)) for column in zip(*block.rows, strict=True)]
    for name, is_number in zip(block.columns, numeric or [False] * len(block.columns), strict=True):
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in (*block.rows, *block.footer):
        table.add_row(*map(_cell, row))
    return table


def _is_number(cell: Cell) -> bool:
    return cell is None or not isinstance(cell, str | Mapping) or "sort" in dict(_mapping(cell))


def _mapping(cell: Cell) -> Mapping[str, object]:
    return cell if isinstance(cell, Mapping) else {}


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    if not isinstance(cell, Mapping):
        return f"{cell:,}" if isinstance(cell, int) else str(cell)
    words = (cell["text"], cell.get("under"), cell.get("change"))
    star = "* " if cell.get("strong") else ""
    return star + " ".join(str(word) for word in words if word)
