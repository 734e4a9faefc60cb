"""decorrupt fit and what its model says of itself."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from decorrupt import estimate_noise_rates
from decorrupt.model_files import load_with_metadata
from helpers.quick import QUICK_FIT


@pytest.fixture
def model(tmp_path):
    return tmp_path / "m.skops"


def test_what_fit_prints_and_saves(command, files, model):
    done = command(*files.fit, "-o", model)
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
    assert card["configuration"]["seed"] == 0


@pytest.mark.parametrize("rates", [["--noise-rates", "rates.csv"], []])
def test_sources(command, files, model, rates, monkeypatch):
    monkeypatch.chdir(files.folder)
    few_resamples = partial(estimate_noise_rates, n_bootstrap=5)
    monkeypatch.setattr(
        "decorrupt.model_selection.auto_sources.estimate_noise_rates", few_resamples
    )
    labels = ["--label-column", "says", "--positive-label", "sick", "--source-column", "who"]
    done = command("fit", "noisy.csv", *labels, *rates, "--method", "forward", "-o", model)
    assert done.code == 0, done.err
    estimated = not rates
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


def test_columns_that_cannot_be_used_are_named(command, files, model, tmp_path):
    rows = files.tables.rows.assign(same=1, opened="2024-05-01", id=[f"x{k}" for k in range(300)])
    rows.loc[0, "opened"] = "2024-06-01"
    rows.to_csv(tmp_path / "rows.csv", index=False)
    arguments = ["fit", tmp_path / "rows.csv", files.bags, *files.in_bags, *QUICK_FIT, "-o", model]
    done = command(*arguments)
    assert done.code == 0
    assert done.err == "warning: columns that are not used: same, opened, id (-v shows why)\n"
    everything = " ".join(command(*arguments, "--force", "-v").out.split())
    assert "opened it contains dates" in everything
    assert command(*arguments, "--force", "--quiet").err == ""


def test_nothing_is_overwritten_without_force(command, files):
    before = files.model.read_bytes()
    done = command("fit", *files.given, "-o", files.model)
    assert done.code == 2
    assert "exists" in done.err
    assert "--force" in done.err
    assert files.model.read_bytes() == before


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
