"""Pages stand alone, escape what they show, and never leave a gap silently."""

import base64
import hashlib
import html
import re

import jinja2
import pytest

from decorrupt.documents.document import (
    Command,
    Document,
    Facts,
    Figure,
    Panels,
    Section,
    Table,
    Text,
    render,
    to_html,
    to_markdown,
)
from decorrupt.documents.figures import draw
from decorrupt.documents.text import to_text

COMMAND = "decorrupt fit 'my rows.csv' -o \"m & n.skops\""
EVIL = "<script>alert('&')</script>"


def drawing(name="drawing"):
    return draw(
        lambda figure: figure.add_subplot().plot([1, 2]),
        name=name,
        title="A line",
        description="It rises.",
    )


@pytest.fixture(scope="module")
def document():
    figure = Figure(drawing, "A caption")
    table = Table(
        "numbers",
        f"Numbers {EVIL}",
        ["name", "value"],
        [[EVIL, None], ["a|b\nc", {"text": "0.5", "strong": True, "under": "± 0.1", "sort": 0.5}]],
        footer=[["mean", 0.5]],
        groups=[("", 1), ("Group", 1)],
    )
    blocks = [
        Text(EVIL, "note"),
        Command(COMMAND),
        Facts([("term", EVIL)]),
        table,
        figure,
        Panels([Figure(lambda: drawing("panel"), "", "a panel")], [(drawing("swatch"), "line")]),
    ]
    return Document("A title", "A lead", [Section("one", "One", blocks)])


def test_what_is_shown_is_escaped(document):
    page = to_html(document)
    assert EVIL not in page
    assert page.count("&lt;script&gt;") == 4


def test_the_policy_allows_the_pages_own_style_and_script_and_nothing_else(document):
    page = to_html(document)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert " style=" not in page, "inline styles would be refused by the policy"


def test_missing_values_are_said_to_be_missing(document):
    page = to_html(document)
    assert '<span aria-label="missing">—</span>' in page
    assert "<strong>0.5</strong>" in page


def test_markdown_rows_hold_together(document):
    text = to_markdown(document)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 5
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows), rows
    assert "| a\\|b c | **0.5** ± 0.1 |" in text
    assert "*Figure: A caption*" in text
    assert "# A title\n" in text
    assert "## One\n" in text


def test_a_page_without_its_content_is_an_error():
    with pytest.raises(jinja2.UndefinedError):
        render("document.html.j2")


def test_folded_sections_are_closed_on_a_page_and_their_titles_are_headings():
    sections = [Section("a", "Open", [Text("a")]), Section("b", "Shut", [Text("b")], folded=True)]
    page = to_html(Document("Title", "Lead", sections))
    assert '<details>\n<summary><h2 id="b">Shut</h2></summary>' in page
    assert page.index("<details>") > page.index('<h2 id="a">Open</h2>')
    assert "<details open" not in page


def test_commands_can_be_copied(document):
    (shown,) = re.findall("<pre><code>(.*?)</code></pre>", to_html(document))
    assert "<" not in shown
    assert html.unescape(shown) == COMMAND
    assert f"```sh\n{COMMAND}\n```" in to_markdown(document)


def test_figures_are_drawn_for_pages_only():
    drawn = []

    def watched():
        drawn.append(1)
        return drawing()

    sections = [Section("one", "One", [Figure(watched, "A caption")])]
    watching = Document("A title", "A lead", sections)
    to_markdown(watching), to_text(watching.sections, width=80)
    assert drawn == []
    to_html(watching)
    assert drawn == [1]
