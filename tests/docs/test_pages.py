"""Pages are short enough to read, and every index describes each of its pages in one line."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# Most words of a page, its code included.
LIMITS = {"learn": 500, "howto": 450, "understand": 900}
SECTIONS = [*LIMITS, "choose", "evidence", "reference", "theory", "contribute"]
PAGES = [page for section in LIMITS for page in sorted((DOCS / section).glob("*.md"))]


def pages_of(index):
    """Return the pages in the table of contents of an index, as its links are written."""
    (block,) = re.findall(r"^```{toctree}\n(.*?)^```$", index, re.DOTALL | re.MULTILINE)
    lines = [line for line in block.splitlines() if line and not line.startswith(":")]
    return [re.sub(r".*<(.+)>", r"\1", line) for line in lines]  # "Title <page>"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_is_short(page):
    n_words, limit = len(page.read_text().split()), LIMITS[page.parent.name]
    assert n_words <= limit, f"{n_words} words, at most {limit}"


@pytest.mark.parametrize("section", SECTIONS)
def test_an_index_has_one_line_per_page(section):
    index = (DOCS / section / "index.md").read_text()
    lines = index.partition("```{toctree}")[0].splitlines()
    assert pages_of(index)
    for page in pages_of(index):
        described = re.compile(rf"\]\({re.escape(page)}\.(md|rst)\): \S")
        assert len([line for line in lines if described.search(line)]) == 1, page
