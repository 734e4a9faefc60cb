"""The three forms of the report, and the files it is not made from."""

import json
import re

import pytest

from decorrupt.documents.endings import format_of
from decorrupt.reproduction.published import published_cells
from decorrupt.reproduction.report import FORMATS, format_report, read_finished_run, summarise_run
from decorrupt.reproduction.report.columns import COLUMNS
from helpers.synthetic_records import failed, full_run, record, write


@pytest.fixture(scope="module")
def page():
    return format_report(full_run(), "html")


def test_json_is_the_summary():
    assert json.loads(format_report(full_run(), "json")) == summarise_run(full_run())


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
    text = format_report(full_run(), "markdown")
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
    assert format_report(full_run(), "html") == page


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.html", "html"), ("b.HTM", "html"), ("c.md", "markdown"), ("d.json", "json")],
)
def test_formats_by_ending(name, form):
    assert format_of(name) == form


def test_unknown_endings_are_refused():
    with pytest.raises(ValueError, match=r"report\.pdf: a report's name must end in one of \.html"):
        format_of("report.pdf")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no records; expected JSON lines"),
        (b"a,b\n1,2\n", "no records; expected JSON lines"),
        (b"\xff\xfe\x00", "not a text file"),
        (b'{"a": 1}\n', "record 1: 'dataset' is missing"),
        (b"[1, 2]\n3\n", "no records"),
    ],
)
def test_other_files_are_named(tmp_path, content, message):
    path = tmp_path / "records.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"records\.jsonl: {message}"):
        read_finished_run(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"balanced_accuracy": "good"}, "'balanced_accuracy' is 'good', not a finite number"),
        ({"accuracy": float("nan")}, "'accuracy' is nan, not a finite number"),
        ({"seconds": None}, "'seconds' is None, not a finite number"),
        ({"bag_size": "2"}, "'bag_size' is '2', not a non-negative integer"),
        ({"repetition": -1}, "'repetition' is -1, not a non-negative integer"),
        ({"method": 7}, "'method' is 7, not a string"),
        ({"params": [1]}, r"'params' is \[1\], not a mapping"),
        ({"versions": "new"}, "'versions' is 'new', not a mapping"),
        ({"n_train": "many"}, "'n_train' is 'many', not a finite number"),
        ({"peak_mb": "much"}, "'peak_mb' is 'much', not a finite number"),
    ],
)
def test_records_that_cannot_be_are_named(tmp_path, changes, message):
    records = [record("cnae", 2, "auto", 0), record("cnae", 2, "auto", 1) | changes]
    with pytest.raises(ValueError, match=f"record 2: {message}"):
        read_finished_run(write(tmp_path / "records.jsonl", records))


def test_a_line_cut_off_by_a_kill_is_passed_over(tmp_path):
    path = write(tmp_path / "records.jsonl", [record("cnae", 2, "auto", 0)])
    with path.open("a") as file:
        file.write('{"dataset": "cn')
    assert len(read_finished_run(path)) == 1


def test_no_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.jsonl: no such file"):
        read_finished_run(tmp_path / "gone.jsonl")
