"""Names of columns: lists of them in one text, and the error where one is missing."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

PREFIX = re.compile(r"^[A-Z]\w*( [A-Z]\w*)* Error: ")
SHOWN_NAMES = 12
MAX_LENGTH = 1000  # characters; DuckDB quotes lines in full


class TableError(ValueError):
    """A table cannot be read or written; the message names the file and the column or line."""


def one_line(error: object) -> str:
    """Return the first paragraph of a library's message on one line, without its prefix."""
    paragraph = str(error).strip().split("\n\n")[0]
    return " ".join(PREFIX.sub("", paragraph[:MAX_LENGTH]).split())


def need_names(known: Sequence[str], names: Sequence[str], table: str, option: str = "") -> None:
    """Raise TableError naming the first of `names` that is not among the columns `known`."""
    missing = [name for name in names if name not in known]
    if missing:
        near = [one for one in known if missing[0] in map(str.strip, one.split(","))]
        close = "".join(map(_did_you_mean, (near or get_close_matches(missing[0], known, 1))[:1]))
        asked = f" ({option})" if option else ""
        raise TableError(
            f"{table}: there is no column {missing[0]!r}{asked}; the columns are "
            f"{listed(known)}{close}"
        )


def _did_you_mean(name: str) -> str:
    quotes = " In a list, a name with a comma must be in double quotes" if "," in name else ""
    return f"; did you mean {name!r}?{quotes}"


def listed(names: Sequence[str], most: int = SHOWN_NAMES) -> str:
    """Return names in quotation marks, the first few if there are many."""
    return ", ".join(map(repr, names[:most])) + ", …" * (len(names) > most)


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
