"""Wrong options, files and columns are refused before the scientific libraries are imported."""

import json
import os
import subprocess
import sys

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
    (["fit", "rows.csv", "bags.csv", *IN_BAGS[2:], "-o", "x.skops"], "either --bag-column"),
    (
        ["fit", "rows.csv", "bags.csv", "--bag-column", "baag", *IN_BAGS[2:], "-o", "x.skops"],
        "rows.csv: there is no column 'baag' (--bag-column); the columns are ",
    ),
    (["fit", "rows.csv", *IN_BAGS, "-o", "x.skops"], "no column 'rate' (--proportion-column)"),
    (
        ["fit", "rows.csv", "bags.csv", *IN_BAGS, "--drop", "age,agee", "-o", "x.skops"],
        "no column 'agee' (--drop)",
    ),
    (
        ["fit", "rows.csv", "bags.csv", *IN_BAGS, "--method", "magic", "-o", "x.skops"],
        "unknown --method 'magic'",
    ),
    (["inspect", "rows.csv", "bags.csv", *IN_BAGS, "--features", "x"], "(--features)"),
    (
        ["inspect", "noisy.csv", "--label-column", "sayz", "--estimate-noise-rates"],
        "no column 'sayz' (--label-column)",
    ),
    (["predict", "no.skops", "rows.csv"], "no.skops: no such file"),
    (["predict", "model.skops", "test.csv", "--keep", "idd"], "no column 'idd' (--keep)"),
    (["evaluate", "model.skops", "no.csv", "--label-column", "label"], "no.csv: no such file"),
    (["explain", "no.skops"], "no.skops: no such file"),
    (
        ["bags", "test.csv", "--label-column=label", "--by=town,x", "-o=r", "--bags-output=b"],
        "no column 'x' (--by)",
    ),
    (["bound", "bags.csv", "--proportion-column", "rate"], "no column 'rows' (--size-column)"),
    (["demo", "--data", "iris"], "'iris': choose one of breast-cancer"),
]


def test_a_refusal_loads_nothing_heavy(files):
    found = all_refused(files.folder, *(arguments for arguments, _ in REFUSED))
    for (arguments, words), (code, loaded, said) in zip(REFUSED, found, strict=True):
        assert (code, loaded) == (2, []), arguments
        assert words in said
        assert said.count("\n") == 1, said


def test_a_column_missing_from_a_parquet_file_is_refused_without_pandas(files, tmp_path):
    files.tables.rows.to_parquet(tmp_path / "rows.parquet")
    arguments = ["fit", "rows.parquet", files.bags, "--bag-column", "baag", *IN_BAGS[2:]]
    ((code, loaded, said),) = all_refused(tmp_path, [*arguments, "-o", "x.skops"])
    assert (code, loaded) == (2, ["duckdb"])  # which alone is quick to import
    assert "rows.parquet: there is no column 'baag'" in said


def test_a_column_the_model_needs_is_refused_without_loading_the_model(files, tmp_path):
    files.tables.test.drop(columns=["age"]).to_csv(tmp_path / "new.csv", index=False)
    ((code, loaded, said),) = all_refused(tmp_path, ["predict", files.model, "new.csv"])
    assert (code, loaded) == (2, ["numpy"])  # which reads the file's arrays
    assert "new.csv: the model needs columns that are missing: 'age' (number)" in said


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
