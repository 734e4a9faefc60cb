"""Formats of a report by the ending of its file's name."""

from __future__ import annotations

from pathlib import Path

ENDINGS = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
}


def format_of(path: str | Path) -> str:
    """Return the format that a file's ending stands for.

    Raises
    ------
    ValueError
        If it stands for none; the message names those that do.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path}: a report's name must end in one of {', '.join(ENDINGS)}")
    return ENDINGS[ending]
