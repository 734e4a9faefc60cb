"""Type inference for CSV columns from all cells: numbers, booleans, or else text."""

# ruff: noqa: S608 — names in queries are our own or quoted by sql_text

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from decorrupt.app.tables.engine import sql_text
from decorrupt.app.tables.relation import Column

if TYPE_CHECKING:
    import duckdb

CURRENCY, BLANK = "[$€£¥]", "[ \u00a0\u202f]?"


def _marked() -> dict[str, str]:
    """Return patterns of money, per cent and thousands with a decimal point or separators."""
    first, more = "[1-9][0-9]{0,2}", "(?:,[0-9]{3})"
    # € 1.234 is not an amount of money: its point may separate thousands.
    amount = rf"(?:{first}{more}+(?:\.[0-9]+)?|[0-9]*\.(?:[0-9]{{1,2}}|[0-9]{{4,}}))"
    return {
        "money_point": _with_currency(amount),
        "percent_point": rf"[+-]?[0-9]*\.[0-9]+{BLANK}%",
        "thousands": rf"[+-]?{first}(?:{more}+\.[0-9]+|{more}{{2,}})",
    }


def _with_currency(amount: str) -> str:
    before = f"(?:[+-]?{CURRENCY}{BLANK}|{CURRENCY}{BLANK}[+-])"
    return f"{before}{amount}|[+-]?{amount}{BLANK}{CURRENCY}"


# Kinds of cells, for Python and for DuckDB; the most frequent come first, for speed.
PATTERNS = {
    kind: rf"[ \t\n\v\f\r]*(?i:{pattern})[ \t\n\v\f\r]*"
    for kind, pattern in {
        "integer": r"[+-]?(?:0|[1-9][0-9]{0,14})",  # exact as a float too
        "point": r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?",
        "long": r"[+-]?[1-9][0-9]{15,17}",  # whole numbers of up to 64 bits
        "code": r"[+-]?(?:0[0-9]+|[1-9][0-9]{18,})",  # 007: as numbers, two codes could be equal
        "unmarked": r"[+-]?(?:[0-9]+e[+-]?[0-9]+|inf|infinity)",
        "grouped": r"[+-]?[1-9][0-9]{0,2},[0-9]{3}",  # 1,234: thousands, or a decimal comma
        "boolean": r"true|false",
        # Missing values in a column of numbers or booleans only. NA is Namibia too.
        "mark": r"na|n/a|nan|null|none|\?",
        "empty": r"",
        "money": _with_currency("[0-9]+"),
        "percent": f"[+-]?[0-9]+{BLANK}%",
        **_marked(),
    }.items()
}
KINDS = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in PATTERNS.items()))
WHOLE = {"integer", "long"}
# The kinds of cells that are numbers.
NUMBERS = WHOLE | {"unmarked", "point"}
MONEY = {"money", "money_point", "thousands"}
PERCENT = {"percent", "percent_point"}
NO_VALUE = {"mark", "empty", "missing"}


def cell_kind(cell: str) -> str:
    """Return the key of `PATTERNS` that a cell belongs to, or "text"."""
    kind = KINDS.fullmatch(cell)
    return "text" if kind is None else str(kind.lastgroup)


def count_kinds(connection: duckdb.DuckDBPyConnection, n_columns: int) -> list[dict[str, int]]:
    """Return how many cells of each kind are in each column of the relation `cells`.

    A kind is a key of `PATTERNS`, "missing", or "text".
    """
    tests = [(kind, _is_kind("cell", kind)) for kind in PATTERNS]
    # For speed: most texts have no sign and at most one mark, and need none of the patterns after.
    no_sign = f"NOT regexp_matches(cell, '{CURRENCY}|%|[.,].*[.,]')"
    tests.insert(list(PATTERNS).index("money"), ("text", no_sign))
    kinds = "".join(f" WHEN {test} THEN '{kind}'" for kind, test in tests)
    cells = ", ".join(f"c{k}" for k in range(n_columns))
    # All cells in one column: planning ten patterns for each of many columns would take long.
    found = connection.execute(
        f"SELECT k, CASE WHEN cell IS NULL THEN 'missing'{kinds} ELSE 'text' END AS kind, count(*) "
        f"FROM (SELECT unnest([{cells}]) AS cell, unnest(range({n_columns})) AS k FROM cells) "
        "GROUP BY k, kind"
    ).fetchall()
    counts: list[dict[str, int]] = [{} for _ in range(n_columns)]
    for k, kind, count in found:
        counts[k][kind] = count
    return counts


def _is_kind(cell: str, kind: str) -> str:
    return f"regexp_full_match({cell}, {sql_text(PATTERNS[kind])})"


def number_form(kinds: Collection[str]) -> str:
    """Return "plain", "percent" or "money" if cells of these kinds are numbers, else ""."""
    values = set(kinds) - NO_VALUE
    if values <= NUMBERS:
        return "plain"
    if values <= PERCENT:
        return "percent"
    others = (NUMBERS | {"grouped"}) - {"unmarked"}
    return "money" if values & MONEY and values <= MONEY | others else ""


def typed_column(name: str, cell: str, kinds: Collection[str]) -> Column:
    """Return the column of values cast from cells, given the SQL of a cell and the kinds."""
    sql_type, form = find_type(kinds), number_form(kinds)
    if sql_type == "VARCHAR":
        return Column(name, cell, sql_type, "missing" in kinds)
    value = cell if form == "plain" else f"regexp_replace({cell}, '[^-+0-9e.]', '', 'gi')"
    value = f"CAST({value} AS {sql_type})" + " / 100" * (form == "percent")
    if sql_type == "BOOLEAN":
        value = f"lower({cell}) LIKE '%true%'"  # a cast would refuse spaces
    for kind in ("mark", "empty"):
        if kind in kinds:
            value = f"CASE WHEN NOT {_is_kind(cell, kind)} THEN {value} END"
    return Column(name, value, sql_type, bool(NO_VALUE.intersection(kinds)))


def forms_in_words(names: Sequence[str], forms: Sequence[str]) -> list[str]:
    """Return a note on each form of numbers that is not plain, naming its columns."""
    said = {
        "money": "money is read as numbers",
        "percent": "per cent is read as shares, 15% as 0.15",
    }
    return [
        f"{words}: {', '.join(columns)}"
        for form, words in said.items()
        if (columns := [repr(n) for n, own in zip(names, forms, strict=True) if own == form])
    ]


def find_type(kinds: Collection[str]) -> str:
    """Return the narrowest SQL type that keeps every cell exactly, given their kinds."""
    values = set(kinds) - NO_VALUE
    if values == {"boolean"}:
        return "BOOLEAN"
    if not number_form(kinds):
        return "VARCHAR"
    if not values or not values <= WHOLE:
        return "DOUBLE"
    if values == set(kinds):
        return "BIGINT"
    return "VARCHAR" if "long" in values else "DOUBLE"  # floats are exact up to 2⁵³
