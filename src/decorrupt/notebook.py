"""HTML tables for notebooks: escaped text, no scripts and no other host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def html_table(
    title: str, head: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str] = ()
) -> str:
    """Return a titled table with notes below it; an empty `head` gives a table without one.

    Parameters
    ----------
    title : str
        The line above the table.
    head : sequence of str
        One name per column.
    rows : iterable of sequences
        The cells, shown as ``str`` shows them.
    notes : iterable of str
        One line each.
    """
    body = [_row(row, "td") for row in rows]
    parts = [
        f"<strong>{escape(title)}</strong><table>",
        f"<thead>{_row(head, 'th')}</thead>" if head else "",
        f"<tbody>{''.join(body)}</tbody></table>",
        *(f"<div>{escape(note)}</div>" for note in notes),
    ]
    return f"<div>{''.join(parts)}</div>"


def _row(cells: Sequence[Any], kind: str) -> str:
    shown = (f'<{kind} style="text-align: left">{escape(str(cell))}</{kind}>' for cell in cells)
    return f"<tr>{''.join(shown)}</tr>"
