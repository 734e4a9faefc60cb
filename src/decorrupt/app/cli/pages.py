"""Writing pages: checked before the work starts; a failure does not lose the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from decorrupt.app.cli.conventions import print_error_line
from decorrupt.app.cli.options import write_page

if TYPE_CHECKING:
    from decorrupt.app.training.model_card import ModelCard
    from decorrupt.app.training.results import Comparison, Evaluation, HeldOutResults, Inspection


class Renderer(Protocol):
    """The module :mod:`decorrupt.app.pages.model_page`, loaded only where a page is written."""

    def render_model(
        self, card: ModelCard, held_out: HeldOutResults, test: Comparison | None = None, /
    ) -> str:
        """Return the page of a model."""

    def render_evaluation(self, found: Evaluation, card: ModelCard, /) -> str:
        """Return the page of an evaluation."""

    def render_inspection(self, found: Inspection, /) -> str:
        """Return the page of data before training."""


def page_module() -> Renderer | None:
    """Return the module that renders pages, or None where its libraries are not installed."""
    try:
        from decorrupt.app.pages import model_page
    except ImportError:
        return None
    return model_page


def pages(path: str | None) -> Renderer | None:
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
