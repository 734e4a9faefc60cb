"""The three forms of the report."""

import json
import re

import pytest

from helpers.synthetic_records import failed, full_run, record
from reproduction.published import published_cells
from reproduction.report import FORMATS, format_report, summarise_run
from reproduction.report.columns import COLUMNS


@pytest.fixture(scope="module")
def page():
    return format_report(full_run(), ".html")


def test_json_is_the_summary():
    assert json.loads(format_report(full_run(), ".json")) == summarise_run(full_run())


def test_the_page_is_small_and_says_everything(page):
    assert len(page.encode()) < 2_000_000
    for text in (
        'id="experiment"',
        "table-1",
        "table-2",
        "Friedman",
        "Wilcoxon",
        "Holm",
        "0.660†",
        "CC BY 4.0",
        "numpy",
        "ValueError: &lt;b&gt;no&lt;/b&gt; | bag",
    ):
        assert text in page, text
    assert "<b>no</b>" not in page


@pytest.mark.parametrize("number", [1, 2])
def test_every_cell_has_every_method(page, number):
    (table,) = re.findall(rf'<table id="paper-table-{number}".*?</table>', page, flags=re.DOTALL)
    (body,) = re.findall(r"<tbody>(.*?)</tbody>", table, flags=re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", body, flags=re.DOTALL)
    assert len(rows) == len(published_cells()) == 42
    assert all(len(re.findall(r"<t[dh]\b", row)) == 2 + len(COLUMNS) for row in rows)
    assert body.count('aria-label="missing"') == 2


def test_differences_are_marked_without_colour(page):
    assert len(re.findall(r'class="better".*?▲ \+0\.\d{3}', page)) > 100
    assert len(re.findall(r'class="worse".*?▼ −0\.\d{3}', page)) > 5
    assert "= " in page


def test_means_over_different_cells_are_also_given_over_the_same(page):
    feet = re.findall(r"<tfoot>.*?</tfoot>", page, flags=re.DOTALL)
    assert len(feet) == 2
    assert all("41 cells" in foot and "40 common cells" in foot for foot in feet)


def test_printed_lines_are_dashed_and_the_ceiling_is_on_top(page):
    (plot,) = re.findall(r'<svg[^>]*"curve-0-title .*?</svg>', page, flags=re.DOTALL)
    lines = re.findall(r'<path [^>]*clip-path[^>]*stroke-width="(?:1.4|2.4)"[^>]*>', plot)
    assert len(lines) == len(COLUMNS)
    assert sum("stroke-dasharray" in line for line in lines) == 3
    assert [k for k, line in enumerate(lines) if 'stroke="currentColor"' in line] == [10]


def test_markdown_tables_are_whole():
    text = format_report(full_run(), ".md")
    lines = [line for line in text.splitlines() if line.startswith("| banknote | 2 |")]
    assert len(lines) == 2, "one row in each table"
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 3 + len(COLUMNS) for line in lines)
    assert "0.660†" in text
    assert "\\| bag" in text


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "records",
    [
        [record("cnae", 2, "auto", 0)],
        [failed("cnae", 2, "auto", 0)],
        [record("own", 5, "magic $x$", 0, params=None, versions=None)],
        [{k: v for k, v in record("cnae", 2, "auto", 0).items() if k != "n_left_out"}],
    ],
)
def test_little_is_enough(records, form):
    assert format_report(records, form)


def test_reports_are_the_same_each_time(page):
    assert format_report(full_run(), ".html") == page
