"""The error of readers and writers of tables."""

import re

PREFIX = re.compile(r"^[A-Z]\w*( [A-Z]\w*)* Error: ")
MAX_LENGTH = 1000  # characters; DuckDB quotes lines in full


class TableError(ValueError):
    """A table cannot be read or written; the message names the file and the column or line."""


def one_line(error: object) -> str:
    """Return the first paragraph of a library's message on one line, without its prefix."""
    paragraph = str(error).strip().split("\n\n")[0]
    return " ".join(PREFIX.sub("", paragraph[:MAX_LENGTH]).split())
