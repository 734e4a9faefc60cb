"""fit and predict on Parquet files in partitions, and tables that do not fit in memory."""

import numpy as np
import pandas as pd
import pytest

from decorrupt import load
from decorrupt.app.cli import engines
from decorrupt.features import memory_budget

pytest.importorskip("distributed")
# Dask's own reader of Parquet files uses what pandas 4 will remove.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
BY_DASK = ("--engine", "dask", "--bag-column", "bag", "--proportion-column", "rate")
FAST = ("--method", "mean-map", "--kernel", "linear", "--folds", "2", "--drop", "truth")
N_FILES, FILE_ROWS, BAG_SIZE = 4, 50_000, 25


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """200,000 rows in four Parquet files, with a column of text and missing numbers."""
    made = tmp_path_factory.mktemp("parquet")
    for number in range(N_FILES):
        rng = np.random.default_rng(number)
        bags = rng.permutation(FILE_ROWS) // BAG_SIZE
        shares = rng.choice([0.1, 0.3, 0.7, 0.9], FILE_ROWS // BAG_SIZE)
        truth = rng.random(FILE_ROWS) < shares[bags]
        number_ = rng.normal(size=FILE_ROWS) + 2 * truth
        number_[::100] = np.nan
        table = pd.DataFrame(
            {
                "size": number_,
                "kind": np.where(truth ^ (rng.random(FILE_ROWS) < 0.3), "wool", "silk"),
                "bag": [f"{number}-{bag}" for bag in bags],
                "rate": (np.bincount(bags, truth) / BAG_SIZE)[bags],
                "truth": truth.astype(int),
            }
        )
        table.to_parquet(made / f"{number}.parquet", index=False)
    return made


def test_a_folder_of_parquet_files_end_to_end(command, folder, tmp_path):
    model, output = tmp_path / "m.skops", tmp_path / "predictions"
    done = command("fit", folder, *BY_DASK, *FAST, "--memory", "1GB", "-o", model)
    assert done.code == 0, done.err
    assert "200,000" in done.out
    assert "from a sample of 20,000 rows in 800 bags" in done.err
    assert load(model)[-1].training_prior_ == pytest.approx(0.5, abs=0.02)
    done = command(
        "predict", model, folder, "--engine", "dask", "--proba", "--keep", "truth,bag", "-o", output
    )
    assert done.code == 0, done.err
    found = pd.read_parquet(output)
    assert len(found) == N_FILES * FILE_ROWS
    assert list(found.columns) == ["truth", "bag", "prediction", "probability"]
    assert (found.prediction == found.truth).mean() > 0.8
    again = command("predict", model, folder, "--engine", "dask", "-o", output)
    assert again.code == 2
    assert "exists" in again.err
    one = tmp_path / "one.csv"
    assert command("predict", model, folder / "0.parquet", "-o", one).code == 0
    by_file = pd.read_parquet(output / "part-00000.parquet").prediction
    assert pd.read_csv(one).prediction.tolist() == by_file.tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--bag-column", "bag", "--proportion-column", "rate"), "needs --engine dask"),
        ((*BY_DASK, "--engine", "spark"), "--engine 'spark': choose memory or dask"),
        ((*BY_DASK, "--method", "invcal"), "unknown --method 'invcal'"),
        ((*BY_DASK, "--sql", "select * from rows"), "--sql cannot be used with --engine dask"),
        ((*BY_DASK, "--count-column", "n"), "--count-column cannot be used with --engine dask"),
        (("bags.csv", *BY_DASK), "the table BAGS cannot be used with --engine dask"),
        ((*BY_DASK, "--bag-column", "sack"), "'sack'"),
        ((*BY_DASK, "--memory", "much"), "memory_budget='much'"),
        (("--label-column", "kind", "--engine", "dask"), "--engine dask is for bags"),
        (("--scheduler", "tcp://x:1", "--bag-column", "bag"), "--scheduler needs --engine dask"),
    ],
)
def test_wrong_options_are_one_line(command, folder, tmp_path, arguments, words):
    done = command("fit", folder, *arguments, "-o", tmp_path / "m.skops")
    assert done.code == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_no_parquet_files(command, tmp_path):
    done = command("fit", tmp_path, *BY_DASK, "-o", tmp_path / "m.skops")
    assert done.code == 2
    assert "there is no such Parquet file or folder of *.parquet files" in done.err


def test_a_failed_prediction_leaves_nothing_behind(command, files, folder, tmp_path):
    done = command("predict", files.model, folder, "--engine", "dask", "-o", tmp_path / "out")
    assert done.code == 2
    assert not list(tmp_path.iterdir())


def test_a_table_that_does_not_fit_is_refused_before_it_is_read(command, files, monkeypatch):
    monkeypatch.setattr(engines, "LARGE_FILE", 10)
    monkeypatch.setattr(memory_budget, "machine_memory", lambda: 1000)
    done = command("fit", files.rows, files.bags, *files.in_bags, "-o", "never.skops")
    assert done.code == 2
    assert "this machine has" in done.err
    assert "--engine dask" in done.err
