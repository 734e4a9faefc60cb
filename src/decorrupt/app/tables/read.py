"""Reading tables of all formats into frames; the file's extension gives the format."""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from decorrupt.app.tables.names import TableError
from decorrupt.app.tables.relation import VECTOR_ROWS, Relation
from decorrupt.app.tables.sources import SOURCES, ending
from decorrupt.progress import track

if TYPE_CHECKING:
    import pandas as pd

STDIN = "-"
# Small blocks use little memory and update the progress bar often; larger ones are not faster.
DEFAULT_CHUNK_ROWS = 4 * VECTOR_ROWS


def read_table(source: str, *, sql: str | None = None) -> pd.DataFrame:
    """Return all rows of a table.

    Parameters
    ----------
    source : str
        A file. Its extension gives the format: ``.csv``, ``.tsv`` or ``.txt`` (delimiter detected),
        ``.jsonl`` or ``.ndjson``, each also with ``.gz``; ``.parquet``; ``.sqlite`` or ``.db``;
        ``.duckdb``. "-" reads CSV from standard input.
    sql : str, optional
        A query, required for SQLite and DuckDB files. For other files, the view ``rows`` contains
        the file's rows. The query can read this file only.

    Returns
    -------
    DataFrame
        Numbers as int64 or float64, true/false as bool (boolean if some are missing), everything
        else as text, including dates. In a CSV a column is numeric if every cell is a number, empty
        or one of NA, N/A, NaN, null, None, "?"; decimals have a point. So are amounts of money,
        thousands with separators, and per cent, which become shares; ``attrs["notes"]`` names these
        columns. Whole numbers that begin with 0 or are too long for 64 bits are text. An empty cell
        is missing. Formulas are text.

    Raises
    ------
    TableError
        If anything cannot be read; the message names the file and, if known, the line or the
        column. Rows and cells that cannot be read are never dropped.
    """
    with _open(source, sql) as relation:
        (frame,) = relation.chunks()
        return frame


def stream_table(
    source: str,
    *,
    sql: str | None = None,
    chunk_rows: int = DEFAULT_CHUNK_ROWS,
) -> Iterator[pd.DataFrame]:
    """Yield a table in frames of at most `chunk_rows` rows, all with the same column types.

    A first pass over the whole table finds the types and anything that cannot be read, so an error
    is raised before the first frame. Parameters and errors are those of :func:`read_table`.
    """
    if chunk_rows < 1:
        raise ValueError(f"chunk_rows={chunk_rows!r} must be at least 1")
    with _open(source, sql) as relation:
        first = 0
        n_chunks = math.ceil(relation.n_rows / chunk_rows)
        for chunk in track(relation.chunks(chunk_rows), "blocks of rows", n_chunks):
            chunk.index += first
            first += len(chunk)
            yield chunk


@contextmanager
def _open(source: str, sql: str | None) -> Iterator[Relation]:
    with tempfile.TemporaryDirectory(prefix="decorrupt-") as folder:
        name, path = _located(source, Path(folder))
        with SOURCES[ending(path)](path, name, sql, Path(folder)) as relation:
            yield relation


def _located(source: str, folder: Path) -> tuple[str, Path]:
    """Return the name of the source for messages, and the path of its data."""
    if source == STDIN:
        path = folder / "stdin.csv"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return "standard input", path
    return source, locate_file(source)


def check_tables(*sources: str | None) -> None:
    """Raise TableError unless each of the tables that are named is a file of a known kind."""
    for source in sources:
        if source not in (None, STDIN):
            locate_file(str(source))


def locate_file(source: str) -> Path:
    """Return the path of a table; raise a TableError if it is not a file of a known kind."""
    path = Path(source).expanduser()
    if not path.exists():
        raise TableError(f"{source}: no such file")
    if not path.is_file():
        raise TableError(f"{source} is not a file")
    if ending(path) not in SOURCES:
        known = ", ".join(SOURCES)
        raise TableError(f"{source}: unknown kind of table; the name must end in {known}")
    return path
