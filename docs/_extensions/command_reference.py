"""Directive ``command-reference``: all commands and options, when the site is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from decorrupt.app.cli.app import app as program
from decorrupt.app.cli.help import EXAMPLE, description_of, examples, names_of, paragraphs

LONGEST_LINE = 78  # characters of an example


class CommandReference(SphinxDirective):
    """Render the help of all commands, with a heading per command."""

    def run(self) -> list[nodes.Node]:
        """Return the parsed reference."""
        return self.parse_text_to_nodes(reference(), allow_section_headings=True)


def reference() -> str:
    """Return the help of all commands as Markdown."""
    group: Any = typer.main.get_command(program)
    return "\n\n".join(
        text
        for name, command in group.commands.items()
        for text in _of_command(command, f"decorrupt {name}")
    )


def _of_command(command: Any, title: str) -> Iterator[str]:
    summary, *rest = paragraphs(command.help)
    yield f"### {title}"
    yield summary
    yield "```{code-block} sh\n" + "\n".join(map(_broken, examples(command.help))) + "\n```"
    yield from (_escaped(text) for text in rest if not text.startswith(EXAMPLE))
    context = typer.Context(command, info_name=title, **command.context_settings)
    for panel, parameters in command.panels(context).items():
        lines = [f"- `{names_of(one)}`: {_escaped(description_of(one))}" for one in parameters]
        yield f"**{panel}**\n\n" + "\n".join(lines)


def _broken(command: str) -> str:
    """Break a long command before options, so that it fits into a page."""
    first, *options = re.split(r" (?=--?[a-z])", command)
    lines = [first]
    for option in options:
        if len(lines[-1]) + len(option) < LONGEST_LINE:
            lines[-1] += f" {option}"
        else:
            lines.append(f"  {option}")
    return " \\\n".join(lines)


def _escaped(text: str) -> str:
    for mark in "*<[_":
        text = text.replace(mark, f"\\{mark}")
    return text


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
