"""Tables of text inside DuckDB, and the types of their columns.

The table or view `cells` has columns c0, c1, … of type VARCHAR.
"""

# ruff: noqa: S608 — names in queries are our own or quoted by sql_text

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decorrupt.app.tables.engine import sql_text

if TYPE_CHECKING:
    import duckdb

    from decorrupt.app.tables.delimited import DelimitedFile

BATCH_ROWS = 10_000
LINE_BYTES, BUFFER_BYTES = 2_000_000, 32_000_000  # DuckDB's defaults; memory grows with them
CHARACTER_BYTES = 4  # at most
Record = Sequence[str | None]
EXACT_IN_DOUBLE = 2**53
INT64 = 2**63


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


def integer_type(low: int, high: int, missing: bool) -> str:
    """Return the SQL type that keeps integers in [low, high] exactly; text if there is none.

    A column with missing values becomes floats, which are exact up to 2⁵³ only. Longer numbers are
    often codes such as account numbers, and two different ones must not become equal.
    """
    largest = max(abs(low), abs(high))
    if missing:
        return "DOUBLE" if largest <= EXACT_IN_DOUBLE else "VARCHAR"
    return "BIGINT" if low >= -INT64 and high < INT64 else "VARCHAR"


@dataclass
class ValueColumn:
    """The kinds of values found so far in one column."""

    kinds: set[type] = field(default_factory=set)
    low: int = 0
    high: int = 0
    missing: bool = False

    def text(self, value: Any) -> str | None:
        """Record the kind of a value and return it as text; None if it is missing."""
        kind = type(value)
        if value is None or value != value:
            self.missing = True
            return None
        self.kinds.add(kind)
        if kind is int:
            self.low, self.high = min(self.low, value), max(self.high, value)
            return str(value)
        if kind is float:
            return repr(value)
        return value if kind is str else json.dumps(value, ensure_ascii=False)

    @property
    def sql_type(self) -> str:
        """The type of the column: VARCHAR if values of several kinds are mixed."""
        if not self.kinds:
            return "DOUBLE"
        if self.kinds == {bool}:
            return "BOOLEAN"
        if self.kinds == {int}:
            return integer_type(self.low, self.high, self.missing)
        return "DOUBLE" if self.kinds <= {int, float} else "VARCHAR"
