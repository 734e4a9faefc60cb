"""Reading and writing tables: CSV, Parquet, JSON lines, SQLite, DuckDB."""

from decorrupt.app.tables.errors import TableError, listed, need_names
from decorrupt.app.tables.read import check_tables, read_table, stream_table
from decorrupt.app.tables.write import write_table
from decorrupt.atomic import OutputExistsError, atomic_write

__all__ = [
    "OutputExistsError",
    "TableError",
    "atomic_write",
    "check_tables",
    "listed",
    "need_names",
    "read_table",
    "stream_table",
    "write_table",
]
