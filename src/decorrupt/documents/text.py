"""Documents as text for a terminal or a pipe."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text as Line

from decorrupt.documents.document import (
    Block,
    Cell,
    Command,
    Facts,
    Section,
    Table,
    Text,
)
from decorrupt.documents.formats import Printable, printable

STYLES = {"good": "bold green", "unsure": "bold yellow", "bad": "bold red", "faint": "dim"}


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
        for section in sections:
            _print_section(console, section)
    # Grids fill their last column with spaces.
    text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    return re.sub("\n{3,}", "\n\n", text).strip("\n") + "\n"


def _print_section(console: Console, section: Section) -> None:
    parts = [part for block in section.blocks for part in _parts(block)]
    if parts and section.title:
        console.print(Printable(Line(section.title, "bold")))
    indent = 2 if section.title else 0
    for part in parts:
        if isinstance(part, str):  # a command, which is never broken
            console.print(" " * indent + printable(part), soft_wrap=True)
        else:
            console.print(Printable(Padding(part, (0, 0, 0, indent))), crop=False)
    if parts:
        console.print()


def _parts(block: Block) -> Iterator[RenderableType]:
    """Yield what a block is on a terminal; nothing for figures."""
    match block:
        case Text(text, tone):
            line = Line(text, STYLES.get(tone, ""))
            yield _columns([("-", line)], 1) if tone == "note" else line
        case Command(text):
            yield f"  {text}"
        case Facts(entries):
            yield _columns(entries, 2)
        case Table(_, caption):
            yield Line(_first_sentence(caption), "dim")
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
    return "sort" in cell if isinstance(cell, Mapping) else not isinstance(cell, str)


def _cell(cell: Cell) -> Line:
    if cell is None:
        return Line("–")
    if not isinstance(cell, Mapping):
        return Line(f"{cell:,}" if isinstance(cell, int) else str(cell))
    words = (cell["text"], cell.get("under"), cell.get("change"))
    text = " ".join(str(word) for word in words if word)
    return Line(text, "bold" if cell.get("strong") else "")
