"""Making pages: a check before the work starts, and a failure that loses none of the work."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from decorrupt.app.cli.conventions import print_error_line
from decorrupt.app.cli.options import write_page

MODULE = "decorrupt.app.pages.model_page"


def page_module() -> ModuleType | None:
    """Return the module that renders pages, or None where its libraries are not installed."""
    try:
        return import_module(MODULE)
    except ImportError:
        return None


def pages(path: str | None) -> ModuleType | None:
    """Return the module that renders pages if one is to be written; fail before the work starts.

    Raises
    ------
    ValueError
        If pages cannot be made here.
    """
    if path is None:
        return None
    module = page_module()
    if module is None:
        raise ValueError(f"{path} cannot be made: pages need pip install 'decorrupt[cli]'")
    return module


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
