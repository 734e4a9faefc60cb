"""Directive ``method-table``: a table of :mod:`decorrupt.glossary`, made when the site is built."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

from decorrupt import glossary


class MethodTable(Directive):
    """Render one dictionary of the glossary, such as ``BAG_METHODS``, as a table."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table: name, label and meaning, and the direction of measures."""
        entries = getattr(glossary, self.arguments[0])
        fields = next(iter(entries.values()))._fields
        rows = [[name, *entry] for name, entry in entries.items()]
        return [table(["name", *fields], rows)]


def table(header: list[str], rows: list[list[str]]) -> nodes.table:
    """Return a table whose first column is code."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]
    group += nodes.thead("", line(header))
    group += nodes.tbody("", *(line(row, code=True) for row in rows))
    return nodes.table("", group, classes=["method-table"])


def line(cells: list[str], *, code: bool = False) -> nodes.row:
    """Return one row of a table."""
    row = nodes.row()
    for place, cell in enumerate(cells):
        kind = nodes.literal if code and place == 0 else nodes.Text
        text = nodes.literal(cell, cell) if kind is nodes.literal else nodes.Text(cell)
        row += nodes.entry("", nodes.paragraph("", "", text))
    return row


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("method-table", MethodTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
