"""The worked examples run from their first command to their last."""

import os
from pathlib import Path

import pandas as pd
import pytest

from helpers.shell import run_bash

EXAMPLES = Path(__file__).parents[3] / "examples"
NEEDED = {"german_credit": "german_categorical.csv.gz", "banknotes": "banknote.csv.gz"}


def run_example(name, out, **environment):
    # mean-map because it is fast; the scripts themselves leave the method to auto.
    quick = {"DECORRUPT_FIT_METHOD": "mean-map", "DECORRUPT_FIT_KERNEL": "linear"}
    return run_bash(EXAMPLES / f"{name}.sh", out, **quick, **environment)


@pytest.mark.parametrize("name", NEEDED)
def test_example(name, tmp_path):
    folder = os.environ.get("DECORRUPT_DATA")
    if not folder or not (Path(folder) / NEEDED[name]).exists():
        pytest.skip(f"set DECORRUPT_DATA to a directory with {NEEDED[name]}")
    done = run_example(name, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "balanced accuracy" in done.stdout
    predictions = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert predictions["probability"].between(0, 1).all()


@pytest.mark.parametrize("name", NEEDED)
def test_without_the_data_an_example_says_so(name, tmp_path):
    done = run_example(name, tmp_path / "out", DECORRUPT_DATA=str(tmp_path))
    assert done.returncode == 77
    assert NEEDED[name] in done.stderr
