"""Progress of long computations: a bar on a terminal, otherwise the logger "decorrupt"."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")

logger = logging.getLogger("decorrupt")
_silenced = False


@contextmanager
def silence() -> Iterator[None]:
    """Show no bars and log no lines inside the block."""
    global _silenced
    before, _silenced = _silenced, True
    try:
        yield
    finally:
        _silenced = before


def log_step(message: str) -> None:
    """Log one line about a finished step."""
    if not _silenced:
        logger.info(message)


def track(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    """Yield `items`; after each, show how many of `total` are finished and the remaining time.

    If the logger "decorrupt" has level INFO, it gets one line per item. Otherwise there is a bar on
    stderr, if that is a terminal and rich is installed.
    """
    if _silenced:
        yield from items
    elif logger.isEnabledFor(logging.INFO) or not sys.stderr.isatty():
        yield from _logged(items, description, total)
    else:
        yield from _with_bar(items, description, total)


def _logged(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    start = time.perf_counter()
    for done, item in enumerate(items, 1):
        yield item
        seconds = time.perf_counter() - start
        left = seconds / done * (total - done)
        log_step(f"{description}: {done} of {total} in {seconds:.0f} s, about {left:.0f} s left")


def _with_bar(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield from items
        return
    # Shows the description, the bar, the percentage and the remaining time.
    with Progress(console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items, total=total, description=description)
