"""Packages of extras, imported when needed; the message for a missing one names its extra."""

from __future__ import annotations

from typing import Any


def import_pandas(needed_by: str) -> Any:
    """Return pandas; `needed_by` begins the message of the ImportError if it is missing."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(f"{needed_by} needs pandas: pip install 'decorrupt[cli]'") from None
    return pd


def import_pyplot(needed_by: str) -> Any:
    """Return matplotlib.pyplot; `needed_by` begins the message of the ImportError."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            f"{needed_by} needs matplotlib: pip install 'decorrupt[report]'"
        ) from None
    return plt
