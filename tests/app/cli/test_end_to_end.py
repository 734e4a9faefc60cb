"""The installed command on files on disk: every input form, both situations, kills."""

import gzip
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from decorrupt.model_files import load_with_metadata
from helpers.quick import QUICK_FIT

DECORRUPT = Path(sys.executable).parent / "decorrupt"


def installed(*arguments, stdin=None):
    """Run the installed command in a process of its own."""
    command = [str(DECORRUPT), *map(str, arguments)]
    environment = os.environ | {"NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(  # noqa: S603 — our own command
        command, input=stdin, capture_output=True, text=True, check=False, env=environment
    )


def write_form(frame, folder, form):
    """Write a table in one of the forms; return the arguments that read it."""
    path = folder / f"rows.{form}"
    if form in ("csv", "csv.gz"):
        frame.to_csv(path, index=False)
    elif form == "txt":
        frame.to_csv(path, index=False, sep=";")
    elif form == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif form in ("jsonl", "ndjson.gz"):
        records = frame.astype(object).where(frame.notna(), None).to_dict("records")
        text = "\n".join(map(json.dumps, records))
        path.write_bytes(gzip.compress(text.encode()) if form.endswith("gz") else text.encode())
    elif form == "parquet":
        frame.to_parquet(path)
    elif form == "sqlite":
        with sqlite3.connect(path) as connection:
            frame.to_sql("people", connection, index=False)
        connection.close()
        return [path, "--sql", "select * from people"]
    else:
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table people as select * from frame")
        return [path, "--sql", "select * from people"]
    return [path]


FORMS = ["csv", "csv.gz", "txt", "tsv", "jsonl", "ndjson.gz", "parquet", "sqlite", "duckdb"]


def test_every_form_of_rows_gives_the_same_predictions(command, files, tmp_path):
    expected = command("predict", files.model, files.test, "--proba", "--keep", "id").out
    for form in FORMS:
        # DuckDB reads every digit; the default of older versions of pandas does not.
        rows = duckdb.read_csv(str(files.test)).df()
        where = write_form(rows, tmp_path, form)
        done = command("predict", files.model, *where, "--proba", "--keep", "id")
        assert done.code == 0, done.err
        assert done.out == expected, form


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


def test_sources_from_training_to_answer(command, files, tmp_path, monkeypatch):
    model = tmp_path / "m.skops"
    labels = ["--label-column", "says", "--positive-label", "sick", "--source-column", "who"]
    options = ["--noise-rates", files.rates, "--method", "forward"]
    done = command("fit", files.noisy, *labels, *options, "-o", model)
    assert done.code == 0, done.err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(files.test.read_bytes())))
    said = [line == "sick" for line in command("predict", model, "-").out.split()[1:]]
    assert balanced_accuracy_score(files.tables.test_labels, said) > 0.8


def test_failures_of_the_installed_command(files, tmp_path):
    broken = tmp_path / "cut.skops"
    broken.write_bytes(files.model.read_bytes()[:2000])
    done = installed("predict", broken, files.test)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


KILLER = """
import os, signal, sys, time
from pathlib import Path
from decorrupt.app.cli.app import run
arguments, target, moments = sys.argv[3:], Path(sys.argv[1]), int(sys.argv[2])
if run(arguments):  # and everything is imported
    sys.exit(1)
began = time.perf_counter()
run(arguments)
took = time.perf_counter() - began
for moment in range(moments):
    target.write_bytes(b"old")
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(run(arguments))
    time.sleep(took * 1.1 * moment / (moments - 1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left = target.read_bytes()
    if left != b"old":
        target.with_suffix(".new" + str(moment)).write_bytes(left)
    print("old" if left == b"old" else "whole" if len(left) else "empty")
"""


def killed_at_all_moments(target, *arguments, moments=6):
    """Kill a command at moments spread over its run; return what was left each time."""
    command = [sys.executable, "-c", KILLER, str(target), str(moments), *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(  # noqa: S603 — our own code
        command, capture_output=True, text=True, check=True, env=environment
    )
    return [line for line in done.stdout.split("\n") if line in ("old", "whole", "empty")]


def test_killing_predict_leaves_the_old_file_or_the_new_one(files, tmp_path):
    rows, target = tmp_path / "rows.csv", tmp_path / "p.csv"
    pd.concat([files.tables.test] * 30).to_csv(rows, index=False)
    arguments = ["predict", files.model, rows, "--proba", "--force", "-o", target]
    left = killed_at_all_moments(target, *arguments)
    assert len(left) == 6
    assert left[0] == "old"
    for new in tmp_path.glob("p.new*"):
        assert len(pd.read_csv(new)) == 6000


def test_killing_fit_leaves_the_old_model_or_the_new_one(files, tmp_path):
    target = tmp_path / "m.skops"
    shutil.copy(files.model, target)
    options = [*files.in_bags, *QUICK_FIT, "--drop", "noise,town"]
    arguments = ["fit", files.rows, files.bags, *options, "--force", "-o", target]
    left = killed_at_all_moments(target, *arguments)
    assert len(left) == 6
    assert left[0] == "old"
    for new in tmp_path.glob("m.new*"):
        _, card = load_with_metadata(str(new))
        assert [column["name"] for column in card["columns"]] == ["age", "income"]


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
