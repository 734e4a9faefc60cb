"""Pages: a template and plain content become one HTML file that asks nothing of the network.

``base.html.j2`` carries the style sheet and the script of every page inside the file, under a
content security policy that allows these two and nothing else. ``macros.html.j2`` has the sortable
table and the figure, so that all pages have captions, scopes and alternative texts alike.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup


def render(template: str, **content: Any) -> str:
    """Return the text of ``templates/<template>`` filled with `content`.

    Parameters
    ----------
    template : str
        A file of this package's ``templates``. What ends in ``.html.j2`` is escaped throughout;
        it extends ``base.html.j2`` and fills its blocks ``title``, ``header`` and ``content``.
    **content
        Plain values, and the SVG of :func:`decorrupt.documents.figures.draw`.

    Raises
    ------
    jinja2.UndefinedError
        If the template asks for something `content` has not: a page is never silently incomplete.
    """
    return _environment().get_template(template).render(content)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("decorrupt.documents"),
        autoescape=select_autoescape(enabled_extensions=("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = _own("page.css"), _own("page.js")
    environment.globals |= {
        "page_style": Markup(style),  # noqa: S704 — our own files, no input of anyone
        "page_script": Markup(script),  # noqa: S704
        "page_policy": _policy(style, script),
    }
    return environment


def _own(name: str) -> str:
    return (resources.files("decorrupt.documents") / "templates" / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow the page's own style sheet and script, by their hashes, and no request at all."""
    return (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
