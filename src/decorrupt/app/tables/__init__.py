"""Reading and writing tables: CSV, Parquet, JSON lines, SQLite, DuckDB."""

from decorrupt.app.tables.errors import TableError
from decorrupt.app.tables.header import need_names, read_header
from decorrupt.app.tables.read import read_table, stream_table
from decorrupt.app.tables.write import write_table
from decorrupt.atomic import OutputExistsError, atomic_write

__all__ = [
    "OutputExistsError",
    "TableError",
    "atomic_write",
    "need_names",
    "read_header",
    "read_table",
    "stream_table",
    "write_table",
]
