"""`inspect`, `fit` and `evaluate` without options that name columns."""

import json

import pandas as pd
import pytest

from helpers.quick import QUICK_FIT

NOTE = (
    "note: bag column: bag, proportion column: rate (guessed; give --bag-column and "
    "--proportion-column to change)\n"
)


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    for name in ("rows", "bags", "test"):
        (tmp_path / f"{name}.csv").write_bytes(getattr(files, name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_guessed_columns_are_printed_unless_quiet(command):
    inspected = command("inspect", "rows.csv", "bags.csv")
    assert (inspected.code, inspected.err) == (0, NOTE)
    named = ("--bag-column", "bag", "--proportion-column", "rate")
    other = command("inspect", "rows.csv", "bags.csv", *named).out
    # The command that is printed next repeats the options.
    assert other.replace(" " + " ".join(named), "") == inspected.out
    assert command("inspect", "rows.csv", "bags.csv", "--quiet").err == ""
    fitted = command("fit", "rows.csv", "bags.csv", *QUICK_FIT, "-o", "m.skops")
    assert fitted.code == 0
    assert fitted.err.startswith(NOTE)
    evaluated = command("evaluate", "m.skops", "rows.csv", "bags.csv", "--json")
    assert evaluated.err.startswith(NOTE)
    assert json.loads(evaluated.out)["bag_summary"]["n_bags"] == 30


@pytest.mark.usefixtures("folder")
def test_the_positive_class_is_named_after_its_column(command):
    bags = pd.read_csv("bags.csv").rename(columns={"rate": "sick_share"})
    bags.to_csv("named.csv", index=False)
    fit = ("fit", "rows.csv", "named.csv", *QUICK_FIT, "--json", "-f", "-o", "m.skops")
    assert list(json.loads(command(*fit).out)["class_shares"]) == ["not sick", "sick"]
    given = command(*fit, "--positive-label", "ill")
    assert list(json.loads(given.out)["class_shares"]) == ["not ill", "ill"]
    # Labels 0 and 1 of an evaluation are still understood.
    assert command("evaluate", "m.skops", "test.csv", "--label-column", "label").code == 0
