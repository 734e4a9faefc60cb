"""Rendering of templates to self-contained HTML files, which make no network requests.

``base.html.j2`` includes the style sheet and the script in the file. Its content security policy
allows only these two. ``macros.html.j2`` defines the sortable table and the figure.
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
    """Return ``templates/<template>`` rendered with `content`.

    Parameters
    ----------
    template : str
        A file in this package's ``templates``. Values are escaped in files that end in
        ``.html.j2``; these extend ``base.html.j2`` and fill its blocks.
    **content
        Plain values, and the SVG of :func:`decorrupt.documents.figures.draw`.

    Raises
    ------
    jinja2.UndefinedError
        If the template uses a name that is not in `content`.
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
    style, script = _read("page.css"), _read("page.js")
    environment.globals |= {
        "page_style": Markup(style),  # noqa: S704 — our own files, no user input
        "page_script": Markup(script),  # noqa: S704
        "page_policy": _policy(style, script),
    }
    return environment


def _read(name: str) -> str:
    return (resources.files("decorrupt.documents") / "templates" / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow the page's own style sheet and script by their hashes, and no requests."""
    return (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
