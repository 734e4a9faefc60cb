"""Numbers as text, and text that is safe for a terminal.

Column names, class names and the metadata of a model file may contain control characters, with
which a terminal can be made to hide or change what it shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

# C0 without tab and line feed, DEL, C1, and characters that change the direction of text.
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


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


def printable(text: str) -> str:
    r"""Return a text with its control characters as escapes, such as ``\x1b``.

    Examples
    --------
    >>> print(printable("red\x1b[2J"))
    red\x1b[2J
    """
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(text: str) -> str:
    """Return a printable text on one line."""
    return printable(re.sub("[ \t\n]+", " ", text.strip()))


def printable_json(text: str) -> str:
    r"""Return JSON with control characters as ``\u009b``; in JSON they are only in strings."""
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Printable:
    """A part of a rich text whose control characters are shown as escapes.

    Colours are not part of the text, so they remain.
    """

    def __init__(self, part: RenderableType) -> None:
        self.part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the segments of the part."""
        from rich.segment import Segment

        for text, style, control in console.render(self.part, options):
            yield Segment(printable(text), style, control)
