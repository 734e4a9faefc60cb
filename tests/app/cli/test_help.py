"""Help: options in panels, in plain words, within the width of the terminal."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import typer

from decorrupt import glossary
from decorrupt.app.cli.app import app
from decorrupt.app.cli.help import OTHERS, OWN_PANELS, PANELS, examples

COMMANDS = {info.callback.__name__: info.callback for info in app.registered_commands}
GROUP = typer.main.get_command(app)


def flags_of(name):
    return {flag for param in GROUP.commands[name].params for flag in param.opts if "-" in flag}


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_cut_and_no_line_is_too_long(command, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = command(name, "--help").out
    for flag in flags_of(name):
        assert re.search(rf"[ │,]{flag}[ ,\n]", text), flag
    assert max(map(len, text.splitlines())) <= columns
    assert "…" not in text
    assert "bool" not in text.lower()


def test_the_help_of_fit_is_short(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert len(command("fit", "--help").out.splitlines()) <= 110


def test_the_panels_of_fit_are_in_order(command):
    titles = re.findall(r"─ ([A-Z][a-z ]+?) ─", command("fit", "--help").out)
    assert titles == list(PANELS)


def test_the_panels_of_commands(command):
    titles = re.findall(r"─ ([A-Z][a-z ]+?) ─", command("--help").out)
    assert titles == ["Start", "Prepare", "Research", OTHERS]


def test_panels_name_what_exists():
    known = {param.name for one in GROUP.commands.values() for param in one.params} | {"help"}
    assert {name for names in PANELS.values() for name in names} <= known
    for name, panels in OWN_PANELS.items():
        own = {param.name for param in GROUP.commands[name].params}
        assert {one for names in panels.values() for one in names} <= own


def test_fit_has_three_examples():
    assert len(examples(COMMANDS["fit"].__doc__)) == 3


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_that_parse(name):
    found = examples(COMMANDS[name].__doc__)
    assert found
    for example in found:
        program, own, *arguments = shlex.split(example)
        assert (program, own) == ("decorrupt", name)
        with GROUP.commands[name].make_context(name, arguments) as context:
            assert context.params


def test_a_long_example_can_be_copied(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = command("fit", "--help").out
    shown = text.replace("\\\n", " ")
    for example in examples(COMMANDS["fit"].__doc__):
        assert example in re.sub(" +", " ", shown)


def test_methods_lists_the_glossary(command):
    found = json.loads(command("methods", "--json").out)["methods"]
    of_bags = {one["name"] for one in found if one["for"] == "bags"}
    library = [*glossary.BAG_SEARCHES, *glossary.BAG_METHODS]
    assert of_bags == {name.replace("_", "-") for name in library}
    classes = {one["name"]: one["classes"] for one in found if one["for"] == "bags"}
    assert (classes["invcal"], classes["mean-map"]) == ("2", "2 or more")
    text = command("methods").out
    assert all(one["name"] in text for one in found)


def test_two_classes_only_is_what_the_estimators_say():
    from decorrupt.model_selection.candidates import CANDIDATES, takes_several_classes

    for name, candidate in CANDIDATES.items():
        takes_several = takes_several_classes(candidate.estimator)
        assert takes_several == (name not in glossary.FOR_TWO_CLASSES), name


def test_the_site_lists_every_option():
    pytest.importorskip("sphinx")
    sys.path.insert(0, str(Path(__file__).parents[3] / "docs" / "_extensions"))
    try:
        from command_reference import reference
    finally:
        sys.path.pop(0)
    text = reference()
    for name in COMMANDS:
        assert f"### decorrupt {name}\n" in text
        assert all(flag in text for flag in flags_of(name))
