"""A description of every page for search engines and for links in other programs (Open Graph).

The description is the first paragraph of the page. The picture needs an absolute address, so it is
left out unless ``html_baseurl`` is set: the site does not know where it will be.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes

LENGTH = 160  # characters that search engines show
PICTURE = "_static/hero.svg"


def description(doctree: nodes.document) -> str:
    """Return the beginning of the first paragraph, which ends with a word."""
    paragraph = next(iter(doctree.findall(nodes.paragraph)), None)
    text = " ".join(paragraph.astext().split()) if paragraph is not None else ""
    return text if len(text) <= LENGTH else text[:LENGTH].rpartition(" ")[0] + " …"


def add_tags(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the tags of a page that was written from a source."""
    if doctree is None:
        return
    text = description(doctree) or app.config.html_title
    base = app.config.html_baseurl
    tags = {
        "og:title": context.get("title", ""),
        "og:description": text,
        "og:type": "website",
        "og:site_name": app.config.html_title,
    }
    if base:
        tags["og:image"] = f"{base.rstrip('/')}/{PICTURE}"
    lines = [f'<meta name="description" content="{escape(text)}">']
    lines += [f'<meta property="{name}" content="{escape(tags[name])}">' for name in tags]
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)


def setup(app: Any) -> dict[str, bool]:
    """Connect the hook."""
    app.connect("html-page-context", add_tags)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
