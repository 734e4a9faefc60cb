"""No control character of a table or a model file reaches the terminal."""

import json
import logging

import pandas as pd
import pytest

from decorrupt.app.cli.conventions import Output, console, print_error_line
from decorrupt.documents import Command, Facts, Section, Table, Text, to_text
from decorrupt.documents.formats import CONTROL, one_line, printable
from decorrupt.model_files import load_with_metadata, save
from decorrupt.progress import log_step
from helpers.quick import QUICK_FIT

# Clear the screen, set the title of the window, backspaces, C1, and text from right to left.
EVIL = "a\x1b[2J\x1b]0;title\x07\x08\x08\x9b31m\u202egpj\u2066\x7f\rb"


def test_every_control_character_is_an_escape():
    for code in [*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066, 0x200F]:
        assert printable(f"a{chr(code)}b") == f"a{ascii(chr(code))[1:-1]}b"
    assert printable("Zoë ∝ 漢字\n\té") == "Zoë ∝ 漢字\n\té"
    assert one_line("a\n b\tc\rd") == "a b c\\rd"


BLOCKS = [
    Text(EVIL),
    Text(EVIL, "note"),
    Command(EVIL),
    Facts([(EVIL, EVIL)]),
    Table("evil", EVIL, [EVIL, "n"], [[EVIL, 1], [{"text": EVIL}, None]]),
]


def test_blocks_of_a_document():
    shown = to_text([Section("evil", EVIL, BLOCKS)], width=80)
    assert not CONTROL.search(shown)
    assert shown.count("a\\x1b[2J") >= len(BLOCKS)


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
