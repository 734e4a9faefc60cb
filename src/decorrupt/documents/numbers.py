"""Number formats of the pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def number(value: float | None, decimals: int = 3) -> str:
    """Return a value rounded to `decimals`, or a dash for None."""
    return "—" if value is None else f"{value:.{decimals}f}".replace("-", "−")


def signed(value: float, decimals: int = 3) -> str:
    """Return a difference with its sign."""
    return f"{value:+.{decimals}f}".replace("-", "−")


def p_value(value: float) -> str:
    """Return a p-value rounded to three decimals."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def count(n: int, thing: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def value_cell(
    value: float | None, write: Callable[[float], str] = number
) -> dict[str, Any] | None:
    """Return a table cell that shows `write(value)` and is sorted by the value; None for None."""
    return None if value is None else {"text": write(value), "sort": f"{value:.9f}"}
