"""Ranges and noise of counts on the command line: --count-noise, cells like <5."""

import json

import numpy as np
import pandas as pd
import pytest

from decorrupt.model_files import load_with_metadata
from helpers.quick import QUICK_FIT


@pytest.fixture
def table(files, tmp_path):
    """Write a table of bags with counts, changed by a function; return the path."""

    def write(change):
        sizes = files.tables.rows["bag"].value_counts()
        bags = files.tables.bags
        counts = (bags["rate"] * bags["bag"].map(sizes)).round().astype(int)
        frame = change(pd.DataFrame({"bag": bags["bag"], "n": counts}))
        frame.to_csv(tmp_path / "counts.csv", index=False)
        return tmp_path / "counts.csv"

    return write


@pytest.fixture
def fitted(command, files, tmp_path):
    def call(bags, *options):
        columns = ("--bag-column", "bag", "--count-column", "n")
        model = tmp_path / "model.skops"
        done = command("fit", files.rows, bags, *columns, *options, "--json", "-o", model)
        assert done.code == 0, done.err
        return json.loads(done.out), load_with_metadata(str(model))[0]

    return call


def suppressed(frame):
    limit = int(frame["n"].median())
    return frame.assign(n=[f"<{limit}" if n < limit else str(n) for n in frame["n"]])


def test_suppressed_counts_are_learned_from(fitted, table, files):
    card, model = fitted(table(suppressed))
    assert card["method"]["chosen"] == "count_likelihood"
    assert any("have a range instead of a count" in text for text in card["warnings"])
    labels = files.tables.test_labels
    assert np.mean(model.predict(files.tables.test) == labels) > 0.8


@pytest.mark.parametrize("text", ["laplace:2", "geometric:0.5"])
def test_noise_reaches_the_model(fitted, table, files, text):
    def noisy(frame):
        drawn = np.random.default_rng(0).laplace(0, 2, len(frame)).round()
        return frame.assign(n=frame["n"] + drawn)

    card, model = fitted(table(noisy), "--count-noise", text)
    # Without the noise, shares below 0 and above 1 are refused.
    labels = files.tables.test_labels
    assert np.mean(model.predict(files.tables.test) == labels) > 0.8
    assert any(f"the counts have noise ({text})" in one for one in card["warnings"])


# --- money and per cent


@pytest.fixture
def tables(files, tmp_path, monkeypatch):
    """The rows and bags as frames, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    return files.tables.rows.copy(), files.tables.bags.copy()


def test_money_and_per_cent_are_numbers_in_training_and_prediction(command, tables):
    rows, bags = tables
    rows["age"] = [f"${value:,.2f}" for value in 1000 * rows["age"]]
    rows["noise"] = [f"{value:.1f}%" for value in 100 * rows["noise"]]
    rows["fee"] = [f"€ {k % 7}" for k in range(300)]
    bags["rate"] = [f"{100 * rate:.0f}%" for rate in bags["rate"]]
    rows.to_csv("rows.csv", index=False)
    bags.to_csv("bags.csv", index=False)
    inspected = command("inspect", "rows.csv", "bags.csv", "--json")
    kinds = {one["name"]: one["kind"] for one in json.loads(inspected.out)["columns"]}
    numbers = dict.fromkeys(["age", "income", "noise", "fee"], "number")
    assert kinds == {"town": "category"} | numbers
    assert "note: rows.csv: money is read as numbers: 'age', 'fee'\n" in inspected.err
    assert "note: rows.csv: per cent is read as shares, 15% as 0.15: 'noise'\n" in inspected.err
    assert "note: bags.csv: per cent is read as shares, 15% as 0.15: 'rate'\n" in inspected.err
    fitted = command("fit", "rows.csv", "bags.csv", *QUICK_FIT, "-o", "m.skops")
    assert fitted.code == 0, fitted.err
    assert command("predict", "m.skops", "rows.csv", "--proba", "-o", "text.csv").code == 0
    for name in ("age", "noise", "fee"):
        rows[name] = rows[name].str.replace("[$€%, ]", "", regex=True).astype(float)
    rows["noise"] /= 100
    rows.to_csv("numbers.csv", index=False)
    assert command("predict", "m.skops", "numbers.csv", "--proba", "-o", "numbers-p.csv").code == 0
    pd.testing.assert_frame_equal(pd.read_csv("text.csv"), pd.read_csv("numbers-p.csv"))
