"""decorrupt fit and what its model says of itself."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from decorrupt import estimate_noise_rates
from decorrupt.model_files import load_with_metadata
from helpers.quick import QUICK_FIT

AVERAGE = ("--method", "mean-map", "--folds", "2")


@pytest.fixture
def model(tmp_path):
    return tmp_path / "m.skops"


def test_what_fit_prints_and_saves(command, files, model):
    done = command("fit", files.rows, files.bags, *files.in_bags, *AVERAGE, "-o", model)
    assert done.code == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[0] == "Usable: the bags show that it is better than guessing."
    assert lines[-1] == f"  decorrupt predict {model} new_rows.csv -o predictions.csv"
    text = " ".join(done.out.split())
    for words in ("balanced accuracy 0.8", "better than guessing strong", "(for known bags only)"):
        assert words in text
    assert f"  model: {model}\n" in done.out
    _, card = load_with_metadata(str(model))
    assert card["configuration"]["method"] == "mean-map"
    assert card["configuration"]["rows"] == "rows.csv"
    assert card["configuration_from"]["method"] == "command line"
    assert card["configuration_from"]["seed"] == "default"


def test_counts_and_the_rows_own_table_give_the_same_model(command, files, model, tmp_path):
    def card_of(*arguments):
        done = command("fit", *arguments, *QUICK_FIT, "--json", "--force", "-o", model)
        assert done.code == 0, done.err
        return json.loads(done.out)

    first = card_of(files.rows, files.bags, *files.in_bags)
    counts = card_of(files.rows, files.bags, "--bag-column", "bag", "--count-column", "positives")
    table = files.tables
    merged = tmp_path / "merged.csv"
    table.rows.merge(table.bags[["bag", "rate"]], on="bag").to_csv(merged, index=False)
    own = card_of(merged, *files.in_bags)
    assert first["criteria"] == counts["criteria"] == own["criteria"]


@pytest.mark.parametrize("rates", [["--noise-rates", "rates.csv"], ["--estimate-noise-rates"]])
def test_sources(command, files, model, rates, monkeypatch):
    monkeypatch.chdir(files.folder)
    few_resamples = partial(estimate_noise_rates, n_bootstrap=5)
    monkeypatch.setattr(
        "decorrupt.model_selection.auto_sources.estimate_noise_rates", few_resamples
    )
    labels = ["--label-column", "says", "--positive-label", "sick", "--source-column", "who"]
    done = command(
        "fit", "noisy.csv", *labels, *rates, "--method", "forward", "--folds", 2, "-o", model
    )
    assert done.code == 0, done.err
    estimated = rates == ["--estimate-noise-rates"]
    word = "Check it with labels: the noise rates are estimates" if estimated else "Usable: "
    assert done.out.startswith(word)
    assert ("estimated from the labels" in done.out) == estimated
    done = command("predict", model, "test.csv", "--proba")
    assert set(pd.Series([line.split(",")[0] for line in done.out.split()[1:]])) == {"sick", "well"}
    text = " ".join(command("explain", model).out.split())
    assert text.startswith(f"Verdict {word}")
    assert "nurse 200 " in text
    assert ("takes the estimated noise rates as known" in text) == estimated
    card = json.loads(command("explain", model, "--json").out)
    assert ("look like noise" in card["sources"]["left_out"]) == estimated
    assert list(card["class_shares"]) == ["well", "sick"]


def test_flag_over_environment_over_file_over_default(command, files, model, tmp_path, monkeypatch):
    config = tmp_path / "run.toml"
    config.write_text(
        'seed = 3\nradius = 5\n[fit]\nbag-column = "bag"\nproportion_column = "rate"\n'
        'method = "count-likelihood"\nkernel = "linear"\ndrop = ["noise", "town"]\nfolds = 3\n'
        "[predict]\nproba = true\n"
    )
    monkeypatch.setenv("DECORRUPT_FIT_METHOD", "set-classification")
    monkeypatch.setenv("DECORRUPT_FIT_FOLDS", "2")
    arguments = ["fit", files.rows, files.bags, "--config", config, "--json", "-o", model]
    card = json.loads(command(*arguments, "--method", "mean-map").out)
    used, sources = card["configuration"], card["configuration_from"]
    assert (used["method"], sources["method"]) == ("mean-map", "command line")
    assert (used["folds"], sources["folds"]) == (2, "environment")
    assert (used["seed"], sources["seed"]) == (3, "config file")
    assert (used["decision"], sources["decision"]) == ("balanced", "default")
    assert [column["name"] for column in card["columns"]] == ["age", "income"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[fit]\nmetod = 1\n", "run.toml: unknown key 'metod' in [fit]"),
        ("foldz = 3\n", "run.toml: no command has an option 'foldz'"),
        ("[fit\n", "run.toml: cannot be read as TOML"),
        ("fit = 3\n", "run.toml: fit must be a table of options"),
    ],
)
def test_a_wrong_config_file_is_named(command, files, model, tmp_path, text, words):
    config = tmp_path / "run.toml"
    config.write_text(text)
    done = command("fit", files.rows, "--config", config, "-o", model)
    assert done.code == 2
    assert words in done.err


def test_columns_that_cannot_be_used_are_named(command, files, model, tmp_path):
    rows = files.tables.rows.assign(same=1, opened="2024-05-01", id=[f"x{k}" for k in range(300)])
    rows.loc[0, "opened"] = "2024-06-01"
    rows.to_csv(tmp_path / "rows.csv", index=False)
    arguments = ["fit", tmp_path / "rows.csv", files.bags, *files.in_bags, *QUICK_FIT, "-o", model]
    done = command(*arguments)
    assert done.code == 0
    assert done.err == "warning: columns that are not used: same, opened, id (-v shows why)\n"
    everything = " ".join(command(*arguments, "--force", "-v").out.split())
    for words in (
        "same it has one value only",
        "opened it contains dates",
        "id nearly every row has its own value",
    ):
        assert words in everything
    assert command(*arguments, "--force", "--quiet").err == ""


def test_columns_that_give_the_proportion_away_are_named(command, files, model, tmp_path):
    own = files.tables.rows.merge(files.tables.bags, on="bag")
    own.to_csv(tmp_path / "own.csv", index=False)
    done = command("fit", tmp_path / "own.csv", *files.in_bags, *QUICK_FIT, "-o", model, "-v")
    assert done.code == 0
    warnings = done.out[done.out.index("What speaks against it") :]
    column = warnings.index("Columns that are the same in all rows of a bag: 'positives'")
    assert warnings.index("Mean-map is wrong for groups that differ") < column
    arguments = [*files.in_bags, *QUICK_FIT, "--drop", "positives", "-o", model, "--force", "-v"]
    assert "same in all rows" not in command("fit", tmp_path / "own.csv", *arguments).out


def test_nothing_is_overwritten_without_force(command, files):
    before = files.model.read_bytes()
    done = command("fit", files.rows, files.bags, *files.in_bags, "-o", files.model)
    assert done.code == 2
    assert "exists" in done.err
    assert "--force" in done.err
    assert files.model.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            [
                *("--bag-column", "bag", "--proportion-column", "rate"),
                "--count-column",
                "positives",
            ],
            "either --proportion-column or --count-column",
        ),
        (["--bag-column", "bag", "--label-column", "town"], "either --bag-column"),
        (["--bag-column", "baag", "--proportion-column", "rate"], "no column 'baag'"),
        (["--bag-column", "bag", "--proportion-column", "positives"], "between 0 and 1"),
        (
            ["--bag-column", "bag", "--proportion-column", "rate", "--noise-rates", "x"],
            "--noise-rates cannot be used for training on bags",
        ),
        (
            ["--bag-column", "bag", "--proportion-column", "rate", "--method", "magic"],
            "unknown --method 'magic': choose one of auto, ",
        ),
        (
            ["--bag-column", "bag", "--proportion-column", "rate", "--decision", "best"],
            "--decision 'best'",
        ),
        (["--bag-column", "bag", "--proportion-column", "rate", "--features", "x"], "--features"),
    ],
)
def test_bad_data_and_usage(command, files, model, options, words):
    done = command("fit", files.rows, files.bags, *options, "-o", model)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert not model.exists()


def test_a_missing_directory_is_noticed_before_training(command, files, tmp_path):
    done = command("fit", files.rows, files.bags, *files.in_bags, "-o", tmp_path / "no" / "m.skops")
    assert done.code == 2
    assert "there is no directory" in done.err


def test_explain_says_what_it_is_and_is_not_for(command, files):
    text = " ".join(command("explain", files.model).out.split())
    for words in (
        "What it must not be used for - Do not use it ",
        "method mean map settings",
        "age number 300 0 income number",
        "--method mean-map command line",
    ):
        assert words in text
    card = json.loads(command("explain", files.model, "--json").out)
    assert card["not_for"]
    assert card["bags"]["n_bags"] == 30


def test_a_model_saved_from_python_is_explained_but_cannot_predict(command, files, tmp_path):
    from decorrupt import MeanMapClassifier, save

    path = tmp_path / "plain.skops"
    model = MeanMapClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    save(model, str(path))
    assert "MeanMapClassifier" in command("explain", path).out
    done = command("predict", path, files.test)
    assert done.code == 2
    assert "decorrupt.load" in done.err


def test_a_model_is_kept_if_only_one_bag_has_positives(command, tmp_path, monkeypatch):
    """Folds without a class leave some numbers unknown; they must not cost the model."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"bag": np.repeat(np.arange(12), 30), "x": rng.normal(size=360)})
    rows.to_csv("rows.csv", index=False)
    pd.DataFrame({"bag": range(12), "share": [1.0] + [0.0] * 11}).to_csv("bags.csv", index=False)
    done = command("fit", "rows.csv", "bags.csv", *QUICK_FIT, "-o", "m.skops")
    assert done.code == 0, done.err
    assert "RuntimeWarning" not in done.err
    card = json.loads(command("explain", "m.skops", "--json").out)
    assert card["verdict"]["word"] != "usable"


def test_a_card_that_cannot_be_saved_does_not_lose_the_model(command, files, model, monkeypatch):
    from decorrupt import model_files

    real = model_files.save

    def save(estimator, path, metadata, *, force=False):
        if path == str(model):
            raise ValueError("cannot be stored")
        real(estimator, path, metadata, force=force)

    monkeypatch.setattr(model_files, "save", save)
    done = command("fit", files.rows, files.bags, *files.in_bags, *QUICK_FIT, "-o", model)
    assert done.code == 1
    kept = done.err.rsplit("the model is in ", 1)[1].split(" instead")[0]
    assert command("explain", kept).code == 0
    Path(kept).unlink()
