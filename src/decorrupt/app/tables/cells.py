"""Tables of text inside DuckDB: `cells`, with columns c0, c1, … of type VARCHAR."""

# ruff: noqa: S608 — names in queries are our own or quoted by sql_text

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from decorrupt.app.tables.engine import sql_text

if TYPE_CHECKING:
    import duckdb

    from decorrupt.app.tables.delimited import DelimitedFile

BATCH_ROWS = 10_000
LINE_BYTES, BUFFER_BYTES = 2_000_000, 32_000_000  # DuckDB's defaults; memory grows with them
CHARACTER_BYTES = 4  # at most
Record = Sequence[str | None]


def scan_cells(connection: duckdb.DuckDBPyConnection, path: Path, file: DelimitedFile) -> None:
    """Create `cells` as a view of the lines after the first; an empty cell is missing.

    DuckDB detects the line ending itself: with CRLF given as an option, it finds no rows.
    """
    columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(file.header)))
    line_bytes = max(LINE_BYTES, CHARACTER_BYTES * file.longest)
    connection.execute(
        f"CREATE TEMP VIEW cells AS SELECT * FROM read_csv({sql_text(str(path))}, "
        f"auto_detect=false, columns={{{columns}}}, header=false, skip=1, "
        f"delim={sql_text(file.delimiter)}, quote='\"', escape='\"', comment='', nullstr='', "
        "allow_quoted_nulls=true, strict_mode=true, null_padding=false, ignore_errors=false, "
        f"compression='{'gzip' if file.is_packed else 'none'}', hive_partitioning=false, "
        f"max_line_size={line_bytes}, buffer_size={max(BUFFER_BYTES, line_bytes)})"
    )


def insert_cells(
    connection: duckdb.DuckDBPyConnection, records: Iterable[Record], n_columns: int
) -> int:
    """Create `cells` as a table of the records, None for a missing value; return their number."""
    import pandas as pd

    names = [f"c{k}" for k in range(n_columns)]
    columns = ", ".join(f"{name} VARCHAR" for name in names)
    connection.execute(f"CREATE TEMP TABLE cells({columns})")
    n_rows, records = 0, iter(records)
    while batch := list(islice(records, BATCH_ROWS)):
        connection.register("batch", pd.DataFrame(batch, columns=names, dtype=object))
        connection.execute("INSERT INTO cells SELECT * FROM batch")
        connection.unregister("batch")
        n_rows += len(batch)
    return n_rows
