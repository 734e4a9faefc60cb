"""The types of a CSV's columns, judged by all of their cells: numbers, booleans, or else text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from decorrupt.app.tables.staging import Record

# In a column that holds nothing else but numbers (or true and false) these are missing values.
# In a column of text they are text: NA is Namibia too.
MISSING_MARKS = ("na", "n/a", "nan", "null", "none", "?")
MAX_DIGITS = 18  # what 64 bits hold, a sign left over
MAX_DIGITS_WITH_MISSING = 15  # the column becomes floats, exact up to 2⁵³
KINDS = re.compile(
    r"\s*(?:"
    r"(?P<integer>[+-]?(?:0|[1-9]\d*))"
    r"|(?P<padded>[+-]?0\d+)"
    r"|(?P<unmarked>[+-]?(?:\d+e[+-]?\d+|inf|infinity))"
    r"|(?P<point>[+-]?(?:\d+\.\d*|\.\d+)(?:e[+-]?\d+)?)"
    r"|(?P<grouped>[+-]?[1-9]\d{0,2},\d{3})"  # 1,234: a decimal comma, or thousands
    r"|(?P<comma>[+-]?\d*,\d+(?:e[+-]?\d+)?)"
    r"|(?P<boolean>true|false)"
    rf"|(?P<mark>{'|'.join(map(re.escape, MISSING_MARKS))})"
    r"|(?P<empty>)"
    r")\s*",
    re.ASCII | re.IGNORECASE,
)
# The kinds of cells that are numbers, by decimal mark.
NUMBERS = {
    ".": {"integer", "unmarked", "point"},
    ",": {"integer", "unmarked", "comma", "grouped"},
}
NO_VALUE = {"mark", "empty"}


# Most columns of numbers, told from all others without a look at every cell by itself.
PLAIN_NUMBERS = re.compile(r"(?:[+-]?(?:0|[1-9]\d*+)(?:\.\d*+)?(?:[eE][+-]?\d++)?\n)++", re.ASCII)


def cell_kind(cell: str) -> str:
    """Return the group of `KINDS` that a cell belongs to, or "text"."""
    kind = KINDS.fullmatch(cell)
    return "text" if kind is None else str(kind.lastgroup)


@dataclass
class TextColumn:
    """What was seen in one column of cells of text, and the decimal mark of its numbers."""

    decimal: str = "."
    kinds: set[str] = field(default_factory=set)
    longest: int = 0
    has_empty: bool = False

    def take(self, cells: Iterable[str]) -> None:
        """Take note of cells."""
        different = set(cells)
        if "" in different:
            self.has_empty = True
            different.remove("")
        if "text" in self.kinds or not different:
            return
        text = "\n".join(different) + "\n"
        if PLAIN_NUMBERS.fullmatch(text):
            is_whole = not ("." in text or "e" in text or "E" in text)
            self.kinds.add("integer" if is_whole else "point" if "." in text else "unmarked")
            self.longest = max(self.longest, *map(len, different)) if is_whole else self.longest
        else:
            for cell in different:
                self._take_one(cell)

    def _take_one(self, cell: str) -> None:
        name = cell_kind(cell)
        self.kinds.add(name)
        if name == "integer":
            self.longest = max(self.longest, len(cell.strip()))

    @property
    def has_missing(self) -> bool:
        """Whether some cells stand for nothing."""
        marks = self.sql_type != "VARCHAR" and self.kinds & NO_VALUE
        return self.has_empty or bool(marks)

    @property
    def sql_type(self) -> str:
        """The narrowest type that loses nothing of any cell.

        Whole numbers that begin with 0 (007) or have too many digits are names of something, which
        as numbers could be confused with others: text.
        """
        kinds = self.kinds - NO_VALUE
        if not kinds:
            return "DOUBLE"
        if kinds == {"boolean"}:
            return "BOOLEAN"
        if not kinds <= NUMBERS[self.decimal]:
            return "VARCHAR"
        if kinds != {"integer"}:
            return "DOUBLE"
        is_complete = not self.has_empty and kinds == self.kinds
        if self.longest > (MAX_DIGITS if is_complete else MAX_DIGITS_WITH_MISSING):
            return "VARCHAR"
        return "BIGINT" if is_complete else "DOUBLE"

    def expression(self, cell: str) -> str:
        """Return the SQL that makes a value of this column's type of a cell."""
        if self.sql_type == "VARCHAR":
            return cell
        if self.kinds & NO_VALUE:
            marks = ", ".join(f"'{mark}'" for mark in ("", *MISSING_MARKS))
            plain = f"lower(trim({cell}, ' \t\n\v\f\r'))"
            cell = f"CASE WHEN {plain} NOT IN ({marks}) THEN {cell} END"
        if self.decimal == ",":
            cell = f"replace({cell}, ',', '.')"
        return f"CAST({cell} AS {self.sql_type})"


def find_decimal(columns: Iterable[TextColumn], delimiter: str) -> str:
    """Return the decimal mark of a table: the comma only where nothing speaks against it.

    The delimiter is not a comma, no column of numbers has a decimal point, and in some column of
    numbers a comma cannot separate thousands.
    """
    numeric = [kinds for kinds in (column.kinds - NO_VALUE for column in columns) if kinds]
    has_point = any("point" in kinds and kinds <= NUMBERS["."] for kinds in numeric)
    has_comma = any("comma" in kinds and kinds <= NUMBERS[","] for kinds in numeric)
    return "," if delimiter != "," and has_comma and not has_point else "."


def observed(
    batches: Iterable[list[Record]], columns: Sequence[TextColumn]
) -> Iterator[list[Record]]:
    """Yield batches of records as they are, while `columns` take note of their cells."""
    for batch in batches:
        for column, cells in zip(columns, zip(*batch, strict=True), strict=True):
            column.take(cells)
        yield batch
