"""Packages of extras, imported when needed; the message for a missing one names its extra."""

from __future__ import annotations

from typing import Any


def import_pyplot(needed_by: str) -> Any:
    """Return matplotlib.pyplot; `needed_by` begins the message of the ImportError."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        cure = "pip install 'decorrupt[report]'"
        raise ImportError(f"{needed_by} needs matplotlib: {cure}") from None
    return plt
