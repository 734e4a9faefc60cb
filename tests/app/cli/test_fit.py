"""decorrupt fit and what its model says of itself."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from decorrupt import estimate_noise_rates
from decorrupt.app.pages.documents import model_document
from decorrupt.model_files import load_with_metadata
from helpers.quick import QUICK_FIT


@pytest.fixture
def model(tmp_path):
    return tmp_path / "m.skops"


def test_what_fit_prints_and_saves(command, files, model):
    done = command("fit", files.rows, files.bags, *files.in_bags, *QUICK_FIT, "-o", model)
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


def test_explain_says_what_it_is_and_is_not_for(command, files):
    text = " ".join(command("explain", files.model).out.split())
    for words in (
        "What it must not be used for - Do not use it ",
        "method mean map settings",
        "age number 300 0 income number",
        "--method mean-map --decision balanced",
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


def test_the_positive_class_of_bags_has_a_name(command, files, model, tmp_path):
    fit = ("fit", files.rows, files.bags, *files.in_bags, *QUICK_FIT, "--positive-label", "sick")
    card = json.loads(command(*fit, "--json", "-o", model).out)
    assert list(card["class_shares"]) == ["not sick", "sick"]
    assert set(command("predict", model, files.test).out.split("\n")[1:-1]) == {"not sick", "sick"}
    lead = model_document(card, "m.skops").lead
    assert lead.startswith("This model classifies rows as “not sick” or “sick”.")
    named = pd.read_csv(files.test)
    named["label"] = np.where(named["label"] == 1, "sick", "well")
    named.to_csv(tmp_path / "named.csv", index=False)
    done = command("evaluate", model, tmp_path / "named.csv", "--label-column", "label", "--json")
    found = json.loads(done.out)["labels"]
    assert [one["name"] for one in found["classes"]] == ["well", "sick"]
    assert found["metrics"]["accuracy"]["value"] > 0.8


@pytest.fixture
def noisy(files, tmp_path):
    """Labels of sources, two of which are positive and have a comma."""
    rows = pd.read_csv(files.noisy).replace({"says": {"sick": "yes, surely", "well": "no"}})
    rows.loc[rows["says"].eq("yes, surely") & (rows.index % 2 == 0), "says"] = "yes, maybe"
    rows.to_csv(tmp_path / "noisy.csv", index=False)
    return tmp_path / "noisy.csv"


def test_a_positive_label_with_a_comma(command, noisy, tmp_path):
    rates = tmp_path / "rates.csv"
    rates.write_text("flip_pos,flip_neg\n0.2,0.2\n")
    given = ("--label-column", "says", "--noise-rates", rates, "--method", "plain")
    both = '"yes, surely","yes, maybe"'
    model = tmp_path / "m.skops"
    done = command("fit", noisy, *given, "--positive-label", both, "-o", model, "--json")
    assert done.code == 0, done.err
    assert list(json.loads(done.out)["class_shares"]) == ["no", both]
    done = command("evaluate", model, noisy, "--label-column", "says")
    assert done.code == 0, done.err
    kept = pd.read_csv(noisy)
    kept[kept["says"] != "yes, maybe"].to_csv(tmp_path / "two.csv", index=False)
    one = tmp_path / "one.skops"
    done = command(
        "fit", tmp_path / "two.csv", *given, "--positive-label", "yes, surely", "-o", one, "--json"
    )
    assert list(json.loads(done.out)["class_shares"]) == ["no", "yes, surely"]
    done = command("evaluate", one, tmp_path / "two.csv", "--label-column", "says")
    assert done.code == 0, done.err


def test_rows_without_a_bag_are_left_out_with_a_note(command, files, model, tmp_path):
    rows = files.tables.rows.copy()
    rows.loc[290:, "bag"] = None
    rows.to_csv(tmp_path / "rows.csv", index=False)
    in_bags = (tmp_path / "rows.csv", files.bags, *files.in_bags)
    note = "column 'bag' is empty in 10 of 300 rows, which belong to no bag and are not used"
    done = command("fit", *in_bags, *QUICK_FIT, "-o", model, "--json")
    assert note in done.err
    assert json.loads(done.out)["bags"]["n_rows"] == 290
    rows[:290].to_csv(tmp_path / "kept.csv", index=False)
    found = []
    for path in ("rows.csv", "kept.csv"):
        done = command("evaluate", files.model, tmp_path / path, *in_bags[1:], "--json")
        assert (note in done.err) == (path == "rows.csv")
        found.append(json.loads(done.out)["bags"]["criteria"])
    assert found[0] == found[1]
