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
    files.tables.rows.assign(same=1).to_csv(tmp_path / "rows.csv", index=False)
    arguments = ["fit", tmp_path / "rows.csv", files.bags, *files.in_bags, *QUICK_FIT, "-o", model]
    assert command(*arguments).err == "warning: columns that are not used: same (-v shows why)\n"
    assert command(*arguments, "--force", "--quiet").err == ""


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


# --- columns that no option names


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
