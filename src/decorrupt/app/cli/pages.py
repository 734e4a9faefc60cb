"""Writing pages: checked before the work starts; a failure does not lose the work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from decorrupt.app.cli.conventions import print_error_line
from decorrupt.app.cli.options import write_page

PAGE_ENDINGS = (".html", ".htm")


def can_make_pages() -> bool:
    """Whether the libraries that render pages are installed."""
    try:
        from decorrupt.documents import draw, to_html  # noqa: F401 — need jinja2 and matplotlib
    except ImportError:
        return False
    return True


def check_pages(path: str | None) -> None:
    """Raise an error, before the work starts, if a page is wanted and cannot be made."""
    if path is not None and Path(path).suffix.lower() not in PAGE_ENDINGS:
        raise typer.BadParameter(
            f"--report {path!r}: a page is HTML, its name must end in {PAGE_ENDINGS[0]}"
        )
    if path is not None and not can_make_pages():
        raise ValueError(f"{path} cannot be made: pages need pip install 'decorrupt[cli]'")


def make_page(render: Callable[[], str], path: str, *, force: bool) -> bool:
    """Write the page that `render` returns; return whether that worked.

    The work that the page shows is done by then, so any failure is only a warning. It is printed
    even with --quiet, because the exit code will be that of a failure.
    """
    try:
        write_page(render(), path, force=force)
    except Exception as error:
        print_error_line(
            "warning", f"the page {path} could not be made: {type(error).__name__}: {error}"
        )
        return False
    return True
