"""The order of examples in a section of the gallery: as ``docs/examples.rst`` lists them."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parent.parent / "examples.rst"


def position(path: str) -> int:
    """Return where the page names the example; those that it does not name come last."""
    place = PAGE.read_text().find(Path(path).name)
    return place if place >= 0 else len(PAGE.read_text())
