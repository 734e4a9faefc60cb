"""A document has the same content as a page, as markdown and as text, in the same order."""

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from decorrupt.documents import (
    Command,
    Document,
    Facts,
    Section,
    Table,
    Text,
    to_html,
    to_markdown,
    to_text,
)

# Letters, and what is special in one of the three: markup of rich and HTML, bars of tables.
words = st.text("ab[]/<>&|:'\"", min_size=1, max_size=8).map(lambda text: f"x{text}x")
texts = st.lists(words, min_size=1, max_size=4).map(" ".join)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=3)
numbers = st.integers(0, 999)
cells = st.one_of(
    texts, numbers, st.builds(lambda text, under: {"text": text, "under": under}, texts, texts)
)


@st.composite
def tables(draw):
    columns = draw(st.lists(texts, min_size=1, max_size=3))
    rows = st.lists(
        st.lists(cells, min_size=len(columns), max_size=len(columns)), min_size=1, max_size=3
    )
    return Table("table", draw(texts), columns, draw(rows), footer=draw(rows))


blocks = st.one_of(
    st.builds(Text, texts, st.sampled_from(["", "note", "faint", "good", "unsure", "bad"])),
    st.builds(Command, texts),
    st.builds(Facts, pairs),
    tables(),
)
sections = st.builds(
    Section, st.just("name"), texts, st.lists(blocks, min_size=1, max_size=4), st.booleans()
)
documents = st.builds(Document, texts, texts, st.lists(sections, min_size=1, max_size=3))


def facts_of(document):
    """Return all texts and numbers of a document, by a reading of its own."""
    for section in document.sections:
        yield section.title
        for block in section.blocks:
            yield from facts_of_block(block)


def facts_of_block(block):
    if isinstance(block, Text | Command):
        yield block.text
    elif isinstance(block, Facts):
        yield from (text for entry in block.entries for text in entry)
    else:
        yield block.caption
        yield from block.columns
        for cell in (cell for row in (*block.rows, *block.footer) for cell in row):
            yield from cell.values() if isinstance(cell, dict) else [str(cell)]


def contains_in_order(text, facts):
    place = 0
    for fact in facts:
        place = text.index(fact, place) + len(fact)


@given(documents)
def test_all_facts_are_in_every_rendering_in_the_same_order(document):
    facts = list(facts_of(document))
    page = re.sub(r"(?s)<head>.*</head>|<nav.*?</nav>|<script>.*?</script>|<[^>]*>", " ",
                  to_html(document))  # fmt: skip
    for text in (
        html.unescape(page),
        to_markdown(document).replace("\\|", "|"),
        to_text(document.sections, width=10_000),
    ):
        contains_in_order(text, facts)


@given(documents)
def test_a_page_says_which_sections_are_folded(document):
    page = to_html(document)
    assert page.count("<details>") == sum(section.folded for section in document.sections)
    has_folded = any(section.folded for section in document.sections)
    assert ("<nav" in page) != has_folded, "folded sections are a list of contents themselves"
