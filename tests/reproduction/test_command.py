"""python -m reproduction: plans and parts of them, resumption, failures, reports."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.synthetic_records import record, write
from helpers.toy_methods import broken, constant
from reproduction import run as run_module
from reproduction.__main__ import main
from reproduction.methods import METHODS, Method
from reproduction.records import read_records


def toy(name):
    if name == "cnae":
        raise OSError("cnae.csv.gz is not there")
    y = np.arange(200) % 2
    return SimpleNamespace(X=y[:, None] + np.zeros((200, 2)), y=y)


@pytest.fixture(autouse=True)
def _toy(monkeypatch):
    monkeypatch.setattr(run_module, "read_uci", toy)
    for name, method in METHODS.items():
        monkeypatch.setitem(METHODS, name, Method(constant, method.sees_labels))


@pytest.fixture
def records(tmp_path):
    return tmp_path / "records.jsonl"


def run(records, *arguments):
    return main(["run", *arguments, "-o", str(records), "-j", "1"])


def test_parts_of_the_papers_plan(records, capsys):
    chosen = ("--datasets", "sports", "german", "--bag-sizes", "2", "64", "--repetitions", "3")
    assert run(records, *chosen, "--methods", "auto", "alternating_psvm") == 0
    found = read_records(records)
    assert {r["dataset"] for r in found} == {"sports", "german"}
    assert {r["bag_size"] for r in found} == {2, 64}
    assert len(found) == 2 * 2 * (3 + 2), "the expensive method stops at two repetitions"
    printed = capsys.readouterr()
    assert printed.out == f"20 runs, 0 failed; records: {records}\n"
    assert len(printed.err.splitlines()) == 20
    assert printed.err.startswith("1 of 20: german 2 auto 0: done, 0")


def test_failed_cells_are_an_exit_code(records, capsys, monkeypatch):
    monkeypatch.setitem(METHODS, "auto", Method(broken))
    assert run(records, "quick", "--methods", "auto", "invcal") == 1
    assert "24 runs, 12 failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.toml"], "gone.toml: neither a TOML file nor one of the plans"),
        (["quick", "--datasets", "wine"], "datasets: 'wine' is not in the plan"),
        (["quick", "--methods", "magic"], "methods: 'magic' is not in the plan"),
        (["quick", "--repetitions", "0"], "repetitions=0 must be at least 1"),
        (["paper", "--datasets", "cnae"], "cnae.csv.gz is not there"),
    ],
)
def test_what_cannot_run_is_said_before_anything_runs(records, capsys, arguments, message):
    assert run(records, *arguments) == 2
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 1
    assert message in printed.err
    assert read_records(records) == []


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.html", "<!DOCTYPE html>"), ("r.md", "# Learning"), ("r.json", '{\n "format"')],
)
def test_the_ending_of_the_report_decides(tmp_path, records, name, start):
    write(records, [record("cnae", 2, "auto", 0)])
    assert main(["report", str(records), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
