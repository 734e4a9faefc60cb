"""Reading the records of a run, and refusing what is none in one line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from decorrupt.reproduction.records import DONE, Record, read_records

WHERE = ("dataset", "bag_size", "method", "repetition", "status")
WHAT = ("balanced_accuracy", "accuracy", "seconds")
MAYBE = ("n_train", "n_left_out", "peak_mb")


def read_finished_run(path: str | Path) -> list[Record]:
    """Return the records of a file, each with what a report needs.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it holds no records, or one without a needed entry; the message names file and entry.
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
    """Return what is wrong with a record, nothing if it is sound."""
    if missing := [key for key in WHERE if key not in record]:
        return f"{missing[0]!r} is missing"
    for key in ("bag_size", "repetition"):
        if not isinstance(record[key], int) or record[key] < 0:
            return f"{key!r} is {record[key]!r}, not a whole number"
    for key in ("dataset", "method", "status"):
        if not isinstance(record[key], str):
            return f"{key!r} is {record[key]!r}, not a text"
    if record["status"] != DONE:
        return ""
    given = [key for key in MAYBE if record.get(key) is not None]
    for key in (*WHAT, *given):
        if not _is_number(record.get(key)):
            return f"{key!r} is {record.get(key)!r}, not a number"
    for key in ("params", "versions"):
        if not isinstance(record.get(key) or {}, dict):
            return f"{key!r} is {record[key]!r}, not a mapping"
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
