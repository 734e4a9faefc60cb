"""Progress: lines of the logger where there is no terminal, a bar where there is one."""

import io
import logging
import re
import sys

import pytest

from decorrupt.app.cli.app import run
from decorrupt.progress import progress, silence, track
from helpers.hidden_labels import make_bag_table


@pytest.fixture
def on_terminal(monkeypatch):
    """Make stderr claim to be a terminal; in the test itself, as pytest replaces it before."""

    def replace_stderr():
        stream = io.StringIO()
        stream.isatty = lambda: True
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        return stream

    return replace_stderr


def test_every_finished_item_is_one_line(caplog):
    with caplog.at_level(logging.INFO, logger="decorrupt"):
        seen = []
        for item in track("abc", "working", 3):
            assert len(caplog.messages) == len(seen)  # a line comes after the work
            seen.append(item)
    assert seen == ["a", "b", "c"]
    assert [line.split(" in ")[0] for line in caplog.messages] == [
        f"working: {k} of 3" for k in (1, 2, 3)
    ]
    assert "left" in caplog.messages[0]
    assert "left" not in caplog.messages[-1]  # what comes after this phase is not known


def test_phases_of_one_computation_share_an_estimate(caplog):
    with caplog.at_level(logging.INFO, logger="decorrupt"), progress() as current:
        with current.expecting(2):
            list(track("abc", "first", 3))
        list(track("de", "second", 2))
    assert ["left" in line for line in caplog.messages] == [True, True, True, True, False]
    assert [line.split(" in ")[0] for line in caplog.messages[2:4]] == [
        "first: 3 of 3",
        "second: 1 of 2",
    ]


def test_a_phase_inside_a_step_is_logged_after_silence_only(caplog, monkeypatch):
    def run_both():
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="decorrupt"):
            for _ in track("ab", "outer", 2):
                list(track("xyz", "inner", 3))
        return [line.split(" in ")[0] for line in caplog.messages]

    assert run_both() == ["outer: 1 of 2", "outer: 2 of 2"]
    monkeypatch.setattr("decorrupt.progress.LONGEST_SILENCE", 0.0)
    inner = [f"inner: {k} of 3" for k in (1, 2, 3)]
    assert run_both() == [*inner, "outer: 1 of 2", *inner, "outer: 2 of 2"]
    assert ["left" in line for line in caplog.messages] == [False] * 3 + [True] + [False] * 4


def test_many_quick_steps_log_the_last_one(caplog, monkeypatch):
    with caplog.at_level(logging.INFO, logger="decorrupt"):
        list(track(range(199), "drawing", 199))
    assert [line.split(" in ")[0] for line in caplog.messages] == ["drawing: 199 of 199"]
    monkeypatch.setattr("decorrupt.progress.LONGEST_SILENCE", 0.0)
    with caplog.at_level(logging.INFO, logger="decorrupt"):
        list(track(range(199), "drawing", 199))
    assert len(caplog.messages) == 200


def test_a_computation_that_ends_early_leaves_no_bar_behind(caplog):
    with caplog.at_level(logging.INFO, logger="decorrupt"):
        for _ in track("abc", "stopped", 3):
            break
        with pytest.raises(ZeroDivisionError):
            [1 / 0 for _ in track("abc", "failed", 3)]
        list(track("a", "next", 1))
    assert [line.split(" in ")[0] for line in caplog.messages] == ["next: 1 of 1"]


def test_silence_is_silence(caplog, on_terminal):
    terminal = on_terminal()
    with caplog.at_level(logging.INFO, logger="decorrupt"), silence():
        assert list(track("abc", "working", 3)) == ["a", "b", "c"]
    assert caplog.messages == []
    assert terminal.getvalue() == ""


def test_a_terminal_shows_a_bar_and_no_lines(caplog, on_terminal):
    terminal = on_terminal()
    assert list(track("abc", "working", 3)) == ["a", "b", "c"]
    assert "working" in terminal.getvalue()
    assert "%" in terminal.getvalue()
    assert caplog.messages == []


def test_verbose_prints_a_line_per_step_and_quiet_none(tmp_path, capsys):
    table = make_bag_table()
    paths = [str(tmp_path / name) for name in ("rows.csv", "bags.csv", "model.skops")]
    table.rows.to_csv(paths[0], index=False)
    table.bags.to_csv(paths[1], index=False)
    columns = ["--bag-column", "bag", "--proportion-column", "rate"]
    options = ["--method", "mean-map", "--force", "-o", paths[2]]
    for flags, n_lines in ((["-v"], 1), ([], 0), (["-v", "-q"], 0)):
        capsys.readouterr()
        assert run(["fit", *paths[:2], *columns, *options, *flags]) == 0
        lines = capsys.readouterr().err.splitlines()
        last = [
            line for line in lines if re.search(r"comparing configurations: (\d+) of \1 ", line)
        ]
        assert len(last) == n_lines
    assert logging.getLogger("decorrupt").handlers == []
