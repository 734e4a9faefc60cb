"""Records: one JSON line per cell, flushed to disk, so that a killed run can resume."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reproduction.plan import Cell

DONE = "done"
Record = dict[str, Any]
# What every record must have, and what every finished one must have besides.
REQUIRED = ("dataset", "bag_size", "method", "repetition", "status")
RESULTS = ("balanced_accuracy", "accuracy", "seconds")
OPTIONAL_RESULTS = ("n_train", "n_left_out", "peak_mb")


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


def read_checked(path: str | Path) -> list[Record]:
    """Return the records of a file, checked for what resuming and a report need.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has no records or a record lacks an entry; the message names the file and the entry.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file; `python -m reproduction run` writes one")
    try:
        records = read_records(path)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text file, so no records") from error
    if not records:
        raise ValueError(f"{path}: no records; expected one JSON object per line")
    for number, record in enumerate(records, 1):
        if problem := _problem(record):
            raise ValueError(f"{path}: record {number}: {problem}")
    return records


def _problem(record: Record) -> str:
    """Return what is wrong with a record, or an empty string."""
    if missing := [key for key in REQUIRED if key not in record]:
        return f"{missing[0]!r} is missing"
    for key in ("bag_size", "repetition"):
        if not isinstance(record[key], int) or record[key] < 0:
            return f"{key!r} is {record[key]!r}, not a non-negative integer"
    for key in ("dataset", "method", "status"):
        if not isinstance(record[key], str):
            return f"{key!r} is {record[key]!r}, not a string"
    if record["status"] != DONE:
        return ""
    given = [key for key in OPTIONAL_RESULTS if record.get(key) is not None]
    for key in (*RESULTS, *given):
        if not _is_number(record.get(key)):
            return f"{key!r} is {record.get(key)!r}, not a finite number"
    for key in ("params", "versions"):
        if not isinstance(record.get(key) or {}, dict):
            return f"{key!r} is {record[key]!r}, not a mapping"
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
