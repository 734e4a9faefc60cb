"""Tables of every form to frames: one entry, by the ending of the file's name."""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from decorrupt.app.tables.errors import TableError
from decorrupt.app.tables.relation import VECTOR_ROWS, Relation
from decorrupt.app.tables.sources import SOURCES, ending
from decorrupt.progress import track

if TYPE_CHECKING:
    import pandas as pd

STDIN = "-"
# Small, for little memory and for a progress bar that moves; larger blocks are not faster.
DEFAULT_CHUNK_ROWS = 4 * VECTOR_ROWS


def read_table(
    source: str,
    *,
    sql: str | None = None,
    columns: Sequence[str] | None = None,
    decimal: str | None = None,
) -> pd.DataFrame:
    """Return all rows of a table.

    Parameters
    ----------
    source : str
        A file, read by its ending: ``.csv``, ``.tsv`` or ``.txt`` (the delimiter is found out) and
        ``.jsonl`` or ``.ndjson``, each also with ``.gz``; ``.parquet``; ``.sqlite`` or ``.db``;
        ``.duckdb``. "-" reads CSV from standard input.
    sql : str, optional
        A query. It must be given for SQLite and DuckDB files; in a query of another file its rows
        are the view ``rows``. It can read this one file and nothing else.
    columns : sequence of str, optional
        The columns to return, in this order; all by default.
    decimal : {".", ","}, optional
        The decimal mark of a CSV's numbers; other forms do not need it. By default a comma where
        it is unambiguous: it is not the delimiter, no column of numbers has a decimal point, and
        in some column of numbers it cannot separate thousands, as it could in 1,234.

    Returns
    -------
    DataFrame
        Numbers as int64 or float64, true/false as bool (boolean, if some are missing), all else
        as text, dates too. In a CSV a column is numeric if every cell is a number, empty or one of
        NA, N/A, NaN, null, None, "?"; whole numbers that begin with 0 or are too long for 64 bits
        are text. An empty cell is missing. Formulas are text.

    Raises
    ------
    TableError
        If anything cannot be read as it stands: it names the file and, where known, the line or
        the column. No row is ever left out, and no cell dropped because it could not be read.
    """
    with _open(source, sql, columns, decimal) as relation:
        (frame,) = relation.chunks()
        return frame


def stream_table(
    source: str,
    *,
    sql: str | None = None,
    decimal: str | None = None,
    chunk_rows: int = DEFAULT_CHUNK_ROWS,
) -> Iterator[pd.DataFrame]:
    """Yield a table in frames of at most `chunk_rows` rows, all with the same column types.

    The types are found in a first pass over the whole table, which also finds what cannot be read:
    an error comes before the first frame. Parameters and errors are those of :func:`read_table`.
    """
    if chunk_rows < 1:
        raise ValueError(f"chunk_rows={chunk_rows!r} must be at least 1")
    with _open(source, sql, None, decimal) as relation:
        first = 0
        n_chunks = math.ceil(relation.n_rows / chunk_rows)
        for chunk in track(relation.chunks(chunk_rows), "blocks of rows", n_chunks):
            chunk.index += first
            first += len(chunk)
            yield chunk


@contextmanager
def _open(
    source: str, sql: str | None, columns: Sequence[str] | None, decimal: str | None
) -> Iterator[Relation]:
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal={decimal!r} must be '.' or ','")
    with tempfile.TemporaryDirectory(prefix="decorrupt-") as folder:
        name, path = _located(source, Path(folder))
        with SOURCES[ending(path)](path, name, sql, Path(folder), decimal) as relation:
            yield relation if columns is None else relation.select(columns)


def _located(source: str, folder: Path) -> tuple[str, Path]:
    """Return what to call the source and where its bytes are."""
    if source == STDIN:
        path = folder / "stdin.csv"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return "standard input", path
    return str(source), locate_file(str(source))


def locate_file(source: str) -> Path:
    """Return the path of a table, or say why it is none."""
    path = Path(source).expanduser()
    if not path.exists():
        raise TableError(f"{source}: no such file")
    if not path.is_file():
        raise TableError(f"{source} is not a file")
    if ending(path) not in SOURCES:
        known = ", ".join(SOURCES)
        raise TableError(f"{source}: unknown kind of table; the name must end in {known}")
    return path
