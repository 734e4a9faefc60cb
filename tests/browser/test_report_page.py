"""The report in a real browser: complete, alone, readable on a phone, usable by keyboard."""

import pytest

from helpers.page_views import (
    VIEWS,
    opened,
)
from helpers.synthetic_records import full_run
from reproduction.report import format_report

CELLS = """
(table) => [...document.querySelectorAll(`#${table} tbody tr`)].map(
  (row) => [...row.cells].map((cell) => cell.innerText.trim()))
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(format_report(full_run(), ".html"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    """The page, loaded for one test that uses it."""
    with opened(browser, address, **VIEWS["desktop"]) as (page, *_):
        yield page


def test_sorting_by_keyboard(page):
    before = page.evaluate(CELLS, "paper-table-1")
    button = page.locator("#paper-table-1 tr.columns th").nth(3).get_by_role("button")
    head = page.locator("#paper-table-1 tr.columns th").nth(3)
    button.focus()
    for key, order in (("Enter", "ascending"), ("Space", "descending")):
        page.keyboard.press(key)
        assert head.get_attribute("aria-sort") == order
        rows = page.evaluate(CELLS, "paper-table-1")
        assert rows[-1][3] == "—", "missing values are last in both orders"
        values = [float(row[3].split()[0]) for row in rows[:-1]]
        assert values == sorted(values, reverse=order == "descending")
    page.locator("#paper-table-1 tr.columns th").nth(1).get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") is None
    sizes = [int(row[1]) for row in page.evaluate(CELLS, "paper-table-1")]
    assert sizes == sorted(sizes), "sizes sort as numbers"
    assert sorted(before) == sorted(page.evaluate(CELLS, "paper-table-1")), "no row is lost"


def test_the_first_tab_skips_to_the_content(page):
    page.keyboard.press("Tab")
    link = page.locator("a.skip")
    assert link.evaluate("e => e === document.activeElement")
    assert link.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "content"


def test_without_scripts_all_is_there_and_no_button(browser, address):
    with opened(browser, address, java_script_enabled=False) as (page, *_):
        assert page.locator("#paper-table-1 tbody tr").count() == 42
        assert page.locator("button").count() == 0
