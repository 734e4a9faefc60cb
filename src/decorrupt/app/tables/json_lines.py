"""Reading JSON lines: one object per line, keys are columns, a missing key is a missing value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from decorrupt.app.tables.cells import ValueColumn
from decorrupt.app.tables.names import TableError
from decorrupt.app.tables.text import TextLines

Record = dict[str, Any]


def read_keys(lines: TextLines, name: str) -> list[str]:
    """Return all keys of all lines, in the order of their first appearance."""
    keys: dict[str, None] = {}
    for _, record in iterate_objects(lines, name):
        keys.update(dict.fromkeys(record))
    return list(keys)


def iterate_cells(
    lines: TextLines, name: str, columns: dict[str, ValueColumn]
) -> Iterator[list[Any]]:
    """Yield the values of every line as text, and record their kinds in `columns`."""
    for number, record in iterate_objects(lines, name):
        cells = [column.text(record.get(key)) for key, column in columns.items()]
        try:
            "".join(cell or "" for cell in cells).encode()
        except UnicodeEncodeError:
            raise TableError(f"{name}, line {number}: half a surrogate pair in a text") from None
        yield cells


def iterate_objects(lines: TextLines, name: str) -> Iterator[tuple[int, Record]]:
    """Yield line number and object; the error names a line that is not an object."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=_unique)
        except RecursionError:
            raise TableError(f"{name}, line {number}: nested too deeply") from None
        except ValueError as error:
            raise TableError(f"{name}, line {number}: not JSON ({error})") from None
        if not isinstance(record, dict):
            raise TableError(
                f"{name}, line {number}: expected a JSON object in every line, such as "
                '{"age": 42, "city": "Bonn"}'
            )
        yield number, record


def _unique(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return record
