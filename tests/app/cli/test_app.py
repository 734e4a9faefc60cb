"""What every command promises: help at once, one line for every failure, the right exit code."""

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import decorrupt
from decorrupt.app.cli.app import app, failure

COMMANDS = [info.callback.__name__ for info in app.registered_commands]
DOCS = Path(__file__).parents[3] / "docs"


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


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(command, name):
    done = command(name, "--help")
    assert done.code == 0
    assert "Usage" in done.out
    assert done.err == ""


def test_version(command):
    done = command("--version")
    assert (done.code, done.out) == (0, f"decorrupt {decorrupt.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "nonsense"),
        (["fit"], "ROWS"),
        (["fit", "rows.csv"], "--output"),
        (["fit", "rows.csv", "-o", "m.skops", "--fold", "2"], "--fold"),
        (["fit", "rows.csv", "-o", "m.skops", "--folds", "x"], "--folds"),
        (["fit", "rows.csv", "-o", "m.skops", "--folds", "1"], "--folds"),
        (["fit", "rows.csv", "-o", "m.skops", "--seed", "-1"], "--seed"),
        (["fit", "rows.csv", "-o", "m.skops", "--jobs", "0"], "--jobs"),
        (["fit", "rows.csv", "-o", "m.skops", "--report", "./m.skops"], "named for two outputs"),
        (["fit", "no.csv", "-o", "m.skops"], "no.csv"),
        (["evaluate", "m.skops", "no.csv"], "--label-column"),
        (["explain", "no.skops"], "no.skops"),
        (["bound"], "--proportions"),
        (["bound", "--proportions", "0.2,x", "--sizes", "10"], "--proportions '0.2,x'"),
        (["bound", "--proportions", "0.2,0.4"], "--sizes is missing"),
        (["demo", "--data", "iris"], "'iris': choose one of breast-cancer, digits, wine"),
        (["predict", "m.skops", "rows.csv", "--config", "no.toml"], "no.toml: cannot be read"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(command, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where no earlier demo has left its files
    done = command(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert words.lower() in done.err.lower()


def test_a_defect_is_one_line_and_exit_code_1():
    assert failure(RuntimeError("boom")) == (
        "RuntimeError: boom: this is a bug; please report it",
        1,
    )
    assert failure(OSError(28, "No space left on device", "out.csv")) == (
        "out.csv: No space left on device",
        1,
    )


def test_an_interrupt_is_exit_code_130(command, monkeypatch):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("decorrupt.app.training.bound.bound_bags", interrupted)
    done = command("bound", "--proportions", "0.2,0.4", "--sizes", "10")
    assert done.code == 130
    assert "Traceback" not in done.err


def test_bound_says_how_many_rows_it_takes(command):
    options = ["--proportions", "0.6,0.4", "--sizes", "100", "--target-size", "400"]
    done = command("bound", *options, "--json")
    assert json.loads(done.out)["required"]["effective_sample_size"]["n_rows"] == 10_000
    assert "needs 10,000 rows, 50 times" in command("bound", *options).out


def test_bounds_of_tables(command, files, tmp_path):
    done = command("bound", files.bags, "--proportion-column", "rate", "--size-column", "positives")
    assert done.code == 2
    assert "sizes of bag" in done.err
    rates = tmp_path / "rates.csv"
    rates.write_text(
        "source,flip_pos,flip_neg,rows,class_prior\na,.1,.1,1000,.5\nb,.3,.2,2000,.2\n"
    )
    found = json.loads(command("bound", "--noise-rates", rates, "--json").out)
    assert (found["theorem"], found["n_rows"]) == (3, 3000)


def test_standard_input_is_read_once(command, monkeypatch):
    rates = b"source,flip_pos,flip_neg,rows\na,.1,.1,1000\nb,.3,.2,2000\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rates)))
    found = json.loads(command("bound", "--noise-rates", "-", "--json").out)
    assert (found["theorem"], found["n_rows"]) == (2, 3000)


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
