"""The error of readers and writers of tables, and the check of column names."""

import re
from collections.abc import Sequence
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
