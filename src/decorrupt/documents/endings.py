"""Report formats by file name extension."""

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
    """Return the format for the extension of a file name.

    Raises
    ------
    ValueError
        If the extension is unknown; the message lists the known ones.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path}: a report's name must end in one of {', '.join(ENDINGS)}")
    return ENDINGS[ending]
