r"""Formulas as MathML, made when the site is built: no script and no other host is needed.

Sources contain TeX between dollar signs or in the role and the directive ``math``.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

# Bars and brackets, which browsers would stretch in front of an exponent, with spaces around them.
FENCE = re.compile(r"<mo>(&#x02016;|&#x0007C;|\||&#x00028;|&#x00029;|\(|\))</mo>")

# A closing fence as the base of an exponent, which would be above a fence that is not stretched.
RAISED = re.compile(r'<msup>(<mo stretchy="false"[^>]*>[^<]*</mo>)')


def mathml(tex: str, display: str) -> str:
    """Return a formula as MathML."""
    fence = r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>'
    formula = FENCE.sub(fence, convert(tex, display=display))
    return RAISED.sub(r"\1<msup><mrow></mrow>", formula)


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, which scroll on a phone."""
    formula = mathml(node.astext(), "block")
    writer.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
