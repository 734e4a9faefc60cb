"""Records of text to one plain CSV file of ours, which DuckDB cannot misread."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from decorrupt.app.tables.errors import TableError

BATCH_ROWS = 10_000
SHORT = 1_000_000  # a batch up to this many characters needs no look at its records
MAX_RECORD = 64_000_000  # characters
Record = Sequence[str | None]


@dataclass(frozen=True)
class StagedCells:
    """A file of cells without a header: commas, double quotes, one line ending.

    Attributes
    ----------
    path : Path
        The file.
    n_columns, n_rows : int
        Its shape.
    longest : int
        No record has more bytes than this.
    empty_is_missing : bool
        Whether an empty text stands for a missing value; else it is written quoted, and the
        missing value is not.
    """

    path: Path
    n_columns: int
    n_rows: int
    longest: int
    empty_is_missing: bool

    @property
    def scan(self) -> str:
        """The SQL that reads it, columns c0, c1, … of text; nothing is left to detection."""
        columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(self.n_columns))
        return (
            f"read_csv({sql_text(str(self.path))}, auto_detect=false, columns={{{columns}}}, "
            "header=false, skip=0, delim=',', quote='\"', escape='\"', comment='', new_line='\\n', "
            f"nullstr='', allow_quoted_nulls={str(self.empty_is_missing).lower()}, "
            "strict_mode=true, null_padding=false, ignore_errors=false, hive_partitioning=false, "
            f"compression='none', max_line_size={max(2 * self.longest, 2_000_000)})"
        )


def batched(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield records by the ten thousand."""
    records = iter(records)
    while batch := list(islice(records, BATCH_ROWS)):
        yield batch


def stage_cells(
    batches: Iterable[list[Record]],
    n_columns: int,
    path: Path,
    name: str,
    *,
    empty_is_missing: bool,
) -> StagedCells:
    """Write records to `path`.

    Raises
    ------
    TableError
        If there are none, or one is longer than memory should bear.
    """
    n_rows, longest = 0, SHORT
    with path.open("w", encoding="utf-8", newline="") as file:
        for batch in batches:
            text = _plain_text(batch) if empty_is_missing else "".join(map(_quoted_line, batch))
            if len(text) > SHORT:
                longest = max(longest, _longest(batch, n_rows, name))
            file.write(text)
            n_rows += len(batch)
    if not n_rows:
        raise TableError(f"{name} has no rows")
    return StagedCells(path, n_columns, n_rows, longest, empty_is_missing)


def _plain_text(batch: list[Record]) -> str:
    text = _written(batch, csv.QUOTE_MINIMAL)
    # Python's writer leaves a lone carriage return unquoted, and it ends a line.
    return _written(batch, csv.QUOTE_ALL) if "\r" in text else text


def _written(batch: list[Record], quoting: Literal[0, 1]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n", quoting=quoting).writerows(batch)
    return buffer.getvalue()


def _quoted_line(record: Record) -> str:
    return ",".join(map(_quoted, record)) + "\n"


def _quoted(cell: str | None) -> str:
    return "" if cell is None else '"' + cell.replace('"', '""') + '"'


def _longest(batch: list[Record], n_before: int, name: str) -> int:
    """Return a bound on the bytes of a record: a character takes four, a quote is doubled."""
    lengths = [sum(len(cell or "") for cell in record) for record in batch]
    longest = max(lengths)
    if longest > MAX_RECORD:
        row = n_before + lengths.index(longest) + 1
        raise TableError(f"{name}: row {row} is longer than {MAX_RECORD:,} characters")
    return 4 * longest + 3 * len(batch[0]) + 1


def sql_text(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def sql_name(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
