"""Sandboxed DuckDB connections: they read the given files only and load no extensions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from decorrupt.app.tables.errors import TableError, one_line

if TYPE_CHECKING:
    import duckdb

LOCKED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,  # otherwise a query could read Python variables
}


@contextmanager
def open_engine(
    name: str, folder: Path, *, database: Path | None = None, files: Sequence[Path] = ()
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection that can read `database` and `files` only; its errors are TableErrors.

    Parameters
    ----------
    name : str
        The source's name in error messages.
    folder : Path
        Folder for data that does not fit in memory.
    database : Path, optional
        A DuckDB file, opened read-only; by default a database in memory.
    files : sequence of Path
        Files that queries may read.
    """
    try:
        import duckdb
    except ImportError:
        raise ImportError("reading tables needs DuckDB: pip install 'decorrupt[cli]'") from None
    try:
        with closing(
            duckdb.connect(
                str(database or ":memory:"), read_only=bool(database), config=dict(LOCKED)
            )
        ) as connection:
            paths = ", ".join(sql_text(str(path)) for path in files)
            connection.execute(f"SET temp_directory = {sql_text(str(folder / 'spilled'))}")
            connection.execute(f"SET allowed_paths = [{paths}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection
    except duckdb.Error as error:
        # Files are read through links in our own folder, whose names the user does not know.
        message = re.sub(f"'?{re.escape(str(folder))}[^' ]*'?", "the file", one_line(error))
        raise TableError(f"{name}: {message}") from None


def as_query(connection: duckdb.DuckDBPyConnection, sql: str, name: str) -> str:
    """Return the query in `sql`; raise a TableError if it is not exactly one query."""
    import duckdb

    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise TableError(f"{name}: sql must be one query (select …), got {sql!r}")
    return statements[0].query.strip().rstrip(";")


def sql_text(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def sql_name(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
