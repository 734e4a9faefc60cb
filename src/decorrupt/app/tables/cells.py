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
MAX_LINE_BYTES = 64_000_000  # of one record
Record = Sequence[str | None]


def scan_cells(connection: duckdb.DuckDBPyConnection, path: Path, file: DelimitedFile) -> None:
    """Create `cells` as a view of a regular CSV file; an empty cell is missing.

    Only the line ending is left to DuckDB: when it is told CRLF, it finds no rows.
    """
    columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(file.header)))
    connection.execute(
        f"CREATE TEMP VIEW cells AS SELECT * FROM read_csv({sql_text(str(path))}, "
        f"auto_detect=false, columns={{{columns}}}, header=false, skip=1, "
        f"delim={sql_text(file.delimiter)}, quote='\"', escape='\"', comment='', "
        "nullstr='', allow_quoted_nulls=true, strict_mode=true, null_padding=false, "
        f"ignore_errors=false, hive_partitioning=false, compression='{file.compression}', "
        f"max_line_size={MAX_LINE_BYTES}, buffer_size={MAX_LINE_BYTES})"
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
