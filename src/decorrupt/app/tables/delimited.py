"""Reading CSV with any delimiter: detection of the delimiter, the header, checked records."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from decorrupt.app.tables.inference import cell_kind
from decorrupt.app.tables.names import TableError
from decorrupt.app.tables.text import TextLines, open_lines

DELIMITERS = (",", ";", "\t", "|", ":", "^", "~", " ")  # the first of equally good ones is used
SAMPLE_LINES = 200
SAMPLE_CHARACTERS = 1_000_000
LEAST_AGREEMENT = 0.5  # below this, the character is in the header by chance
MAX_FIELD = 10_000_000  # characters; a longer one is probably a quote that is not closed
CSV_REASONS = {
    "unexpected end of data": "a quoted field is not closed before the end of the file",
    "field larger": f"a field of more than {MAX_FIELD:,} characters (is a quote not closed?)",
    "expected after": "text after the closing quote of a field (a quote inside is written twice)",
}


class DelimitedFile:
    """The header and the records of a delimited file, every cell as text.

    Python's reader checks each record, because DuckDB's strict mode drops an extra empty field,
    accepts NUL characters, and reports record numbers as line numbers.

    Attributes
    ----------
    delimiter : str
    header : list of str
    records : iterator of list of str
    longest : int
        Characters of the longest record that was read, delimiters and quotes included.
    is_packed : bool
        Whether the file is compressed.
    """

    def __init__(self, lines: TextLines, delimiter: str, name: str) -> None:
        self._lines, self.delimiter, self._name = lines, delimiter, name
        self.is_packed = lines.is_packed
        self.longest, self._n_characters, self._has_spaces = 0, 0, False
        self._reader = csv.reader(self._noted(), delimiter=delimiter, strict=True)
        self.records = self._checked()
        self.header = [cell.strip() for cell in next(self.records)]
        self._is_header_first = self._reader.line_num == 1
        _check_header(self.header, name)

    def _noted(self) -> Iterator[str]:
        delimiter = re.escape(self.delimiter)
        edge = re.compile(f'(^|{delimiter}) +"|" +({delimiter}|$)')
        for line in self._lines:
            self._n_characters += len(line)
            if '"' in line and edge.search(line):
                self._has_spaces = True
            yield line

    def reopened(self) -> DelimitedFile:
        """Return the same file at its first record."""
        return DelimitedFile(self._lines, self.delimiter, self._name)

    @property
    def is_regular(self) -> bool:
        """Whether DuckDB would read the same cells from the lines that were read.

        It removes spaces between a quote and a delimiter, and refuses mixed line endings.
        """
        return self._is_header_first and self._lines.is_uniform and not self._has_spaces

    def _checked(self) -> Iterator[list[str]]:
        width, line, start = 0, 1, 0
        try:
            for record in self._reader:
                if not record and width == 1:
                    record = [""]  # with one column, an empty line is an empty cell
                width = width or len(record)
                if record and len(record) != width:
                    raise TableError(
                        f"{self._name}, line {line}: {len(record)} fields where the header has "
                        f"{width} (delimiter {self.delimiter!r})"
                    )
                line = self._reader.line_num + 1
                start, length = self._n_characters, self._n_characters - start
                if length > self.longest:
                    self.longest = length
                if record:
                    yield record
        except csv.Error as error:
            reasons = (text for key, text in CSV_REASONS.items() if key in str(error))
            reason = next(reasons, str(error))
            raise TableError(f"{self._name}, line {line}: {reason}") from None
        if not width:
            raise TableError(f"{self._name} is empty: expected a header line and rows")


@contextmanager
def open_delimited(path: Path, name: str) -> Iterator[DelimitedFile]:
    """Open a delimited file.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        The file's name in error messages.

    Raises
    ------
    TableError
        If it is empty, a record has more or fewer fields than the header, a quote is not closed,
        a field is too long, or the first line looks like a row of data; the message names the line.
    """
    with open_lines(path, name) as lines, _long_fields():
        delimiter = find_delimiter(list(_sample(lines)), "\t" if ".tsv" in path.suffixes else ",")
        yield DelimitedFile(lines, delimiter, name)


def _sample(lines: Iterable[str]) -> Iterator[str]:
    length = 0
    for line in itertools.islice(lines, SAMPLE_LINES):
        yield line
        length += len(line)
        if length > SAMPLE_CHARACTERS:
            return


def find_delimiter(lines: Sequence[str], default: str = ",") -> str:
    """Return the delimiter with which most records have as many fields as the first, and ≥ 2.

    Parameters
    ----------
    lines : sequence of str
        The first lines of the file.
    default : str
        Returned if no delimiter splits the header: the file has one column.
    """
    candidates = [default, *(delimiter for delimiter in DELIMITERS if delimiter != default)]
    agreement = {delimiter: _agreement(lines, delimiter) for delimiter in candidates}
    # Names and texts contain spaces too: a space is the delimiter only if all lines agree.
    agreement[" "] = float(agreement[" "] == 1.0)
    best = max(candidates, key=lambda delimiter: agreement[delimiter])
    return best if agreement[best] >= LEAST_AGREEMENT else default


def _agreement(lines: Sequence[str], delimiter: str) -> float:
    try:
        widths = [len(record) for record in csv.reader(lines, delimiter=delimiter) if record]
    except csv.Error:
        return 0.0
    if not widths or widths[0] < 2:
        return 0.0
    return sum(width == widths[0] for width in widths) / len(widths)


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(MAX_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _check_header(header: list[str], name: str) -> None:
    number = next((cell for cell in header if cell_kind(cell) == "point"), None)
    if number is not None:
        raise TableError(
            f"{name}, line 1: the number {number} is not a column name: the header line is missing"
        )
