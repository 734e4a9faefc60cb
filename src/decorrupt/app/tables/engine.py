"""The engines of queries: sandboxed DuckDB, and long queries.

Connections read the given files only and load no extensions. DuckDB and sqlite3 run a query in one
call of C code, during which Python does not notice signals: a long query is reported every few
seconds, and stopped by Ctrl-C.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from decorrupt.app.tables.names import TableError, one_line
from decorrupt.progress import log_step, track

if TYPE_CHECKING:
    import duckdb

LOCKED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,  # otherwise a query could read Python variables
}
PATIENCE = 5.0  # seconds between two lines about the same query
INSTRUCTIONS = 100_000  # of sqlite3 between two calls of its handler, about a millisecond
WHAT = "running the query"


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


def run_query(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Execute a DuckDB query in a thread of its own, while this thread waits for signals."""
    finished, errors = threading.Event(), []

    def work() -> None:
        try:
            connection.execute(query)
        except BaseException as error:  # raised again by the thread that waits
            errors.append(error)
        finally:
            finished.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        for _ in track(_wait(finished), WHAT, 1):
            pass
    except BaseException:
        connection.interrupt()
        raise
    finally:
        thread.join()
    if errors:
        raise errors[0]


def _wait(finished: threading.Event) -> Iterator[None]:
    began = time.monotonic()
    while not finished.wait(PATIENCE):
        _report(began)
    yield


def _report(began: float) -> None:
    log_step(f"{WHAT} for {time.monotonic() - began:.0f} s; Ctrl-C stops it")


def progress_handler() -> Callable[[], None]:
    """Return a function for sqlite3 to call between the instructions of a query.

    A signal is handled when it is called; sqlite3 then stops with the error "interrupted".
    """
    began = last = time.monotonic()

    def report() -> None:
        nonlocal last
        if time.monotonic() - last >= PATIENCE:
            last = time.monotonic()
            _report(began)

    return report
