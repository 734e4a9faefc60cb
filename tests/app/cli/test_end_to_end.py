"""The installed command on files on disk: every input form, both situations, kills."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from helpers.quick import QUICK_FIT

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
