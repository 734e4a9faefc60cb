"""The public names, and where each of them is defined."""

from .document import (
    Block,
    Cell,
    Command,
    Document,
    Facts,
    Figure,
    Panels,
    Section,
    Table,
    Text,
    to_html,
    to_markdown,
)
from .figures import (
    COLOURS,
    FOREGROUND,
    draw,
)
from .formats import (
    count,
    duration,
    number,
    one_line,
    p_value,
    printable,
    printable_json,
    signed,
    value_cell,
)
from .text import (
    to_text,
)

__all__ = [
    "COLOURS",
    "FOREGROUND",
    "Block",
    "Cell",
    "Command",
    "Document",
    "Facts",
    "Figure",
    "Panels",
    "Section",
    "Table",
    "Text",
    "count",
    "draw",
    "duration",
    "number",
    "one_line",
    "p_value",
    "printable",
    "printable_json",
    "signed",
    "to_html",
    "to_markdown",
    "to_text",
    "value_cell",
]
