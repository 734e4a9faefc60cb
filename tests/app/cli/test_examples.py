"""The worked example runs from its first command to its last."""

import os
from pathlib import Path

import pandas as pd
import pytest

from helpers.shell import run_bash

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
