"""The types of a CSV's columns, found by DuckDB in all cells: numbers, booleans, or else text."""

# ruff: noqa: S608 — names in queries are our own or quoted by sql_text

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from decorrupt.app.tables.engine import sql_text
from decorrupt.app.tables.relation import Column

if TYPE_CHECKING:
    import duckdb

# In a column that holds nothing else but numbers (or true and false) these are missing values.
# In a column of text they are text: NA is Namibia too.
MISSING_MARKS = ("na", "n/a", "nan", "null", "none", "?")
MAX_DIGITS = 18  # what 64 bits hold, a sign left over
MAX_DIGITS_WITH_MISSING = 15  # the column becomes floats, exact up to 2⁵³
SPACES = r" \t\n\v\f\r"


def _words(*words: str) -> str:
    """Return a pattern of words in any case; a flag would match other alphabets in DuckDB."""
    letters = (
        "".join(
            f"[{letter}{letter.upper()}]" if letter.isalpha() else re.escape(letter)
            for letter in word
        )
        for word in words
    )
    return "|".join(letters)


# Read by Python and by DuckDB. The most frequent come first, for speed.
PATTERNS = {
    kind: f"[{SPACES}]*(?:{pattern})[{SPACES}]*"
    for kind, pattern in {
        "integer": r"[+-]?(?:0|[1-9][0-9]*)",
        "point": r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?",
        "padded": r"[+-]?0[0-9]+",
        "unmarked": rf"[+-]?(?:[0-9]+[eE][+-]?[0-9]+|{_words('inf', 'infinity')})",
        "grouped": r"[+-]?[1-9][0-9]{0,2},[0-9]{3}",  # 1,234: a decimal comma, or thousands
        "comma": r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?",
        "boolean": _words("true", "false"),
        "mark": _words(*MISSING_MARKS),
        "empty": "",
    }.items()
}
KINDS = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in PATTERNS.items()))
# The kinds of cells that are numbers, by decimal mark.
NUMBERS = {
    ".": {"integer", "unmarked", "point"},
    ",": {"integer", "unmarked", "comma", "grouped"},
}
NO_VALUE = {"mark", "empty"}


def cell_kind(cell: str) -> str:
    """Return the key of `PATTERNS` that a cell belongs to, or "text"."""
    kind = KINDS.fullmatch(cell)
    return "text" if kind is None else str(kind.lastgroup)


@dataclass
class TextColumn:
    """The kinds of cells in one column of text."""

    kinds: set[str] = field(default_factory=set)
    longest: int = 0  # characters of a whole number
    has_empty: bool = False

    def sql_type(self, decimal: str) -> str:
        """Return the narrowest type that loses nothing of any cell.

        Whole numbers that begin with 0 (007) or have too many digits are names of something, which
        as numbers could be confused with others: text.
        """
        kinds = self.kinds - NO_VALUE
        if not kinds:
            return "DOUBLE"
        if kinds == {"boolean"}:
            return "BOOLEAN"
        if not kinds <= NUMBERS[decimal]:
            return "VARCHAR"
        if kinds != {"integer"}:
            return "DOUBLE"
        is_complete = not self.has_empty and kinds == self.kinds
        if self.longest > (MAX_DIGITS if is_complete else MAX_DIGITS_WITH_MISSING):
            return "VARCHAR"
        return "BIGINT" if is_complete else "DOUBLE"

    def column(self, name: str, cell: str, decimal: str) -> Column:
        """Return the column of values that are cast from cells, given the SQL of a cell."""
        sql_type = self.sql_type(decimal)
        if sql_type == "VARCHAR":
            return Column(name, cell, sql_type, self.has_empty)
        has_marks = bool(self.kinds & NO_VALUE)
        if has_marks:
            cell = f"CASE WHEN NOT {_matches(cell, *sorted(NO_VALUE))} THEN {cell} END"
        if decimal == ",":
            cell = f"replace({cell}, ',', '.')"
        return Column(name, f"CAST({cell} AS {sql_type})", sql_type, self.has_empty or has_marks)


def _matches(cell: str, *kinds: str) -> str:
    pattern = "|".join(PATTERNS[kind] for kind in kinds)
    return f"regexp_full_match({cell}, {sql_text(pattern)})"


def observe_columns(
    connection: duckdb.DuckDBPyConnection, n_columns: int
) -> tuple[int, list[TextColumn]]:
    """Return the number of rows of the relation `cells` and what is in its columns."""
    columns = [TextColumn() for _ in range(n_columns)]
    kinds = "".join(f" WHEN {_matches('cell', kind)} THEN '{kind}'" for kind in PATTERNS)
    cells = ", ".join(f"c{k}" for k in range(n_columns))
    # One long column of cells: a query with ten patterns for each column takes long to plan.
    found = connection.execute(
        f"SELECT k, CASE WHEN cell IS NULL THEN 'missing'{kinds} ELSE 'text' END AS kind, "
        f"count(*), max(length(trim(cell, ' \t\n\v\f\r'))) FROM "
        f"(SELECT unnest([{cells}]) AS cell, unnest(range({n_columns})) AS k FROM cells) "
        "GROUP BY k, kind"
    ).fetchall()
    for k, kind, _, longest in found:
        if kind == "missing":
            columns[k].has_empty = True
        else:
            columns[k].kinds.add(kind)
        if kind == "integer":
            columns[k].longest = longest
    return sum(count for k, _, count, _ in found if k == 0), columns


def find_decimal(columns: Iterable[TextColumn], delimiter: str) -> str:
    """Return the decimal mark of a table: the comma only where nothing speaks against it.

    The delimiter is not a comma, no column of numbers has a decimal point, and in some column of
    numbers a comma cannot separate thousands.
    """
    numeric = [kinds for kinds in (column.kinds - NO_VALUE for column in columns) if kinds]
    has_point = any("point" in kinds and kinds <= NUMBERS["."] for kinds in numeric)
    has_comma = any("comma" in kinds and kinds <= NUMBERS[","] for kinds in numeric)
    return "," if delimiter != "," and has_comma and not has_point else "."
