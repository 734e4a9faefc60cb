"""Reading and checking the records of a run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from decorrupt.reproduction.records import DONE, Record, read_records

REQUIRED = ("dataset", "bag_size", "method", "repetition", "status")
RESULTS = ("balanced_accuracy", "accuracy", "seconds")
OPTIONAL_RESULTS = ("n_train", "n_left_out", "peak_mb")


def read_finished_run(path: str | Path) -> list[Record]:
    """Return the records of a file, checked for what a report needs.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has no records or a record lacks an entry; the message names the file and the entry.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file; `decorrupt paper` writes one")
    try:
        records = read_records(path)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text file, so no records") from error
    if not records:
        raise ValueError(f"{path}: no records; expected JSON lines as `decorrupt paper` writes")
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
