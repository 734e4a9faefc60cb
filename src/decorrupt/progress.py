"""Progress bars for people, silence for pipes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def track(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    """Yield `items`, with a bar on stderr if that is a terminal and rich is installed."""
    if not sys.stderr.isatty():
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
