"""A session checks files and data before it runs the first cell."""

from types import SimpleNamespace

import numpy as np
import pytest

from decorrupt.reproduction import __main__ as command
from decorrupt.reproduction import run as run_module
from decorrupt.reproduction import session as session_module
from decorrupt.reproduction.methods import METHODS, Method
from decorrupt.reproduction.plan import Cell, Plan
from decorrupt.reproduction.records import read_records
from decorrupt.reproduction.session import run_session
from helpers.toy_methods import broken, constant

PLAN = Plan(("toy",), (4, 8), ("mean_map", "auto"), repetitions=1)


def toy(name, data_home=None):
    if name != "toy":
        raise OSError(f"{name}.csv.gz is nowhere")
    y = np.arange(80) % 2
    return SimpleNamespace(X=y[:, None] + np.zeros((80, 2)), y=y)


@pytest.fixture(autouse=True)
def _toy(monkeypatch):
    for module in (run_module, session_module):
        monkeypatch.setattr(module, "fetch_uci", toy)
    monkeypatch.setitem(METHODS, "mean_map", Method(constant))
    monkeypatch.setitem(METHODS, "auto", Method(broken))


def test_failed_cells_are_named_and_tried_again(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    first = run_session(PLAN, path)
    assert first.n_run == 4
    assert first.failed == (Cell("toy", 4, "auto", 0), Cell("toy", 8, "auto", 0))
    monkeypatch.setitem(METHODS, "auto", Method(constant))
    second = run_session(PLAN, path)
    assert (second.n_run, second.failed) == (2, ())


def test_failures_of_other_plans_do_not_count(tmp_path):
    path = tmp_path / "records.jsonl"
    run_session(PLAN, path)
    assert run_session(PLAN.narrowed(methods=["mean_map"]), path).failed == ()


def test_missing_data_stop_it_before_the_first_cell(tmp_path):
    path = tmp_path / "records.jsonl"
    with pytest.raises(OSError, match=r"other\.csv\.gz is nowhere"):
        run_session(Plan(("toy", "other"), (4,), ("mean_map",), 1), path)
    assert read_records(path) == []


def test_no_data_are_asked_for_when_nothing_is_left(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    plan = PLAN.narrowed(methods=["mean_map"])
    run_session(plan, path)
    monkeypatch.setattr(session_module, "fetch_uci", None)
    assert run_session(plan, path).n_run == 0


def test_other_files_are_not_added_to(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader,\n")
    with pytest.raises(ValueError, match=r"letter\.txt: exists and contains no records"):
        run_session(PLAN, path)
    assert path.read_text() == "Dear reader,\n"


def test_a_place_that_cannot_be_written_to_is_found_out_first(tmp_path):
    with pytest.raises(FileNotFoundError):
        run_session(PLAN, tmp_path / "nowhere" / "records.jsonl")


@pytest.mark.parametrize(
    ("methods", "code"), [(["mean_map"], 0), (["mean_map", "auto"], 1), (["magic"], 2)]
)
def test_exit_codes_of_the_module(tmp_path, capsys, methods, code):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'datasets = ["toy"]\nbag_sizes = [4]\nmethods = ["mean_map", "auto"]\nrepetitions = 1\n'
    )
    assert command.main([str(plan), str(tmp_path / "r.jsonl"), "--methods", *methods]) == code
    assert len(capsys.readouterr().err.splitlines()) == 1
