"""Directive ``command-reference``: the help of all commands, when the site is built."""

from __future__ import annotations

from typing import Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from decorrupt.app.cli.app import app as program

WIDTH = 80


class CommandReference(SphinxDirective):
    """Show the help of all commands, with a heading per command."""

    def run(self) -> list[nodes.Node]:
        """Return the parsed reference."""
        return self.parse_text_to_nodes(reference(), allow_section_headings=True)


def reference() -> str:
    """Return the help of all commands as Markdown."""
    group: Any = typer.main.get_command(program)
    return "\n\n".join(
        f"### {title}\n\n```text\n{_help(command, title)}\n```"
        for title, command in ((f"decorrupt {name}", one) for name, one in group.commands.items())
    )


def _help(command: Any, title: str) -> str:
    context = typer.Context(
        command, info_name=title, terminal_width=WIDTH, **command.context_settings
    )
    return str(command.get_help(context))


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
