"""What commands print: the verdict first, few lines unless asked, and commands that run."""

import json
import logging
import shlex

import pandas as pd
import pytest

from decorrupt.app.cli import conventions
from decorrupt.app.cli.conventions import (
    MOST_LINES,
    Output,
    brief,
    console,
    print_error_line,
    shown,
)
from decorrupt.app.pages.documents import inspection_document, model_document
from decorrupt.documents import to_text
from decorrupt.documents.formats import CONTROL, one_line, printable
from decorrupt.model_files import load_with_metadata, save
from decorrupt.progress import log_step
from helpers.model_dicts import inspection, model_card, source_card
from helpers.quick import QUICK_FIT
from helpers.shell import run_bash

FILES = [("model", "folder/model.skops"), ("page", "folder/model.html")]
LONG_WARNINGS = [
    f"warning {k} is long, because it explains what to do about it " * 3 for k in range(30)
]


@pytest.fixture(params=[80, 100])
def width(request, monkeypatch):
    monkeypatch.setattr(conventions, "text_width", lambda: request.param)
    return request.param


def brief_lines(card, width, files=FILES):
    return to_text(brief(model_document(card, "m.skops"), files), width=width).splitlines()


@pytest.mark.parametrize("make", [model_card, source_card])
def test_many_long_warnings_are_counted(make, width):
    lines = brief_lines(make() | {"warnings": LONG_WARNINGS}, width)
    assert len(lines) <= MOST_LINES + 1, "the first warning is shown whatever its length"
    assert lines[0].startswith("Check it with labels: ")
    assert lines[-1].strip().startswith("decorrupt evaluate m.skops")
    text = "\n".join(lines)
    n_shown = text.count("- Warning")
    assert "- Warning 0 is long" in text
    assert f"- {30 - n_shown} more warnings: see -v" in text
    assert "folder/model.skops" in text
    assert "folder/model.html" in text


def test_details_are_shown_if_asked_for():
    document = inspection_document(inspection(), "decorrupt fit")
    assert len(shown(document, verbose=True)) == len(document.sections)
    assert [one.name for one in shown(document, verbose=False)] == ["verdict", "against", "data"]


def test_the_command_that_inspect_prints_runs_as_printed(command, files, tmp_path, monkeypatch):
    """Names with spaces and quotes are quoted; options of inspect alone are left out."""
    monkeypatch.chdir(tmp_path)
    rows = files.tables.rows.rename(columns={"bag": "the 'bag'"}).assign(id=range(300))
    rows.to_csv("my rows.csv", index=False)
    bags = files.tables.bags.rename(columns={"bag": "the 'bag'", "rate": "$rate"})
    bags.to_csv("my $bags.csv", index=False)
    options = ("--bag-column", "the 'bag'", "--proportion-column", "$rate", "--drop", "noise")
    own = ("--seed", 3, "--report", "i.html", "--verbose")
    done = command("inspect", "my rows.csv", "my $bags.csv", *options, *own)
    assert done.code == 0, done.err
    (printed,) = (line for line in done.out.splitlines() if line.startswith("    decorrupt fit"))
    words = shlex.split(printed)
    assert words[-4:] == ["-o", "model.skops", "--report", "model.html"]
    assert words[words.index("--seed") + 1] == "3"
    assert not {"i.html", "--verbose"} & set(words)
    ran = run_bash("-euc", printed)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "model.html").exists()
    card = json.loads(command("explain", "model.skops", "--json").out)
    assert [column["name"] for column in card["columns"]] == ["age", "income", "town"]


def test_the_commands_after_a_fit_run_as_printed(command, files, tmp_path, monkeypatch):
    """With the file names that they name as an example."""
    monkeypatch.chdir(tmp_path)
    arguments = [*files.fit, "-o", "my 'model'.skops"]
    printed = command(*arguments).out.splitlines()[-1].strip()
    pd.read_csv(files.test).to_csv("new_rows.csv", index=False)
    ran = run_bash("-euc", printed)
    assert ran.returncode == 0, ran.stderr
    assert len(pd.read_csv("predictions.csv")) == 200
    with monkeypatch.context() as patched:
        patched.setattr("decorrupt.app.training.verdict.WIDEST", 0.0)  # now it is to be checked
        printed = command(*arguments, "--force").out.splitlines()[-1].strip()
    pd.read_csv(files.test).to_csv("labelled_rows.csv", index=False)
    ran = run_bash("-euc", printed.replace("LABEL", "1"))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("Verdict\n  Usable: balanced accuracy 0.")


