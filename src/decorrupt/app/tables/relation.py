"""A table inside DuckDB: named columns with fixed types, fetched as frames."""

# ruff: noqa: S608 — names in queries are our own or quoted by sql_name and sql_text

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from decorrupt.app.tables.cells import integer_type
from decorrupt.app.tables.engine import as_query, run_query, sql_name
from decorrupt.app.tables.names import TableError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

VECTOR_ROWS = 2048  # DuckDB returns rows in vectors of this size
INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
INTEGERS |= {f"U{name}" for name in INTEGERS}
AS_THEY_ARE = {"FLOAT", "DOUBLE", "BOOLEAN"}


def check_names(names: Sequence[str], source: str) -> None:
    """Raise TableError if a column has no name or two columns have the same name."""
    if not names:
        raise TableError(f"{source} has no columns")
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise TableError(f"{source}: column {place} of {len(names)} has no name")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise TableError(
            f"{source}: {times} columns are called {name!r}; give each a different name"
        )


@dataclass(frozen=True)
class Column:
    """A column: its name, the SQL of its values, their type, and whether some are missing."""

    name: str
    expression: str
    sql_type: str
    has_missing: bool


@dataclass(frozen=True)
class Relation:
    """Columns of a table or view inside a connection."""

    connection: duckdb.DuckDBPyConnection
    source: str
    table: str
    columns: Sequence[Column]
    n_rows: int
    notes: Sequence[str] = ()  # how cells were read; the frames have them in their attrs

    def __post_init__(self) -> None:
        if not self.n_rows:
            raise TableError(f"{self.source} has no rows")

    @classmethod
    def of_scan(
        cls,
        connection: duckdb.DuckDBPyConnection,
        source: str,
        names: Sequence[str],
        scan: str,
    ) -> Relation:
        """Return the relation of a table function whose columns have types."""
        types = [row[1] for row in connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()]
        places = ", ".join(f"c{k}" for k in range(len(types)))
        connection.execute(f"CREATE TEMP VIEW scanned({places}) AS SELECT * FROM {scan}")
        return cls._settled(connection, source, "scanned", names, types)

    @classmethod
    def of_query(cls, connection: duckdb.DuckDBPyConnection, source: str, sql: str) -> Relation:
        """Return the relation of a query's result; the query runs once."""
        query = as_query(connection, sql, source)
        described = connection.execute(f"DESCRIBE {query}").fetchall()
        names, types = [row[0] for row in described], [row[1] for row in described]
        check_names(names, source)
        places = ", ".join(f"c{k}" for k in range(len(names)))
        run_query(connection, f"CREATE TEMP TABLE decorrupt_result({places}) AS {query}")
        return cls._settled(connection, source, "decorrupt_result", names, types)

    @classmethod
    def _settled(
        cls,
        connection: duckdb.DuckDBPyConnection,
        source: str,
        table: str,
        names: Sequence[str],
        types: Sequence[str],
    ) -> Relation:
        aggregates = []
        for k, found in enumerate(types):
            ends = f"min(c{k}), max(c{k})" if found in INTEGERS else "0, 0"
            aggregates.append(f"count(c{k}), {ends}")
        counts = _one_row(connection, f"SELECT {', '.join(aggregates)}, count(*) FROM {table}")
        n_rows = counts[-1]
        columns = []
        for k, name in enumerate(names):
            present, low, high = counts[3 * k : 3 * k + 3]
            settled = _settle(types[k], low or 0, high or 0, present < n_rows)
            columns.append(Column(name, f"CAST(c{k} AS {settled})", settled, present < n_rows))
        return cls(connection, source, table, columns, n_rows)

    def query(self, sql: str | None) -> Relation:
        """Return the result of a query in which this relation is the view `rows`."""
        if sql is None:
            return self
        name, times = Counter(column.name.lower() for column in self.columns).most_common(1)[0]
        if times > 1:
            raise TableError(
                f"{self.source}: {times} columns are called {name!r} in different case, which "
                "SQL ignores; rename them"
            )
        self.connection.execute(f"CREATE TEMP VIEW rows AS {self._selection(named=True)}")
        return replace(Relation.of_query(self.connection, self.source, sql), notes=self.notes)

    def _selection(self, *, named: bool) -> str:
        expressions = [
            f"{column.expression} AS {sql_name(column.name) if named else f'v{k}'}"
            for k, column in enumerate(self.columns)
        ]
        return f"SELECT {', '.join(expressions)} FROM {self.table}"

    def chunks(self, chunk_rows: int | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows in frames of at most `chunk_rows` rows; by default in one frame."""
        n_rows = 0
        for frame in self._fetched(chunk_rows):
            n_rows += len(frame)
            for start in range(0, len(frame), chunk_rows or len(frame)):
                part = frame.iloc[start : start + (chunk_rows or len(frame))]
                yield self._finished(part.reset_index(drop=True))
        if n_rows != self.n_rows:
            raise TableError(f"{self.source} changed while it was read")

    def _fetched(self, chunk_rows: int | None) -> Iterator[pd.DataFrame]:
        result = self.connection.execute(self._selection(named=False))
        if chunk_rows is None:
            yield result.df()
            return
        vectors = max(chunk_rows // VECTOR_ROWS, 1)
        while len(frame := result.fetch_df_chunk(vectors)):
            yield frame

    def _finished(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame.columns = [column.name for column in self.columns]
        frame.attrs["notes"] = tuple(self.notes)
        booleans = {
            column.name: "boolean"
            for column in self.columns
            if column.sql_type == "BOOLEAN" and column.has_missing
        }
        return frame.astype(booleans) if booleans else frame


def _settle(found: str, low: int, high: int, has_missing: bool) -> str:
    """Return the SQL type for a column of a typed table: number, boolean, or else text."""
    if found in AS_THEY_ARE:
        return found
    if found in INTEGERS:
        return integer_type(low, high, has_missing)
    return "DOUBLE" if found.startswith("DECIMAL") else "VARCHAR"


def _one_row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    row = connection.execute(query).fetchone()
    assert row is not None  # noqa: S101 — an aggregate without groups has one row
    return row
