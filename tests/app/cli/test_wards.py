"""The tables of examples/wards: made again by their script, and used without naming columns."""

import runpy
from pathlib import Path

import pandas as pd

from helpers.quick import QUICK_FIT

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
