"""Help: within the width of the terminal, with examples that parse."""

import re
import shlex

import pytest
import typer

from decorrupt.app.cli.app import app

COMMANDS = {info.callback.__name__: info.callback for info in app.registered_commands}
GROUP = typer.main.get_command(app)


def flags_of(name):
    return {flag for param in GROUP.commands[name].params for flag in param.opts if "-" in flag}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_cut_and_no_line_is_too_long(command, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    done = command(name, "--help")
    assert (done.code, done.err) == (0, "")
    for flag in flags_of(name):
        assert re.search(rf" {flag}[ ,\n]", done.out), flag
    assert max(map(len, done.out.splitlines())) <= 80
    assert "..." not in command("--help").out.split("Commands:")[1], "a summary is cut"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_that_parse(name):
    paragraphs = [" ".join(one.split()) for one in COMMANDS[name].__doc__.split("\n\n")]
    examples = [one.removeprefix("Example: ") for one in paragraphs if one.startswith("Example: ")]
    assert examples
    for example in examples:
        program, own, *arguments = shlex.split(example)
        assert (program, own) == ("decorrupt", name)
        with GROUP.commands[name].make_context(name, arguments) as context:
            assert context.params
