"""Progress bars for people, silence for pipes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

_silenced = False


@contextmanager
def silence() -> Iterator[None]:
    """Show no bars inside, whatever stderr is."""
    global _silenced
    before, _silenced = _silenced, True
    try:
        yield
    finally:
        _silenced = before


def track(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    """Yield `items`, with a bar on stderr if that is a terminal and rich is installed."""
    if _silenced or not sys.stderr.isatty():
        yield from items
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield from items
        return
    with Progress(console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items, total=total, description=description)
