"""Records survive kills and tell what is done."""

import json

import pytest

from helpers.synthetic_records import record as synthetic
from helpers.synthetic_records import write
from reproduction.plan import Cell
from reproduction.records import append_record, finished_cells, latest, read_checked, read_records


def record(repetition, status="done"):
    return Cell("banknote", 2, "auto", repetition)._asdict() | {"status": status}


def test_what_is_appended_is_read_back(tmp_path):
    path = tmp_path / "records.jsonl"
    assert read_records(path) == []
    for repetition in range(3):
        append_record(path, record(repetition))
    assert read_records(path) == [record(0), record(1), record(2)]


@pytest.mark.parametrize("kept", [1, 20, -2])
def test_a_line_cut_off_by_a_kill_is_passed_over(tmp_path, kept):
    path = tmp_path / "records.jsonl"
    append_record(path, record(0))
    with path.open("a") as file:
        file.write(json.dumps(record(1))[:kept])
    assert read_records(path) == [record(0)]
    append_record(path, record(2))
    assert read_records(path) == [record(0), record(2)]


def test_failures_are_run_again_and_the_last_word_counts():
    records = [record(0), record(1, "ValueError: no"), record(1), record(2, "OSError: gone")]
    assert finished_cells(records) == {Cell("banknote", 2, "auto", r) for r in (0, 1)}
    assert [r["status"] for r in latest(records)] == ["done", "done", "OSError: gone"]


def test_nan_is_not_written(tmp_path):
    with pytest.raises(ValueError):
        append_record(tmp_path / "records.jsonl", record(0) | {"criterion": float("nan")})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no records; expected one JSON object"),
        (b"\xff\xfe\x00", "not a text file"),
        (b'{"a": 1}\n', "record 1: 'dataset' is missing"),
        (b"[1, 2]\n3\n", "no records"),
    ],
)
def test_other_files_are_named(tmp_path, content, message):
    path = tmp_path / "records.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"records\.jsonl: {message}"):
        read_checked(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"balanced_accuracy": "good"}, "'balanced_accuracy' is 'good', not a finite number"),
        ({"accuracy": float("nan")}, "'accuracy' is nan, not a finite number"),
        ({"bag_size": "2"}, "'bag_size' is '2', not a non-negative integer"),
        ({"method": 7}, "'method' is 7, not a string"),
        ({"params": [1]}, r"'params' is \[1\], not a mapping"),
    ],
)
def test_records_that_cannot_be_are_named(tmp_path, changes, message):
    records = [synthetic("cnae", 2, "auto", 0), synthetic("cnae", 2, "auto", 1) | changes]
    with pytest.raises(ValueError, match=f"record 2: {message}"):
        read_checked(write(tmp_path / "records.jsonl", records))
