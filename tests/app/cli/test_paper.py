"""decorrupt paper: plans, parts of them, resumption, failures and the report."""

from types import SimpleNamespace

import numpy as np
import pytest

from decorrupt.app.cli.app import run
from decorrupt.reproduction import run as run_module
from decorrupt.reproduction import session as session_module
from decorrupt.reproduction.methods import METHODS, Method
from decorrupt.reproduction.records import read_records
from helpers.toy_methods import broken, constant


def toy(name, data_home=None):
    if data_home == "nowhere":
        raise OSError("the data set 'german' is not at nowhere")
    y = np.arange(200) % 2
    return SimpleNamespace(X=y[:, None] + np.zeros((200, 2)), y=y)


@pytest.fixture(autouse=True)
def _toy(monkeypatch):
    for module in (run_module, session_module):
        monkeypatch.setattr(module, "fetch_uci", toy)
    for name, method in METHODS.items():
        monkeypatch.setitem(METHODS, name, Method(constant, method.sees_labels))


@pytest.fixture
def records(tmp_path):
    return tmp_path / "records.jsonl"


def paper(records, *arguments):
    return run(["paper", *arguments, "-o", str(records), "-j", "1"])


def test_the_quick_plan_with_its_report(records, tmp_path, capsys):
    assert paper(records, "--quick", "--report", str(tmp_path / "page.html")) == 0
    assert len(read_records(records)) == 2 * 3 * 2 * 8
    printed = capsys.readouterr().out
    assert "96 runs, 0 failed" in printed
    assert str(records) in printed
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_papers_plan_is_the_default_and_parts_can_be_chosen(records):
    chosen = ("--datasets", "cnae,german", "--bag-sizes", "2,64", "--repetitions", "3")
    assert paper(records, *chosen, "--methods", "auto, alternating_psvm") == 0
    found = read_records(records)
    assert {r["dataset"] for r in found} == {"cnae", "german"}
    assert {r["bag_size"] for r in found} == {2, 64}
    assert len(found) == 2 * 2 * (3 + 2), "the expensive method stops at two repetitions"


def test_a_second_call_goes_on(records, capsys):
    assert paper(records, "--quick", "--methods", "auto") == 0
    assert paper(records, "--quick", "--methods", "auto,invcal") == 0
    assert "12 runs, 0 failed" in capsys.readouterr().out.splitlines()[-1]


def test_failed_cells_are_an_exit_code(records, capsys, monkeypatch):
    monkeypatch.setitem(METHODS, "auto", Method(broken))
    assert paper(records, "--quick", "--methods", "auto,invcal") == 1
    assert "24 runs, 12 failed" in capsys.readouterr().out


def test_a_plan_of_ones_own(records, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('datasets = ["own"]\nbag_sizes = [5]\nmethods = ["auto"]\nrepetitions = 2\n')
    assert paper(records, str(plan)) == 0
    assert [r["dataset"] for r in read_records(records)] == ["own", "own"]


def test_an_interruption_says_where_the_records_are(records, capsys, monkeypatch):
    calls = iter([False, True])

    def interrupted(task):
        if next(calls):
            raise KeyboardInterrupt
        return constant(task)

    monkeypatch.setitem(METHODS, "auto", Method(interrupted))
    assert paper(records, "--quick", "--methods", "auto") == 130
    assert f"in {records}" in capsys.readouterr().err
    assert len(read_records(records)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.toml"], "gone.toml"),
        (["gone.toml", "--quick"], "give either --quick or PLAN"),
        (["--quick", "--datasets", "cnae"], "datasets: 'cnae' is not in the plan"),
        (["--quick", "--bag-sizes", "four"], "'four' are not whole numbers"),
        (["--quick", "--methods", "magic"], "methods: 'magic' is not in the plan"),
        (["--quick", "--repetitions", "0"], "--repetitions"),
        (["--quick", "--data-home", "nowhere"], "is not at nowhere"),
        (["--quick", "--report", "page.pdf"], "page.pdf: a report's name must end in"),
        (["--quick", "--report", "no/such/page.html"], "no such directory"),
    ],
)
def test_what_cannot_be_is_said_before_anything_runs(records, capsys, arguments, message):
    assert paper(records, *arguments) == 2
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 1
    assert message in printed.err
    assert read_records(records) == []
