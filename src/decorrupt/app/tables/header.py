"""Column names of a table, read before the rows and without pandas."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from decorrupt.app.tables.delimited import open_delimited
from decorrupt.app.tables.errors import TableError
from decorrupt.app.tables.read import STDIN, locate_file
from decorrupt.app.tables.sources import ending, open_parquet

DELIMITED, PARQUET = (".csv", ".tsv", ".txt"), ".parquet"
SHOWN_NAMES = 12


def read_header(source: str, *, sql: str | None = None) -> list[str] | None:
    """Return the names of a file's columns, or None if this needs reading the whole table.

    It is None for standard input, with a query, for JSON lines and for databases.

    Raises
    ------
    TableError
        If the file does not exist, its kind is unknown, or its header cannot be read.
    """
    if source == STDIN:
        return None
    path = locate_file(source)
    kind = ending(path)
    if sql is not None or kind not in (*DELIMITED, PARQUET):
        return None
    if kind in DELIMITED:
        with open_delimited(path, source) as file:
            return file.header
    with (
        tempfile.TemporaryDirectory(prefix="decorrupt-") as folder,
        open_parquet(path, source, Path(folder)) as (_, names, _),
    ):
        return names


def need_names(known: Sequence[str], names: Sequence[str], table: str, option: str = "") -> None:
    """Raise TableError naming the first of `names` that is not among the columns `known`."""
    missing = [name for name in names if name not in known]
    if missing:
        shown = ", ".join(map(repr, known[:SHOWN_NAMES])) + ", …" * (len(known) > SHOWN_NAMES)
        asked = f" ({option})" if option else ""
        raise TableError(
            f"{table}: there is no column {missing[0]!r}{asked}; the columns are {shown}"
        )
