"""The three forms of the report."""

import re

import pytest

from helpers.synthetic_records import failed, full_run, record
from reproduction.published import published_cells
from reproduction.report import FORMATS, format_report
from reproduction.report.columns import COLUMNS


@pytest.fixture(scope="module")
def page():
    return format_report(full_run(), ".html")


@pytest.mark.parametrize("number", [1, 2])
def test_every_cell_has_every_method(page, number):
    (table,) = re.findall(rf'<table id="paper-table-{number}".*?</table>', page, flags=re.DOTALL)
    (body,) = re.findall(r"<tbody>(.*?)</tbody>", table, flags=re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", body, flags=re.DOTALL)
    assert len(rows) == len(published_cells()) == 42
    assert all(len(re.findall(r"<t[dh]\b", row)) == 2 + len(COLUMNS) for row in rows)
    assert body.count('aria-label="missing"') == 2


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
