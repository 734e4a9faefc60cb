"""Progress of long computations: a bar on a terminal, otherwise the logger "decorrupt".

A computation has phases, and a phase has steps. All phases inside one `progress` block share a bar
and an estimate of the remaining time. A phase inside a step of another phase is not counted, and
logs a line only after a long silence.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")

logger = logging.getLogger("decorrupt")
# A phase of at most so many steps logs each of them; others log the last one.
FEW_STEPS = 20
# After so many seconds without a line, the next step is logged in any case.
LONGEST_SILENCE = 5.0

_silenced = False
_current: Progress | None = None


class Progress:
    """The finished and expected steps of one computation."""

    def __init__(self, bar: Any = None) -> None:
        self._done = self._left = self._later = 0
        self._in_phase = False
        self._began = self._last_line = time.perf_counter()
        self._bar = bar
        self._task = None if bar is None else bar.add_task("", total=None)

    def phase(self, items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
        """Yield `items`, `total` in number, and report after each."""
        is_counted, self._in_phase = not self._in_phase, True
        if is_counted:
            self._left = total
            self._show(description)
        try:
            for finished, item in enumerate(items, 1):
                yield item
                if is_counted:
                    self._done, self._left = self._done + 1, max(total - finished, 0)
                    self._show(description)
                if self._is_due(is_counted, finished, total):
                    self._log(f"{description}: {finished} of {total}", is_counted)
        finally:
            if is_counted:
                self._left, self._in_phase = 0, False

    @contextmanager
    def expecting(self, n_steps: int) -> Iterator[None]:
        """Include steps of phases after the block in the estimates inside it."""
        own = 0 if self._in_phase else n_steps
        self._later += own
        try:
            yield
        finally:
            self._later -= own

    def _is_due(self, is_counted: bool, finished: int, total: int) -> bool:
        if time.perf_counter() - self._last_line >= LONGEST_SILENCE:
            return True
        return is_counted and (total <= FEW_STEPS or finished == total)

    def _log(self, message: str, is_counted: bool) -> None:
        self._last_line = time.perf_counter()
        seconds, expected = self._last_line - self._began, self._left + self._later
        message += f" in {seconds:.0f} s"
        if expected and is_counted:  # inside a step its share of the time is not known
            message += f", about {seconds / self._done * expected:.0f} s left"
        log_step(message)

    def _show(self, description: str) -> None:
        if self._bar is not None:
            total = self._done + self._left + self._later
            self._bar.update(self._task, description=description, completed=self._done, total=total)


@contextmanager
def progress() -> Iterator[Progress]:
    """Collect the phases of the block in one bar, or in that of the block around it.

    If the logger "decorrupt" has level INFO, it gets lines. Otherwise there is a bar on stderr, if
    that is a terminal and rich is installed.
    """
    global _current
    if _current is not None:
        yield _current
        return
    with _make_bar() as bar:
        _current = Progress(bar)
        try:
            yield _current
        finally:
            _current = None


def track(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    """Yield `items`; after each, show how many of `total` are finished and the remaining time."""
    with progress() as current:
        yield from current.phase(items, description, total)


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


@contextmanager
def _make_bar() -> Iterator[Any]:
    """Open a bar with description, percentage and remaining time; None where there is none."""
    if _silenced or logger.isEnabledFor(logging.INFO) or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress as Bar
    except ImportError:
        yield None
        return
    with Bar(console=Console(stderr=True), transient=True) as bar:
        yield bar
