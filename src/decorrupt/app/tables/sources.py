"""Opening each format of table as a relation that DuckDB can scan."""

# ruff: noqa: S608 — names in queries are our own or quoted by sql_name and sql_text

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from decorrupt.app.tables import json_lines, sqlite
from decorrupt.app.tables.cells import Record, ValueColumn, insert_cells, scan_cells
from decorrupt.app.tables.delimited import open_delimited
from decorrupt.app.tables.engine import open_engine, sql_text
from decorrupt.app.tables.inference import (
    count_kinds,
    forms_in_words,
    number_form,
    typed_column,
)
from decorrupt.app.tables.names import TableError
from decorrupt.app.tables.relation import Column, Relation, check_names
from decorrupt.app.tables.text import open_lines

Source = Callable[[Path, str, str | None, Path], AbstractContextManager[Relation]]


def ending(path: Path) -> str:
    """Return the file extension without .gz, which gives the format of the table."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] == ".gz":
        return suffixes[0] if len(suffixes) == 2 and suffixes[0] in PACKABLE else ""
    return suffixes[-1] if suffixes else ""


@contextmanager
def _delimited(path: Path, name: str, sql: str | None, folder: Path) -> Iterator[Relation]:
    link = _linked(path, folder / "rows")
    with open_engine(name, folder, files=[link]) as connection:
        with open_delimited(path, name) as file:
            check_names(file.header, name)
            n_rows = sum(1 for _ in file.records)
            if not file.is_regular:
                records = ([cell or None for cell in one] for one in file.reopened().records)
                insert_cells(connection, records, len(file.header))
        if file.is_regular:
            scan_cells(connection, link, file)
        kinds = count_kinds(connection, len(file.header))
        n_found = sum(kinds[0].values())
        if n_found != n_rows:
            raise TableError(
                f"{name}: {n_rows:,} rows in the first pass, {n_found:,} in the second; did the "
                "file change?"
            )
        columns = [typed_column(key, f"c{k}", kinds[k]) for k, key in enumerate(file.header)]
        forms = [number_form(own) for own in kinds]
        notes = [f"{name}: {words}" for words in forms_in_words(file.header, forms)]
        yield Relation(connection, name, "cells", columns, n_rows, notes).query(sql)


@contextmanager
def _json_lines(path: Path, name: str, sql: str | None, folder: Path) -> Iterator[Relation]:
    with open_engine(name, folder) as connection:
        with open_lines(path, name) as lines:
            columns = {key: ValueColumn() for key in json_lines.read_keys(lines, name)}
            check_names(list(columns), name)
            cells = json_lines.iterate_cells(lines, name, columns)
            relation = _of_values(connection, name, columns, cells)
        yield relation.query(sql)


@contextmanager
def _sqlite(path: Path, name: str, sql: str | None, folder: Path) -> Iterator[Relation]:
    if sql is None:
        raise TableError(f'{name} is a database: give a query with sql, such as "select … from …"')
    with open_engine(name, folder) as connection:
        with sqlite.open_query(path, name, sql) as (names, rows):
            check_names(names, name)
            columns = {key: ValueColumn() for key in names}
            cells = sqlite.iterate_cells(rows, name, columns)
            relation = _of_values(connection, name, columns, cells)
        yield relation


def _of_values(
    connection: Any, name: str, values: dict[str, ValueColumn], records: Iterator[Record]
) -> Relation:
    n_rows = insert_cells(connection, records, len(values))
    columns = [
        Column(key, f"CAST(c{k} AS {value.sql_type})", value.sql_type, value.missing)
        for k, (key, value) in enumerate(values.items())
    ]
    return Relation(connection, name, "cells", columns, n_rows)


@contextmanager
def _parquet(path: Path, name: str, sql: str | None, folder: Path) -> Iterator[Relation]:
    link = _linked(path, folder / "rows")
    with open_engine(name, folder, files=[link]) as connection:
        schema = connection.execute(
            f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({sql_text(str(link))})"
        ).fetchall()
        names = _top_level(schema)
        check_names(names, name)
        scan = f"read_parquet({sql_text(str(link))}, hive_partitioning=false)"
        yield Relation.of_scan(connection, name, names, scan).query(sql)


def _linked(path: Path, link: Path) -> Path:
    """Link to a file: DuckDB would read * and [ in the file's name as a pattern."""
    os.symlink(path.absolute(), link)
    return link


def _top_level(schema: list[tuple[str, int]]) -> list[str]:
    """Return the column names of a schema listed depth first, starting with its root."""
    names = []
    place = 1
    while place < len(schema):
        names.append(schema[place][0])
        open_nodes = 1
        while open_nodes:
            open_nodes += schema[place][1] - 1
            place += 1
    return names


@contextmanager
def _duckdb(path: Path, name: str, sql: str | None, folder: Path) -> Iterator[Relation]:
    if sql is None:
        raise TableError(f'{name} is a database: give a query with sql, such as "select … from …"')
    with open_engine(name, folder, database=path) as connection:
        yield Relation.of_query(connection, name, sql)


PACKABLE = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")
SOURCES: dict[str, Source] = {
    ".csv": _delimited,
    ".tsv": _delimited,
    ".txt": _delimited,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
    ".sqlite": _sqlite,
    ".db": _sqlite,
    ".duckdb": _duckdb,
}
