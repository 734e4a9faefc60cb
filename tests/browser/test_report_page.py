"""The report in a real browser: complete, alone, readable on a phone, usable by keyboard."""

import pytest

from helpers.page_views import (
    VIEWS,
    check_headings_and_captions,
    check_print,
    check_shades,
    check_texts,
    check_width,
    opened,
    show,
)
from helpers.synthetic_records import full_run
from reproduction.published import published_cells
from reproduction.report import format_report
from reproduction.report.columns import COLUMNS

CELLS = """
(table) => [...document.querySelectorAll(`#${table} tbody tr`)].map(
  (row) => [...row.cells].map((cell) => cell.innerText.trim()))
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(format_report(full_run(), ".html"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def loaded(browser, address):
    """The page, with all it asked for and complained of; loaded once for all that only look."""
    with opened(browser, address) as found:
        yield found


@pytest.fixture(params=VIEWS)
def view(request, loaded):
    show(loaded[0], **VIEWS[request.param])
    return loaded


@pytest.fixture
def page(browser, address):
    """The page, loaded for one test that uses it."""
    with opened(browser, address, **VIEWS["desktop"]) as (page, *_):
        yield page


def test_it_asks_for_nothing_and_complains_of_nothing(view, address):
    page, requests, complaints = view
    page.mouse.wheel(0, 20_000)
    page.wait_for_timeout(100)
    assert requests == [address]
    assert complaints == []


def test_plots_are_seen_and_nothing_is_wider_than_the_screen(view):
    page, *_ = view
    width = page.viewport_size["width"]
    check_width(page)
    plots = page.locator("figure > svg")
    assert plots.count() == 7 + 1, "one a data set, and the cost"
    for plot in plots.all():
        box = plot.bounding_box()
        assert box["width"] >= 300
        assert box["height"] >= 200
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_texts_of_plots_are_large_enough_and_apart(view):
    page, *_ = view
    check_texts(page)


def test_dark_and_light(view, request):
    page, *_ = view
    check_shades(page, dark="dark" in request.node.callspec.params["view"])


@pytest.mark.parametrize("table", ["paper-table-1", "paper-table-2"])
def test_all_cells_and_methods_are_there(loaded, table):
    page, *_ = loaded
    rows = page.evaluate(CELLS, table)
    assert [(row[0], int(row[1])) for row in rows] == published_cells()
    assert all(len(row) == 2 + len(COLUMNS) for row in rows)
    texts = [text for row in rows for text in row[2:]]
    assert texts.count("—") == 2
    assert all("±" in text or text == "—" for text in texts)


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


def test_the_mean_stays_below(page):
    foot = page.locator("#paper-table-1 tfoot tr").first.inner_text()
    page.locator("#paper-table-1 tr.columns button").first.click()
    assert page.locator("#paper-table-1 tfoot tr").first.inner_text() == foot


def test_headings_captions_and_names(loaded):
    page, *_ = loaded
    show(page, **VIEWS["desktop"])
    check_headings_and_captions(page)
    for drawing in page.locator("svg").all():
        assert drawing.locator("> title").text_content().strip()
    assert page.locator("main").count() == page.locator("header").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_the_first_tab_skips_to_the_content(page):
    page.keyboard.press("Tab")
    link = page.locator("a.skip")
    assert link.evaluate("e => e === document.activeElement")
    assert link.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "content"


def test_on_paper_it_is_black_on_white_and_whole(loaded):
    page, *_ = loaded
    show(page, **VIEWS["desktop dark"])
    check_print(page)


def test_without_scripts_all_is_there_and_no_button(browser, address):
    with opened(browser, address, java_script_enabled=False) as (page, *_):
        assert page.locator("#paper-table-1 tbody tr").count() == 42
        assert page.locator("button").count() == 0
