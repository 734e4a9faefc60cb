"""The cheat sheet names commands, options, warnings and classes that exist."""

import importlib.util
import re
from pathlib import Path

import pytest
import typer

import decorrupt
from decorrupt.app.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = typer.main.get_command(app).commands


def load_script():
    spec = importlib.util.spec_from_file_location("sheet", DOCS / "make_cheat_sheet.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SHEET = load_script()
CARDS = (*SHEET.HAVE, *SHEET.VERDICTS, *SHEET.WARNINGS)
TYPED = " ".join(line.rstrip("\\") for card in CARDS for line in card.code)


@pytest.mark.parametrize("name", list(SHEET.sheets()))
def test_the_files_are_those_that_the_script_makes(name):
    assert (DOCS / "figures" / name).read_text() == SHEET.sheets()[name]


def test_every_command_has_its_options():
    calls = re.findall(
        r"decorrupt (\w+)((?:(?!decorrupt ).)*)", TYPED.partition("from decorrupt")[0]
    )
    assert len(calls) == 8
    for command, rest in calls:
        known = {flag for option in COMMANDS[command].params for flag in option.opts}
        assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", rest)) <= known, command


def test_the_page_has_the_commands_as_text():
    page = (DOCS / "learn" / "cheat_sheet.md").read_text()
    for card in SHEET.HAVE:
        assert "\n".join(card.code) in page, card.head


def test_every_class_and_function_exists():
    told = " ".join([TYPED, *(card.text for card in CARDS)])
    kinds = r"\b[A-Z]\w+(?:Classifier|Inference|Scaler)\b"
    names = set(re.findall(rf"{kinds}|estimate_noise_rates_from_\w+|bag_targets", told))
    assert len(names) == 8
    assert names <= set(decorrupt.__all__)
