"""Whether pages can be made here, told before the work starts."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

MODULE = "decorrupt.report.model_page"


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
