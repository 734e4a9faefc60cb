"""Records survive kills and tell what is done."""

import json

import pytest

from decorrupt.reproduction.plan import Cell
from decorrupt.reproduction.records import append_record, finished_cells, latest, read_records


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
