"""Queries that take long: reported every few seconds, and stopped by Ctrl-C.

Both engines run a query in one call of C code, during which Python does not notice signals.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from decorrupt.progress import log_step, track

if TYPE_CHECKING:
    import duckdb

PATIENCE = 5.0  # seconds between two lines about the same query
INSTRUCTIONS = 100_000  # of sqlite3 between two calls of its handler, about a millisecond
WHAT = "running the query"


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
