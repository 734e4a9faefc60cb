"""Conventions of all commands: common options, messages, and documents on a terminal."""

from __future__ import annotations

import json
import logging
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from decorrupt.documents import one_line, printable_json
from decorrupt.progress import logger, silence

if TYPE_CHECKING:
    from rich.console import Console

    from decorrupt.app.training.model_card import Value
    from decorrupt.documents import Document, Section

# Exit codes; the last two are what a shell gives for SIGINT and SIGTERM.
FAILED, WRONG_USAGE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
NOT_RECORDED = ("json_output", "quiet", "verbose", "force")
MINUS = "-"
PIPE_WIDTH = 100
MOST_LINES = 12


def check_jobs(jobs: int) -> int:
    """Return a valid number of jobs."""
    if jobs == 0:
        raise typer.BadParameter(
            "0 parallel fits are not possible: use 1 or more, or -1 for all cores"
        )
    return jobs


def be_quiet(context: typer.Context, quiet: bool) -> bool:
    """Show no progress while a quiet command runs."""
    if quiet and not context.resilient_parsing:
        context.with_resource(silence())
    return quiet


def be_verbose(context: typer.Context, verbose: bool) -> bool:
    """Print the lines of the logger "decorrupt" to stderr while a verbose command runs."""
    if verbose and not context.resilient_parsing:
        context.with_resource(_lines_on_stderr())
    return verbose


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return one_line(super().format(record))


@contextmanager
def _lines_on_stderr() -> Iterator[None]:
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("%(asctime)s %(message)s", "%H:%M:%S"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


Rows = Annotated[
    str, typer.Argument(help="Table of rows; - is CSV on standard input.", metavar="ROWS")
]


Sql = Annotated[
    str | None,
    typer.Option(
        "--sql",
        help="Query that returns the rows, from a database or from the table 'rows' (your file).",
        metavar="QUERY",
    ),
]


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no messages except errors.", callback=be_quiet),
]


Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Print all details, and one line per finished step.",
        callback=be_verbose,
    ),
]


Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite files that exist.")]


Seed = Annotated[
    int, typer.Option("--seed", help="Random seed.", metavar="N", min=0, max=2**32 - 1)
]


Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        help="Number of parallel fits; -1 for all cores.",
        metavar="N",
        callback=check_jobs,
    ),
]


@dataclass(frozen=True)
class Output:
    """Where results and messages go: results to stdout, messages to stderr.

    Attributes
    ----------
    as_json : bool
        Print the result as JSON instead of text.
    quiet : bool
        Print no messages except errors.
    """

    as_json: bool = False
    quiet: bool = False

    def tell(self, messages: Iterable[str]) -> None:
        """Print notes that are no warnings, on pipes as well."""
        for message in () if self.quiet else messages:
            print_error_line("note", message)

    def warn(self, messages: Iterable[str]) -> None:
        """Print warnings, on pipes as well."""
        for message in () if self.quiet else messages:
            print_error_line("warning", message)

    def result(self, value: Mapping[str, object] | None, sections: Sequence[Section]) -> None:
        """Print a result, as JSON or as text."""
        if self.as_json:
            text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
            sys.stdout.write(printable_json(text) + "\n")
        else:
            print_sections(sections)
        sys.stdout.flush()


def console() -> Console:
    """Return a console on stderr that never breaks a line in two."""
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True)


def print_error_line(kind: str, message: str) -> None:
    """Print one line to stderr: ``error: …``, ``warning: …`` or ``note: …``."""
    style = {"error": "bold red", "warning": "yellow"}.get(kind, "dim")
    to = console()
    to.print(f"{kind}:", style=style, end=" ", markup=False, highlight=False)
    to.print(one_line(message), markup=False, highlight=False)


def about_file(error: OSError) -> str:
    """Return the message of an error of the operating system, with the file as it was given."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def resolved_configuration(context: typer.Context) -> dict[str, Value]:
    """Return every option's value, given or default; of files only their names."""
    values: dict[str, Value] = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in NOT_RECORDED or name not in context.params:
            continue
        value = context.params[name]
        values[name] = Path(value).name if isinstance(value, str) and "/" in value else value
    return values


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
