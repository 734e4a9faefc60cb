"""Whether pages can be made here, told before the work starts."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

MODULE = "decorrupt.report.model_page"


@dataclass(frozen=True)
class Pages:
    """What renders pages; models' pages also say what the model must not be used for."""

    module: ModuleType

    def render_model(self, card: Any, held_out: Any, test: Any = None) -> str:
        """Return the page of a model, `test` being measures beside the supervised ceiling."""
        return str(self.module.render_model(_with_limits(card), held_out, test))

    def render_evaluation(self, found: Any, card: Any) -> str:
        """Return the page of a model measured on rows."""
        return str(self.module.render_evaluation(found, _with_limits(card)))

    def render_inspection(self, found: Any) -> str:
        """Return the page of data before training."""
        return str(self.module.render_inspection(found))


def _with_limits(card: Any) -> dict[str, Any]:
    from decorrupt.cli.explanation import warnings_of_use

    return {**card, "not_for": warnings_of_use(card)}


def page_module() -> Pages | None:
    """Return what renders pages, or None where its libraries are not installed."""
    try:
        return Pages(import_module(MODULE))
    except ImportError:
        return None


def pages(path: str | None) -> Pages | None:
    """Return what renders pages if one is to be written; fail before the work starts.

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
