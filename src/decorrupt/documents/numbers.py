"""How pages write numbers."""

from __future__ import annotations

from typing import Any


def number(value: float | None, decimals: int = 3) -> str:
    """Return a value to so many decimals, a dash if there is none."""
    return "—" if value is None else f"{value:.{decimals}f}".replace("-", "−")


def signed(value: float, decimals: int = 3) -> str:
    """Return a difference with its sign."""
    return f"{value:+.{decimals}f}".replace("-", "−")


def p_value(value: float | None) -> str:
    """Return a p-value to three decimals."""
    if value is None:
        return "—"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def count(n: int, thing: str) -> str:
    """Return a number with its noun, in the plural unless it is one."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return seconds as a reader would say them."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def figure_cell(value: float, decimals: int = 3) -> dict[str, Any]:
    """Return a number as a table's cell, to be sorted by its full value."""
    return {"text": number(value, decimals), "sort": f"{value:.6f}"}
