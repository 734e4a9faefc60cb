"""The tables of examples/wards: made again by their script, and used without naming columns."""

import json
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


def test_from_inspect_to_evaluate_without_naming_columns(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    in_wards = (WARDS / "patients.csv", WARDS / "wards.csv")
    inspected = command("inspect", *in_wards, "--json")
    assert inspected.code == 0, inspected.err
    assert inspected.err.startswith("note: bag column: ward, proportion column: malignant_share (")
    assert json.loads(inspected.out)["bags"]["n_bags"] == 28
    assert command("fit", *in_wards, *QUICK_FIT, "-o", "model.skops").code == 0
    new = WARDS / "new_patients.csv"
    assert command("predict", "model.skops", new, "--proba", "-o", "predictions.csv").code == 0
    assert set(pd.read_csv("predictions.csv")["prediction"]) == {"not malignant", "malignant"}
    done = command("evaluate", "model.skops", new, "--label-column", "diagnosis", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["labels"]["metrics"]["accuracy"]["value"] > 0.85


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


def test_no_patient_is_in_two_tables():
    patients, new = pd.read_csv(WARDS / "patients.csv"), pd.read_csv(WARDS / "new_patients.csv")
    assert (len(patients), len(new)) == (448, 121)
    assert "diagnosis" not in patients
    assert not set(patients.drop(columns="ward").itertuples(index=False, name=None)) & set(
        new.drop(columns="diagnosis").itertuples(index=False, name=None)
    )
