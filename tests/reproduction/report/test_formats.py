"""The three forms of the report."""

import re

import pytest

from helpers.synthetic_records import failed, full_run, record
from reproduction.report import FORMATS, format_report
from reproduction.report.columns import COLUMNS


@pytest.fixture(scope="module")
def page():
    return format_report(full_run(), ".html")


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
