"""Bags cut by a feature, through the commands: a warning, the right method, possible estimates."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from reproduction.uci import read_uci

LABEL = ("--label-column", "label", "--positive-label", "yes")


def breast_cancer():
    """Return the rows with their decile of radius, which forms the bags, and labels."""
    data = load_breast_cancer(as_frame=True)
    frame = data.data.iloc[:, :10].copy()
    frame["label"] = np.where(data.target == 0, "yes", "no")
    rank = frame["mean radius"].rank(method="first")
    frame["group"] = "g" + (rank * 20 // (len(frame) + 1)).astype(int).astype(str)
    return frame, "group"


def adult():
    """Return rows of Adult, whose bags are occupations; skip where the data are absent."""
    try:
        data = read_uci("adult")
    except OSError:
        pytest.skip("Adult is not available")
    frame = pd.DataFrame(np.asarray(data.X, dtype=object), columns=list(data.feature_names))
    frame["label"] = np.where(np.asarray(data.y) == np.unique(data.y)[-1], "yes", "no")
    return frame.sample(2500, random_state=0), "occupation"


@pytest.fixture(scope="module", params=[breast_cancer, adult], ids=lambda make: make.__name__)
def cut(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cut")
    frame, by = request.param()
    test = frame.sample(frac=0.3, random_state=0)
    test.to_csv(folder / "test.csv", index=False)
    frame = frame.drop(index=test.index)
    shares = frame["label"].eq("yes").groupby(frame[by]).mean()
    shares.rename("share").to_csv(folder / "bags.csv")
    frame.drop(columns="label").to_csv(folder / "rows.csv", index=False)
    return folder


def test_bags_by_a_feature(command, cut, monkeypatch):
    monkeypatch.chdir(cut)
    in_bags = ("rows.csv", "bags.csv")

    seen = json.loads(command("inspect", *in_bags, "--json").out)
    assert seen["assumptions"]["classes_differ"]
    assert "your groups differ in more than their share, mostly in " in seen["verdict"]["why"]
    needs_labels = seen["assumptions"]["chances_differ"] is not False
    assert seen["verdict"]["word"] == ("check it with labels" if needs_labels else "usable")

    card = json.loads(command("fit", *in_bags, "-o", "m.skops", "--json", "--force").out)
    assert card["method"]["chosen"] == "count_likelihood"
    assert card["assumptions"]["classes_differ"]
    assert card["assumptions"]["classes_p_value"] < 0.05
    assert set(card["assumptions"]["columns"]) <= {one["name"] for one in card["columns"]}
    assert card["expected"]["evidence"] == "strong"
    check_possible(card["expected"])
    text = " ".join(command("explain", "m.skops").out.split())
    assert f"balanced accuracy {card['expected']['value']:.3f} (95% interval 0." in text
    assert "evidence that it is better than guessing strong" in text

    found = json.loads(command("evaluate", "m.skops", *in_bags, "--json").out)
    assert "expected" not in found, "these are the training bags"
    tested = json.loads(command("evaluate", "m.skops", "test.csv", *LABEL, "--json").out)
    true = tested["labels"]["metrics"]["balanced_accuracy"]["value"]
    assert true > 0.7
    assert card["expected"]["value"] == pytest.approx(true, abs=0.12)


def check_possible(expected):
    assert 0 <= expected["low"] <= expected["value"] <= expected["high"] <= 1
