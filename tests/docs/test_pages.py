"""Pages are short enough to read."""

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# Most words of a page, its code included.
LIMITS = {"learn": 500, "howto": 450, "understand": 900}
PAGES = [page for section in LIMITS for page in sorted((DOCS / section).glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_is_short(page):
    n_words, limit = len(page.read_text().split()), LIMITS[page.parent.name]
    assert n_words <= limit, f"{n_words} words, at most {limit}"
