"""Comma-separated names in one text; as in CSV, a name with a comma is in double quotes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable


def split_names(text: str | None) -> list[str]:
    """Return the names in a text.

    Examples
    --------
    >>> split_names('red,"green, or blue"')
    ['red', 'green, or blue']
    """
    if not text:
        return []
    (names,) = csv.reader([text], skipinitialspace=True)
    return [name for name in names if name]


def join_names(names: Iterable[object]) -> str:
    """Return a text that :func:`split_names` splits again."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
