"""The installed command on files on disk: every input form, both situations, kills."""

import os
import runpy
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from helpers.quick import QUICK_FIT
from helpers.shell import run_bash

DECORRUPT = Path(sys.executable).parent / "decorrupt"


def installed(*arguments, stdin=None):
    """Run the installed command in a process of its own."""
    command = [str(DECORRUPT), *map(str, arguments)]
    environment = os.environ | {"NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(  # noqa: S603 — our own command
        command, input=stdin, capture_output=True, text=True, check=False, env=environment
    )


def test_a_query_over_a_file_chooses_rows(command, files):
    done = command("predict", files.model, files.test, "--sql", "select * from rows limit 7")
    assert len(done.out.split()) == 8
    query = "select *, id as number from rows"  # its header is not that of the file
    done = command("predict", files.model, files.test, "--sql", query, "--keep", "number")
    assert done.code == 0, done.err
    assert done.out.startswith("number,prediction\n0,")


def test_bags_from_installation_to_answer(files, tmp_path):
    """The three commands of a newcomer, through pipes where they can."""
    model, answer = tmp_path / "m.skops", tmp_path / "answer.parquet"
    arguments = [files.bags, *files.in_bags, *QUICK_FIT, "-o", model]
    done = installed("fit", "-", *arguments, stdin=files.rows.read_text())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usable: ")
    assert "decorrupt predict" in done.stdout
    assert done.stderr == ""
    done = installed("predict", model, files.test, "--keep", "id", "-o", answer)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    said = pd.read_parquet(answer)
    assert balanced_accuracy_score(files.tables.test_labels, said["prediction"]) > 0.8


QUERIES = {
    "rows.csv": "select 1 as a, 1 as bag, 0.5 as rate from range(1000000000) x, range(1000000) y, "
    "rows where (x.range * y.range) % 1000000007 = -1",
    "rows.db": "with recursive c(x) as (select 1 union all select x + 1 from c) "
    "select x as a, x as bag, x as rate from c where x < 0",
}
CODE = (
    "from decorrupt.app.tables import engine\n"
    "engine.PATIENCE = 0.2\n"
    "from decorrupt.app.cli import main\n"
    "main()"
)


@pytest.mark.parametrize(
    ("name", "sent", "code"),
    [
        ("rows.csv", signal.SIGINT, 130),
        ("rows.csv", signal.SIGTERM, 143),
        ("rows.db", signal.SIGINT, 130),
    ],
)
def test_a_query_without_an_end_is_reported_and_can_be_stopped(tmp_path, name, sent, code):
    (tmp_path / "rows.csv").write_text("a,bag,rate\n1,x,0.5\n")
    sqlite3.connect(tmp_path / "rows.db").execute("create table t(a)").connection.close()
    options = ("--sql", QUERIES[name], "--bag-column", "bag", "--proportion-column", "rate", "-v")
    with subprocess.Popen(  # noqa: S603 — our own code
        [sys.executable, "-c", CODE, "inspect", str(tmp_path / name), *options],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    ) as process:
        line = process.stderr.readline()
        process.send_signal(sent)
        rest = process.stderr.read()
        assert process.wait() == code
    assert "running the query for" in line
    assert "Traceback" not in rest
    assert ("error: interrupted" in rest) == (sent == signal.SIGINT)


# --- the worked examples


EXAMPLE = Path(__file__).parents[3] / "examples" / "german_credit.sh"
DATA = "german_categorical.csv.gz"


def test_example(tmp_path):
    folder = os.environ.get("DECORRUPT_DATA")
    if not folder or not (Path(folder) / DATA).exists():
        pytest.skip(f"set DECORRUPT_DATA to a directory with {DATA}")
    done = run_bash(EXAMPLE, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "balanced accuracy" in done.stdout
    predictions = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert predictions["probability"].between(0, 1).all()


def test_without_the_data_the_example_says_so(tmp_path):
    done = run_bash(EXAMPLE, tmp_path / "out", DECORRUPT_DATA=str(tmp_path))
    assert done.returncode == 77
    assert DATA in done.stderr


# --- the tables of examples/wards


EXAMPLES = Path(__file__).parents[3] / "examples"
WARDS = EXAMPLES / "wards"


def test_the_script_makes_the_tables(tmp_path):
    runpy.run_path(str(EXAMPLES / "make_wards.py"))["main"](tmp_path)
    for file in WARDS.glob("*.csv"):
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / file.name), pd.read_csv(file))


def test_misspelt_labels_are_not_read_as_negative(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    in_wards = (WARDS / "patients.csv", WARDS / "wards.csv", *QUICK_FIT, "-o", "model.skops")
    new = pd.read_csv(WARDS / "new_patients.csv")
    by_labels = ("evaluate", "model.skops", "new.csv", "--label-column", "diagnosis")
    assert command("fit", *in_wards).code == 0
    new[new["diagnosis"] == "benign"].to_csv("new.csv", index=False)
    done = command(*by_labels)
    assert done.code == 2
    assert "labelled rows contain no 'malignant': column 'diagnosis' contains 'benign'" in done.err
    new.loc[new["diagnosis"].eq("malignant") & (new.index % 3 == 0), "diagnosis"] = "Malignant"
    new.to_csv("new.csv", index=False)
    done = command(*by_labels)
    assert done.code == 2
    assert "contains 'Malignant', 'benign' besides 'malignant'" in done.err
    assert done.err.rstrip().endswith("give --positive-label malignant")
    assert command(*by_labels, "--positive-label", "malignant").err == ""
    assert command("fit", *in_wards, "--positive-label", "malignant", "--force").code == 0
    done = command(*by_labels)
    assert done.code == 0
    assert "column 'diagnosis': 'Malignant', 'benign' are read as negative" in done.err
