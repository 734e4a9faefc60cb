"""Figures are links to their files, where a reader on a phone can enlarge them.

Sphinx links every picture with a stated width to its file, and no others. So each figure states its
own width, which changes nothing: the style of the site never shows it wider than the page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes

WIDTH = re.compile(r'<svg[^>]*\swidth="([\d.]+pt)"')


def state_widths(app: Any, doctree: nodes.document) -> None:
    """Give every figure in ``docs/figures`` its own width."""
    for picture in doctree.findall(nodes.image):
        file = Path(app.srcdir) / picture["uri"]
        if file.parent.name == "figures" and (found := WIDTH.search(file.read_text())):
            picture.setdefault("width", found[1])


def setup(app: Any) -> dict[str, bool]:
    """Connect the hook."""
    app.connect("doctree-read", state_widths)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
