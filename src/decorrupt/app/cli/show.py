"""Printing documents: all sections, the unfolded ones, or the few lines that matter most."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decorrupt.documents import Document, Section

PIPE_WIDTH = 100
MOST_LINES = 12


def print_sections(sections: Sequence[Section]) -> None:
    """Print sections: in colour on a terminal, plain on a pipe."""
    from decorrupt.documents import to_text

    sys.stdout.write(to_text(sections, width=text_width(), colour=sys.stdout.isatty()))


def text_width() -> int:
    """Return the width of the terminal, or a fixed one for a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH


def shown(document: Document, *, verbose: bool) -> list[Section]:
    """Return all sections if `verbose`, else those that are not folded."""
    return [section for section in document.sections if verbose or not section.folded]


def page_section(path: str) -> Section:
    """Return a line with the page that was written."""
    from decorrupt.documents import Command, Section

    return Section("page", "", [Command(f"page: {path}")])


def brief(document: Document, files: Sequence[tuple[str, str]]) -> list[Section]:
    """Return the verdict, the accuracy, warnings, files and the next command in a few lines.

    The first warning is always shown; those that do not fit are counted.
    """
    from decorrupt.documents import Command, Section, Text, count, to_text

    parts = {section.name: section.blocks for section in document.sections}
    verdict, *next_step = parts["verdict"]
    accuracy = [block for block in parts["accuracy"] if block.kind == "facts"]
    notes = parts.get("against", ())
    paths = [Command(f"{kind}: {path}") for kind, path in files]  # never broken: to be copied
    for n_shown in range(len(notes), min(len(notes), 1) - 1, -1):
        n_more = len(notes) - n_shown
        more = [Text(f"{count(n_more, 'more warning')}: see -v", "note")] if n_more else []
        blocks = [verdict, *accuracy, *notes[:n_shown], *more, *paths, *next_step]
        sections = [Section("brief", "", blocks)]
        if to_text(sections, width=text_width()).count("\n") <= MOST_LINES:
            break
    return sections
