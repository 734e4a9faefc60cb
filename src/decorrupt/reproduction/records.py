"""Records: one JSON line per cell, flushed to disk, so that a killed run can resume."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from decorrupt.reproduction.plan import Cell

DONE = "done"
Record = dict[str, Any]


def append_record(path: str | Path, record: Record) -> None:
    """Append one line in a single write, and flush it to disk.

    A line that a kill cut off stays in the file: :func:`read_records` skips it, and the next append
    starts a new line.
    """
    line = json.dumps(record, sort_keys=True, allow_nan=False).encode() + b"\n"
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line
        os.write(descriptor, line)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_records(path: str | Path) -> list[Record]:
    """Return all complete records of a file; an empty list if the file does not exist."""
    if not Path(path).exists():
        return []
    records = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # cut off by a kill
        if isinstance(record, dict):
            records.append(record)
    return records


def finished_cells(records: Iterable[Record]) -> set[Cell]:
    """Return the cells with a finished record."""
    return {cell_of(record) for record in records if record.get("status") == DONE}


def cell_of(record: Record) -> Cell:
    """Return the cell of a record."""
    return Cell(
        record["dataset"], int(record["bag_size"]), record["method"], int(record["repetition"])
    )


def latest(records: Iterable[Record]) -> list[Record]:
    """Return the last record of every cell, in the order of first appearance."""
    by_cell: dict[Cell, Record] = {}
    for record in records:
        by_cell[cell_of(record)] = record
    return list(by_cell.values())
