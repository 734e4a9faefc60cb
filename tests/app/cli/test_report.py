"""decorrupt report: formats, places to write to, and files that are no records."""

import json

import pytest

from decorrupt.app.cli.app import run
from helpers.synthetic_records import full_run, record, write


@pytest.fixture
def records(tmp_path):
    return str(write(tmp_path / "records.jsonl", [record("cnae", 2, "auto", 0)]))


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.html", "<!DOCTYPE html>"), ("r.md", "# Learning"), ("r.json", '{\n "format"')],
)
def test_the_ending_decides(tmp_path, records, name, start):
    assert run(["report", records, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_flags_go_before_endings(tmp_path, records):
    assert run(["report", records, "-o", str(tmp_path / "r.txt"), "--markdown"]) == 0
    assert (tmp_path / "r.txt").read_text(encoding="utf-8").startswith("# Learning")


def test_json_and_markdown_are_printed(capsys, tmp_path):
    path = str(write(tmp_path / "records.jsonl", full_run()))
    assert run(["report", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["tables"]["balanced_accuracy"]["rows"]) == 42
    assert run(["report", path, "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("# Learning")
    assert run(["report", path, "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


def test_existing_files_stay_unless_forced(tmp_path, records, capsys):
    page = tmp_path / "r.html"
    page.write_text("mine")
    assert run(["report", records, "-o", str(page)]) == 2
    assert page.read_text() == "mine"
    assert "r.html exists" in capsys.readouterr().err
    assert run(["report", records, "-o", str(page), "--force"]) == 0
    assert page.read_text(encoding="utf-8") != "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{folder}/gone.jsonl", "--json"], "gone.jsonl: no such file"),
        (["{folder}/other.csv", "--json"], "other.csv: no records"),
        (["{folder}", "--json"], "no such file"),
        (["{records}"], "give -o report.html"),
        (["{records}", "-o", "{folder}/r.pdf"], "r.pdf: a report's name must end in"),
        (["{records}", "-o", "{folder}/no/r.html"], "no such directory"),
        (["{records}", "--json", "--markdown"], "give either --markdown or --json"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(tmp_path, records, capsys, arguments, message):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    filled = [word.format(folder=tmp_path, records=records) for word in arguments]
    assert run(["report", *filled]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert message in printed.err
