"""Queries of an SQLite file, read-only and restricted to this file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from decorrupt.app.tables.cells import ValueColumn
from decorrupt.app.tables.engine import INSTRUCTIONS, progress_handler
from decorrupt.app.tables.names import TableError

# Everything else (ATTACH, PRAGMA, writing) is refused: a query reads this file only.
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}
ALLOWED.add(sqlite3.SQLITE_RECURSIVE)


@contextmanager
def open_query(path: Path, name: str, sql: str) -> Iterator[tuple[list[str], Iterator[Any]]]:
    """Yield the column names and the rows of a query.

    Raises
    ------
    TableError
        If the file is not an SQLite database or is damaged, or `sql` fails or is not a query.
    """
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.set_authorizer(_authorize)
            connection.set_progress_handler(progress_handler(), INSTRUCTIONS)
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise TableError(f"{name}: sql must be a query (select …), got {sql!r}")
            yield [column[0] for column in cursor.description], cursor
    except (sqlite3.Error, sqlite3.Warning) as error:
        if str(error) == "interrupted":
            raise KeyboardInterrupt from None
        raise TableError(f"{name}: {error}") from None


def _authorize(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


def iterate_cells(
    rows: Iterator[Any], name: str, columns: dict[str, ValueColumn]
) -> Iterator[list[str | None]]:
    """Yield the values of every row as text, and record their kinds in `columns`."""
    for number, row in enumerate(rows, 1):
        if any(isinstance(value, bytes) for value in row):
            column = next(
                key for key, value in zip(columns, row, strict=True) if type(value) is bytes
            )
            raise TableError(f"{name}: column {column!r} of row {number} contains bytes, not text")
        yield [column.text(value) for column, value in zip(columns.values(), row, strict=True)]
