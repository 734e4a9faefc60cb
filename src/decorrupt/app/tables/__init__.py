"""Reading and writing tables: CSV, Parquet, JSON lines, SQLite, DuckDB."""

from decorrupt.app.tables.names import TableError, join_names, listed, need_names, split_names
from decorrupt.app.tables.read import check_tables, read_table, stream_table
from decorrupt.app.tables.write import write_table
from decorrupt.atomic import OutputExistsError, atomic_write

__all__ = [
    "OutputExistsError",
    "TableError",
    "atomic_write",
    "check_tables",
    "join_names",
    "listed",
    "need_names",
    "read_table",
    "split_names",
    "stream_table",
    "write_table",
]
