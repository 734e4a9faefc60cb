"""The public names, and where each of them is defined."""

from .document import (
    Block,
    Cell,
    Definitions,
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
from .numbers import (
    count,
    duration,
    number,
    p_value,
    signed,
    value_cell,
)

__all__ = [
    "COLOURS",
    "FOREGROUND",
    "Block",
    "Cell",
    "Definitions",
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
    "p_value",
    "signed",
    "to_html",
    "to_markdown",
    "value_cell",
]
