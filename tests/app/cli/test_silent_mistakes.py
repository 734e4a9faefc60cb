"""Mistakes that used to pass without a word: each is a warning or an error now."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pandas as pd
import pytest

from decorrupt.app.training.name_lists import join_names, split_names
from decorrupt.model_files import load_with_metadata, save
from helpers.quick import QUICK_FIT

LABELS = ("--label-column", "label")


@pytest.fixture
def old_model(files, tmp_path):
    model, card = load_with_metadata(files.model)
    card["versions"]["scikit-learn"] = "1.2.3"
    save(model, tmp_path / "old.skops", card)
    return tmp_path / "old.skops"


@pytest.mark.parametrize("name", ["predict", "evaluate", "explain"])
def test_a_model_of_another_scikit_learn(command, files, old_model, name):
    rows = {"predict": (files.test,), "evaluate": (files.test, *LABELS), "explain": ()}[name]
    done = command(name, old_model, *rows)
    assert done.code == 0, done.err
    assert "made with scikit-learn 1.2.3" in done.err + done.out
    same = command(name, files.model, *rows)
    assert "scikit-learn 1.2.3" not in same.err + same.out
    assert "made with" not in same.err


def test_a_misspelt_environment_variable(command, files, monkeypatch):
    monkeypatch.setenv("DECORRUPT_FIT_METHDO", "mean-map")
    monkeypatch.setenv("DECORRUPT_DATA", "somewhere")
    monkeypatch.setenv("DECORRUPT_SEED", "3")
    done = command("explain", files.model)
    assert done.err == (
        "warning: the environment variable DECORRUPT_FIT_METHDO sets no option (did you mean "
        "DECORRUPT_FIT_METHOD?)\n"
    )
    assert command("predict", files.model, files.test, "-q").err == ""
    monkeypatch.setenv("DECORRUPT_QUIET", "1")
    assert command("predict", files.model, files.test).err == ""


def test_a_column_that_is_empty_at_prediction(command, files, tmp_path):
    rows = pd.read_csv(files.test).assign(income=None)
    rows.to_csv(tmp_path / "new.csv", index=False)
    done = command("predict", files.model, tmp_path / "new.csv")
    assert done.code == 0
    assert "column 'income' is empty in all rows" in done.err
    assert "'age'" not in done.err
    done = command("evaluate", files.model, tmp_path / "new.csv", *LABELS, "--json")
    assert "column 'income' is empty in all rows" in done.err
    assert command("predict", files.model, files.test).err == ""


@pytest.fixture
def own(files, tmp_path, monkeypatch):
    """A copy of the tables, with a link to each."""
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "bags.csv", "test.csv", "model.skops"):
        (tmp_path / name).write_bytes((files.folder / name).read_bytes())
        (tmp_path / f"link.{name}").symlink_to(tmp_path / name)
    (tmp_path / "link.skops").symlink_to("model.skops")
    (tmp_path / "link.csv").symlink_to("test.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("predict", "model.skops", "test.csv", "-o", "test.csv"), "test.csv"),
        (("predict", "model.skops", "test.csv", "-o", "./link.csv"), "./link.csv"),
        (("predict", "model.skops", "link.csv", "-o", "test.csv"), "test.csv"),
        (("predict", "link.skops", "test.csv", "-o", "model.skops"), "model.skops"),
        (("evaluate", "model.skops", "test.csv", *LABELS, "--report", "test.csv"), "test.csv"),
        (("inspect", "rows.csv", "bags.csv", "--report", "bags.csv"), "bags.csv"),
        (("fit", "rows.csv", "bags.csv", "-o", "m.skops", "--report", "rows.csv"), "rows.csv"),
        (
            (
                *("bags", "test.csv", *LABELS, "--bag-size", "5"),
                *("-o", "r.csv", "--bags-output", "link.csv"),
            ),
            "link.csv",
        ),
    ],
)
def test_an_output_that_is_an_input_is_refused(command, own, arguments, name):
    before = {path: path.read_bytes() for path in own.iterdir()}
    done = command(*arguments, "-f")
    assert done.code == 2
    assert done.err.startswith(f"error: {name} is also an input")
    assert {path: path.read_bytes() for path in own.iterdir()} == before


def test_lists_of_names():
    for names in (["a"], ["a, b", "c"], ['say "yes"', "x"], ["old\nage", "a\rb", "c"]):
        assert split_names(join_names(names)) == names


@pytest.fixture
def noisy(files, tmp_path):
    """Labels of sources, two of which are positive and have a comma."""
    rows = pd.read_csv(files.noisy)
    column = "says"
    values = sorted(rows[column].unique())
    names = {values[0]: "no", values[-1]: "yes, surely"}
    rows[column] = rows[column].map(names)
    rows.loc[rows[column].eq("yes, surely") & (rows.index % 2 == 0), column] = "yes, maybe"
    rows.to_csv(tmp_path / "noisy.csv", index=False)
    return tmp_path / "noisy.csv", column


def test_a_positive_label_with_a_comma(command, noisy, files, tmp_path):
    rows, column = noisy
    given = ("--label-column", column, "--estimate-noise-rates", "--method", "plain", "--folds", 2)
    both = '"yes, surely","yes, maybe"'
    model = tmp_path / "m.skops"
    done = command("fit", rows, *given, "--positive-label", both, "-o", model, "--json")
    assert done.code == 0, done.err
    assert list(json.loads(done.out)["class_shares"]) == ["no", both]
    done = command("evaluate", model, rows, "--label-column", column)
    assert done.code == 0, done.err
    kept = pd.read_csv(rows)
    kept[kept[column] != "yes, maybe"].to_csv(tmp_path / "two.csv", index=False)
    one = tmp_path / "one.skops"
    done = command(
        "fit", tmp_path / "two.csv", *given, "--positive-label", "yes, surely", "-o", one, "--json"
    )
    assert list(json.loads(done.out)["class_shares"]) == ["no", "yes, surely"]
    done = command("evaluate", one, tmp_path / "two.csv", "--label-column", column)
    assert done.code == 0, done.err


def test_classes_of_bags_with_a_comma(command, files, tmp_path):
    bags = pd.read_csv(files.bags)
    bags["red, or pink"] = bags["rate"]
    bags["blue"] = (1 - bags["rate"]) / 2
    bags["green"] = (1 - bags["rate"]) / 2
    bags[["bag", "red, or pink", "blue", "green"]].to_csv(tmp_path / "bags.csv", index=False)
    rates = ("--bag-column", "bag", "--proportion-columns", 'blue,green,"red, or pink"')
    # The shares of blue and green change together, which a small change prevents.
    table = pd.read_csv(tmp_path / "bags.csv")
    shift = (table.index % 5 - 2) / 100 * (table["blue"] > 0.05)
    table.assign(blue=table.blue + shift, green=table.green - shift).to_csv(
        tmp_path / "bags.csv", index=False
    )
    model = tmp_path / "m.skops"
    done = command("fit", files.rows, tmp_path / "bags.csv", *rates, *QUICK_FIT, "-o", model)
    assert done.code == 0, done.err
    prior = 'blue=0.2,green=0.3,"red, or pink=0.5"'
    done = command("predict", model, files.test, "--class-prior", prior, "--proba")
    assert done.code == 0, done.err
    assert '"probability_red, or pink"' in done.out.splitlines()[0]
    done = command("predict", model, files.test, "--class-prior", "blue=1")
    assert '"red, or pink=SHARE"' in done.err


QUERIES = {
    "rows.csv": "select 1 as a, 1 as bag, 0.5 as rate from range(1000000000) x, range(1000000) y, "
    "rows where (x.range * y.range) % 1000000007 = -1",
    "rows.db": "with recursive c(x) as (select 1 union all select x + 1 from c) "
    "select x as a, x as bag, x as rate from c where x < 0",
}
CODE = (
    "from decorrupt.app.tables import running\n"
    "running.PATIENCE = 0.2\n"
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


def test_errors_of_a_query_are_those_of_the_engine(command, tmp_path):
    (tmp_path / "rows.csv").write_text("a,bag,rate\n1,x,0.5\n")
    given = ("--bag-column", "bag", "--proportion-column", "rate")
    done = command("inspect", tmp_path / "rows.csv", "--sql", "select nothing from rows", *given)
    assert done.code == 2
    assert "nothing" in done.err
