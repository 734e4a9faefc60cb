"""Ranges and noise of counts on the command line: --count-noise, cells like <5."""

import json

import numpy as np
import pandas as pd
import pytest

from decorrupt.model_files import load_with_metadata


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


def test_inspect_understands_the_same(command, files, table):
    columns = ("--bag-column", "bag", "--count-column", "n")
    done = command("inspect", files.rows, table(suppressed), *columns, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert "assumptions" not in found, "the tests need exact counts"
    assert found["verdict"]["why"].startswith("the counts are not exact")
    assert any("have a range instead of a count" in text for text in found["warnings"])


def test_methods_that_need_exact_counts_say_so(command, files, table, tmp_path):
    columns = ("--bag-column", "bag", "--count-column", "n", "--method", "mean-map")
    done = command("fit", files.rows, table(suppressed), *columns, "-o", tmp_path / "m.skops")
    assert done.code == 2
    assert "--method mean-map needs exact counts" in done.err
    assert "choose count-likelihood or em" in done.err
