"""Wrong options and files are refused before the scientific libraries are imported."""

import json
import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from helpers.quick import QUICK_FIT

HEAVY = ("numpy", "scipy", "sklearn", "pandas", "matplotlib", "jinja2")
IN_BAGS = ["--bag-column", "bag", "--proportion-column", "rate"]
# Reads commands, runs them, and prints of each its exit code, what it loaded, and its message.
CODE = f"""
import contextlib, io, json, sys
from decorrupt.app.cli.app import run
found = []
for arguments in json.load(sys.stdin):
    before = set(sys.modules)
    with contextlib.redirect_stderr(io.StringIO()) as said:
        code = run(arguments)
    loaded = [name for name in {(*HEAVY, "duckdb")!r} if name in sys.modules and name not in before]
    found.append([code, loaded, said.getvalue()])
print(json.dumps(found))
"""


def all_refused(folder, *commands):
    """Run the commands in one process of their own: exit codes, heavy modules, and messages."""
    done = subprocess.run(  # noqa: S603 — our own code
        [sys.executable, "-c", CODE],
        input=json.dumps([list(map(str, arguments)) for arguments in commands]),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=os.environ | {"NO_COLOR": "1"},
    )
    return json.loads(done.stdout)


REFUSED = [
    (["fit", "no.csv", *IN_BAGS, "-o", "x.skops"], "no.csv: no such file"),
    (["fit", "rows.csv", "no.csv", *IN_BAGS, "-o", "x.skops"], "no.csv: no such file"),
    (["fit", "rows.csv", "bags.csv", *IN_BAGS, "-o", "x.pkl"], "must end in .skops"),
    (["fit", "rows.csv", *IN_BAGS[2:], "-o", "x.skops"], "either --bag-column"),
    (
        ["fit", "rows.csv", "bags.csv", *IN_BAGS, "--method", "magic", "-o", "x.skops"],
        "unknown --method 'magic'",
    ),
    (["predict", "no.skops", "rows.csv"], "no.skops: no such file"),
    (["predict", "model.skops", "no.csv"], "no.csv: no such file"),
    (["evaluate", "model.skops", "no.csv", "--label-column", "label"], "no.csv: no such file"),
    (["explain", "no.skops"], "no.skops: no such file"),
    (
        ["bags", "no.csv", "--label-column=label", "--by=town,x", "-o=r", "--bags-output=b"],
        "no.csv: no such file",
    ),
    (["demo", "--data", "iris"], "'iris': choose one of breast-cancer"),
]


def test_a_refusal_loads_nothing_heavy(files):
    found = all_refused(files.folder, *(arguments for arguments, _ in REFUSED))
    for (arguments, words), (code, loaded, said) in zip(REFUSED, found, strict=True):
        assert (code, loaded) == (2, []), arguments
        assert words in said
        assert said.count("\n") == 1, said


MISSPELT = [
    (
        ["fit", "rows.csv", "bags.csv", "--bag-column", "baag", *IN_BAGS[2:], "-o", "x.skops"],
        "rows.csv: there is no column 'baag' (--bag-column); the columns are 'bag', 'age', "
        "'income', 'noise', 'town'; did you mean 'bag'?",
    ),
    (["fit", "rows.csv", *IN_BAGS, "-o", "x.skops"], "no column 'rate' (--proportion-column)"),
    (
        ["fit", "rows.csv", "bags.csv", *IN_BAGS, "--drop", "age,agee", "-o", "x.skops"],
        "no column 'agee' (--drop)",
    ),
    (["inspect", "rows.csv", "bags.csv", *IN_BAGS, "--features", "agge"], "did you mean 'age'?"),
    (
        ["inspect", "noisy.csv", "--label-column", "sayz", "--estimate-noise-rates"],
        "no column 'sayz' (--label-column)",
    ),
    (["predict", "model.skops", "test.csv", "--keep", "idd"], "no column 'idd' (--keep)"),
    (
        ["bags", "test.csv", "--label-column=label", "--by=town,x", "-o=r", "--bags-output=b"],
        "no column 'x' (--by)",
    ),
    (["bound", "bags.csv", "--proportion-column", "rate"], "no column 'rows' (--size-column)"),
    (
        ["predict", "model.skops", "rates.csv", "-o", "x.csv"],
        "rates.csv: the model needs columns that are missing: 'age' (number)",
    ),
]


@pytest.mark.parametrize(("arguments", "words"), MISSPELT)
def test_a_misspelt_column_is_one_line_and_leaves_no_file(
    command, files, tmp_path, arguments, words
):
    named = [files.folder / one if (files.folder / one).exists() else one for one in arguments]
    with chdir(tmp_path):
        done = command(*named)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1, done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["inspect", "fit", "predict", "evaluate", "bags"])
def test_every_table_is_opened_once(command, files, tmp_path, monkeypatch, name):
    opened, real = [], Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda path, *mode, **more: (opened.append(path.name), real(path, *mode, **more))[1],
    )
    model = ["-o", tmp_path / "m.skops", *QUICK_FIT] if name == "fit" else []
    in_bags = [files.rows, files.bags, *files.in_bags]
    of_labels = ["--label-column", "label"]
    arguments = {
        "inspect": in_bags,
        "fit": [*in_bags, *model],
        "predict": [files.model, files.test, "-o", tmp_path / "p.csv"],
        "evaluate": [files.model, files.test, *of_labels],
        "bags": [files.test, *of_labels, "--bag-size=10", "-o", tmp_path / "r.csv"],
    }[name]
    more = ["--bags-output", tmp_path / "b.csv"] if name == "bags" else []
    assert command(name, *arguments, *more).code == 0
    tables = ["rows.csv", "bags.csv"] if name in ("inspect", "fit") else ["test.csv"]
    assert [one for one in opened if one in ("rows.csv", "bags.csv", "test.csv")] == tables


def test_with_a_query_the_header_of_the_file_is_not_the_header_of_the_rows(command, files):
    query = "select *, id as number from rows"
    done = command("predict", files.model, files.test, "--sql", query, "--keep", "number")
    assert done.code == 0, done.err
    assert done.out.startswith("number,prediction\n0,")


def test_the_shell_completes_commands_and_options():
    code = "import sys\nfrom decorrupt.app.cli.app import main\nsys.argv = ['decorrupt']\nmain()"
    for words, place, expected in (
        ("decorrupt expl", 1, ["explain"]),
        ("decorrupt fit --kern", 2, ["--kernel", "--kernel-gamma"]),
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
