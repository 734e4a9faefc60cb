"""Comma-separated names in one text; as in CSV, a name with a comma is in double quotes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from decorrupt.app.tables import TableError


def split_names(text: str | None) -> list[str]:
    """Return the names in a text; raise TableError unless it is one list.

    Examples
    --------
    >>> split_names('red,"green, or blue"')
    ['red', 'green, or blue']
    """
    if not text:
        return []
    lists = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))
    if len(lists) != 1:
        raise TableError(
            f"{text!r} is not a list of names: one with a line end is in double quotes"
        )
    (names,) = lists
    return [name for name in names if name]


def join_names(names: Iterable[object]) -> str:
    """Return a text that :func:`split_names` splits again."""
    line = io.StringIO()
    end = "\r\n"  # a name that contains one of its characters is quoted
    csv.writer(line, lineterminator=end).writerow(names)
    return line.getvalue().removesuffix(end)
