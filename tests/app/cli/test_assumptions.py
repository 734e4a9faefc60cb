"""Bags cut by a feature, through the commands: a warning, the right method, possible estimates."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from reproduction.uci import read_uci

LABEL = ("--label-column", "label", "--positive-label", "yes")
QUICK = ("--kernel", "linear", "--reg-strength", 0.01, "--folds", 3)


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
    frame.to_csv(folder / "labelled.csv", index=False)
    return folder, by


def test_bags_by_a_feature(command, cut, monkeypatch):
    folder, by = cut
    monkeypatch.chdir(folder)
    out = ("-o", "rows.csv", "--bags-output", "bags.csv", "--force")
    held_out = ("--test-share", 0.3, "--test-output", "test.csv")
    made = command(
        "bags", "labelled.csv", *LABEL, "--by", by, "--drop-missing-bags", *held_out, *out
    )
    assert made.code == 0, made.err
    in_bags = ("rows.csv", "bags.csv")

    seen = json.loads(command("inspect", *in_bags, "--json").out)
    assert seen["assumptions"]["classes_differ"]
    assert "your groups differ in more than their share, mostly in " in seen["verdict"]["why"]
    needs_labels = seen["assumptions"]["chances_differ"] is not False
    assert seen["verdict"]["word"] == ("check it with labels" if needs_labels else "usable")

    card = json.loads(command("fit", *in_bags, *QUICK, "-o", "m.skops", "--json", "--force").out)
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


def test_designed_bags_contain_more_than_random_ones(command, tmp_path, monkeypatch):
    frame, _ = breast_cancer()
    monkeypatch.chdir(tmp_path)
    frame.drop(columns="group").to_csv("labelled.csv", index=False)
    out = ("-o", "rows.csv", "--bags-output", "bags.csv", "--force")
    for by in ((), ("--by", "mean radius")):
        done = command("bags", "labelled.csv", *LABEL, "--design", "--size", 25, *by, *out)
        assert done.code == 0, done.err
        assert "information V of random bags" in done.out
        bags = pd.read_csv("bags.csv")
        assert bags["rows"].between(25, 49).all()
        share = bags.iloc[:, -1]
        pooled = np.average(share, weights=bags["rows"])
        information = np.sum(bags["rows"] * (share - pooled) ** 2)
        assert information > 10 * (len(bags) - 1) * pooled * (1 - pooled)
    assert "mean radius" in pd.read_csv("rows.csv"), "methods need the score as a column"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--design"], "--design and --size go together"),
        (["--bag-size", 5, "--size", 5], "--design and --size go together"),
        (["--design", "--size", 5, "--bag-size", 5], "not with --bag-size"),
        (["--design", "--size", 5, "--by", "age,income"], "one column of scores"),
        (["--design", "--size", 5, "--proportions", "0.1:0.9"], "does not go with --design"),
        (["--design", "--size", 5, "--drop-missing-bags"], "without --design"),
        (["--design", "--size", 5, "--by", "gone"], "no column 'gone' (--by)"),
        (["--design", "--size", 5, "--by", "town"], "'town' of --by has no number"),
        (["--design", "--size", 500], "size=500"),
        ([], "or --design and --size"),
    ],
)
def test_wrong_options_of_designed_bags(command, files, tmp_path, options, words):
    out = ("-o", tmp_path / "r.csv", "--bags-output", tmp_path / "b.csv")
    done = command("bags", files.test, "--label-column", "label", *options, *out)
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert not (tmp_path / "r.csv").exists()
