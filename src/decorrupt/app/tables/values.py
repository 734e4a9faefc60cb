"""Type inference for columns of Python values (JSON, SQLite)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

EXACT_IN_DOUBLE = 2**53
INT64 = 2**63


def integer_type(low: int, high: int, missing: bool) -> str:
    """Return the SQL type that keeps integers in [low, high] exactly; text if there is none.

    A column with missing values becomes floats, which are exact up to 2⁵³ only. Longer numbers are
    often codes such as account numbers, and two different ones must not become equal.
    """
    largest = max(abs(low), abs(high))
    if missing:
        return "DOUBLE" if largest <= EXACT_IN_DOUBLE else "VARCHAR"
    return "BIGINT" if low >= -INT64 and high < INT64 else "VARCHAR"


@dataclass
class ValueColumn:
    """The kinds of values found so far in one column."""

    kinds: set[type] = field(default_factory=set)
    low: int = 0
    high: int = 0
    missing: bool = False

    def text(self, value: Any) -> str | None:
        """Record the kind of a value and return it as text; None if it is missing."""
        kind = type(value)
        if value is None or value != value:
            self.missing = True
            return None
        self.kinds.add(kind)
        if kind is int:
            self.low, self.high = min(self.low, value), max(self.high, value)
            return str(value)
        if kind is float:
            return repr(value)
        return value if kind is str else json.dumps(value, ensure_ascii=False)

    @property
    def sql_type(self) -> str:
        """The type of the column: VARCHAR if values of several kinds are mixed."""
        if not self.kinds:
            return "DOUBLE"
        if self.kinds == {bool}:
            return "BOOLEAN"
        if self.kinds == {int}:
            return integer_type(self.low, self.high, self.missing)
        return "DOUBLE" if self.kinds <= {int, float} else "VARCHAR"