def test_evaluate_warns_of_the_bags_that_the_model_was_trained_on(command, files, tmp_path):
    words = "these are the bags that it was trained on"
    done = command("evaluate", files.model, *files.given)
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert text.startswith(f"Verdict Check it with labels: {words}")
    assert "balanced accuracy" not in text, "a number that cannot be trusted"
    assert "held-out" not in text
    done = command("evaluate", files.model, *files.given, "--json")
    assert words in done.err
    kept = files.tables.rows["bag"].isin(files.tables.bags["bag"][:29])
    files.tables.rows[kept].to_csv(tmp_path / "other.csv", index=False)
    files.tables.bags[:29].to_csv(tmp_path / "bags.csv", index=False)
    other = command("evaluate", files.model, tmp_path / "other.csv", tmp_path / "bags.csv",
                    *files.in_bags)  # fmt: skip
    assert other.code == 0, other.err
    assert words not in " ".join((other.out + other.err).split()).lower()
    assert other.out.startswith("Verdict\n  Usable: the bags show that it is better than guessing")


# --- no control character reaches the terminal


# Clear the screen, set the title of the window, backspaces, C1, and text from right to left.
EVIL = "a\x1b[2J\x1b]0;title\x07\x08\x08\x9b31m\u202egpj\u2066\x7f\rb"


def test_every_control_character_is_an_escape():
    for code in [*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066, 0x200F]:
        assert printable(f"a{chr(code)}b") == f"a{ascii(chr(code))[1:-1]}b"
    assert printable("Zoë ∝ 漢字\n\té") == "Zoë ∝ 漢字\n\té"
    assert one_line("a\n b\tc\rd") == "a b c\\rd"


def test_errors_warnings_notes_and_log_lines(capsys, monkeypatch):
    print_error_line("error", EVIL)
    Output().warn([EVIL])
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    assert not console().is_terminal or console().no_color
    Output().tell([EVIL])
    shown = capsys.readouterr().err
    assert shown.count("a\\x1b[2J") == 3
    assert not CONTROL.search(shown)


def test_log_lines(command, capsys):
    from decorrupt.app.cli.conventions import _lines_on_stderr

    with _lines_on_stderr():
        log_step(EVIL + "\nsecond line")
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert not CONTROL.search(shown)
    assert not logging.getLogger("decorrupt").handlers


def test_json_has_escapes_and_the_same_value(capsys):
    Output(as_json=True).result({EVIL: EVIL, "é": "漢"}, [])
    shown = capsys.readouterr().out
    assert not CONTROL.search(shown)
    assert json.loads(shown) == {EVIL: EVIL, "é": "漢"}
    assert "漢" in shown


@pytest.fixture
def evil_table(files, tmp_path):
    rows = pd.read_csv(files.rows).rename(columns={"age": "age\x1b[2J\x9b31m\u202e"})
    rows["town"] += "\x1b[31m"
    rows.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def test_column_names(command, files, evil_table, tmp_path):
    given = (evil_table, files.bags, *files.in_bags)
    model = tmp_path / "m.skops"
    shown = [
        command("inspect", *given),
        command("fit", *given, *QUICK_FIT, "-v", "-o", model),
        command("explain", model),
        command("explain", model, "--json"),
        command("fit", *given, "--drop", "\x1b[2J", "-o", tmp_path / "n.skops"),
        command("predict", model, files.test),
    ]
    assert [one.code for one in shown] == [0, 0, 0, 0, 2, 2]
    for one in shown:
        assert not CONTROL.search(one.out + one.err)
    assert "age\\x1b[2J" in shown[2].out


def test_the_metadata_of_a_model_file(command, files, tmp_path):
    model, card = load_with_metadata(files.model)
    card["warnings"] = [EVIL]
    card["created"] = EVIL
    card["versions"] = {EVIL: EVIL}
    save(model, tmp_path / "m.skops", card)
    for done in (command("explain", tmp_path / "m.skops"), command("explain", files.model)):
        assert done.code == 0
        assert not CONTROL.search(done.out + done.err)
