"""Tables read and written: CSV, Parquet, JSON lines, SQLite, DuckDB; no row lost on the way."""

from decorrupt.atomic import OutputExistsError, atomic_write
from decorrupt.tables.errors import TableError
from decorrupt.tables.header import need_names, read_header
from decorrupt.tables.read import read_table, stream_table
from decorrupt.tables.write import write_table

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
