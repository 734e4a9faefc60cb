"""What every command promises: help at once, one line for every failure, the right exit code."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

import decorrupt
from decorrupt.app.cli.app import app, failure

COMMANDS = [info.callback.__name__ for info in app.registered_commands]


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom decorrupt.app.cli.app import run\n"
        "assert run(['fit', '--help']) == 0 and run([]) == 0\n"
        "heavy = ('numpy', 'sklearn', 'pandas', 'duckdb', 'matplotlib', 'jinja2')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(  # noqa: S603 — our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("[]")
    for name in COMMANDS:
        assert name in done.stdout


def test_version(command):
    done = command("--version")
    assert (done.code, done.out) == (0, f"decorrupt {decorrupt.__version__}\n")


def test_a_defect_is_one_line_and_exit_code_1():
    assert failure(RuntimeError("boom")) == (
        "RuntimeError: boom: this is a bug; please report it",
        1,
    )
    assert failure(OSError(28, "No space left on device", "out.csv")) == (
        "out.csv: No space left on device",
        1,
    )


@pytest.mark.usefixtures("quick_demo")
@pytest.mark.parametrize(
    ("data", "size", "measure"),
    [("breast-cancer", 8, "balanced_accuracy"), ("wine", 4, "macro_recall")],
)
def test_the_demo(command, tmp_path, data, size, measure):
    done = command("demo", "--data", data, "--bag-size", size, "-o", tmp_path / "out", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    from_bags, from_labels = found["test"]["models"].values()
    assert from_bags[measure]["value"] > 0.8
    assert from_labels[measure]["value"] > 0.9
    assert len(found["labels"]["classes"]) == (3 if data == "wine" else 2)
    assert Path(found["model"]).exists()
    assert found["page"] is None or Path(found["page"]).exists()
    assert command("demo", "-o", tmp_path / "out").code == 2


def test_a_terminated_command_leaves_no_rows_behind(tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    arguments = ["inspect", "-", "--bag-column", "bag", "--proportion-column", "share"]
    with subprocess.Popen(  # noqa: S603 — our own command
        [Path(sys.executable).parent / "decorrupt", *arguments],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        process.stdin.write(b"bag,share,x\n" + b"1,0.5,3\n" * 100_000)
        process.stdin.flush()  # and no end of it: the command goes on reading
        while not list(tmp_path.iterdir()) and process.poll() is None:
            time.sleep(0.05)
        process.terminate()
        process.stdin.close()
        assert process.wait() == 143
    assert list(tmp_path.iterdir()) == []


def test_without_its_libraries_the_command_says_what_to_install():
    code = "import sys\nsys.modules['typer'] = None\nfrom decorrupt.app.cli import main\nmain()"
    done = subprocess.run(  # noqa: S603 — our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "error: the command line needs typer: pip install 'decorrupt[cli]'\n"


def test_the_shell_completes_commands_and_options():
    code = "import sys\nfrom decorrupt.app.cli.app import main\nsys.argv = ['decorrupt']\nmain()"
    for words, place, expected in (
        ("decorrupt expl", 1, ["explain"]),
        ("decorrupt fit --count-c", 2, ["--count-column", "--count-columns"]),
    ):
        asked = {
            "_DECORRUPT_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(place),
        }
        done = subprocess.run(  # noqa: S603 — our own code
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | asked,
        )
        assert done.stdout.split() == expected


# --- help


COMMANDS_HELP = {info.callback.__name__: info.callback for info in app.registered_commands}
GROUP = typer.main.get_command(app)


def flags_of(name):
    return {flag for param in GROUP.commands[name].params for flag in param.opts if "-" in flag}


@pytest.mark.parametrize("name", COMMANDS_HELP)
def test_no_option_is_cut_and_no_line_is_too_long(command, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    done = command(name, "--help")
    assert (done.code, done.err) == (0, "")
    for flag in flags_of(name):
        assert re.search(rf" {flag}[ ,\n]", done.out), flag
    assert max(map(len, done.out.splitlines())) <= 80
    assert "..." not in command("--help").out.split("Commands:")[1], "a summary is cut"


@pytest.mark.parametrize("name", COMMANDS_HELP)
def test_every_command_has_examples_that_parse(name):
    paragraphs = [" ".join(one.split()) for one in COMMANDS_HELP[name].__doc__.split("\n\n")]
    examples = [one.removeprefix("Example: ") for one in paragraphs if one.startswith("Example: ")]
    assert examples
    for example in examples:
        program, own, *arguments = shlex.split(example)
        assert (program, own) == ("decorrupt", name)
        with GROUP.commands[name].make_context(name, arguments) as context:
            assert context.params
