"""decorrupt predict, evaluate and inspect on files."""

import gc
import io
import json
import weakref
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from decorrupt.app.tables import stream_table
from decorrupt.app.training.predict import Predictor


def table(text):
    return pd.read_csv(io.StringIO(text))


def test_one_answer_a_row_in_the_same_order(command, files, tmp_path):
    out = tmp_path / "p.csv"
    done = command("predict", files.model, files.test, "--proba", "--keep", "id", "-o", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    answer = pd.read_csv(out)
    assert list(answer) == ["id", "prediction", "probability"]
    assert answer["id"].tolist() == list(range(200))
    labels = files.tables.test_labels
    assert balanced_accuracy_score(labels, answer["prediction"]) > 0.8
    again = command("predict", files.model, files.test)
    assert table(again.out)["prediction"].tolist() == answer["prediction"].tolist()
    assert command("predict", files.model, files.test, "-o", out).code == 2


def test_reordered_columns_unseen_categories_and_missing_values(command, files, tmp_path):
    test = files.tables.test.copy()
    test.loc[:4, "town"] = "east"
    test.loc[5:9, ["age", "town"]] = np.nan
    path = tmp_path / "odd.csv"
    test[["noise", "town", "income", "age"]].to_csv(path, index=False)
    done = command("predict", files.model, path)
    assert done.code == 0
    assert len(table(done.out)) == 200
    assert "column 'town': categories unknown in training" in done.err
    assert "'east' (5 rows)" in done.err
    assert command("predict", files.model, path, "--quiet").err == ""


def test_texts_to_keep_are_no_formulas_and_numbers_stay_numbers(command, files, tmp_path):
    path = tmp_path / "kept.csv"
    texts = ["=HYPERLINK(1)", "+1", "-1+2", "@SUM(1)"] * 50
    files.tables.test.assign(note=texts, change=-1.5).to_csv(path, index=False)
    done = command("predict", files.model, path, "--keep", "note,change")
    answer = table(done.out)
    assert answer["note"].tolist() == ["'" + text for text in texts]
    assert (answer["change"] == -1.5).all()


def test_blocks_give_what_one_block_gives(command, files, tmp_path, monkeypatch):
    arguments = ["predict", files.model, files.test, "--proba", "--keep", "id"]
    whole = table(command(*arguments).out)
    scored, alive = [], []
    predict = Predictor.predict

    def watched(self, frame, **options):
        scored.append(len(frame))
        gc.collect()
        alive.append(sum(reference() is not None for reference in frames))
        frames.append(weakref.ref(frame))
        return predict(self, frame, **options)

    frames = []
    monkeypatch.setattr(Predictor, "predict", watched)
    monkeypatch.setattr("decorrupt.app.tables.stream_table", partial(stream_table, chunk_rows=32))
    blocks = table(command(*arguments).out)
    assert scored == [32] * 6 + [8]
    assert max(alive) <= 2  # the rows before are not kept
    assert blocks[["id", "prediction"]].equals(whole[["id", "prediction"]])
    np.testing.assert_allclose(blocks["probability"], whole["probability"], rtol=1e-12)


def test_evaluate_by_labels(command, files):
    done = command("evaluate", files.model, files.test, "--label-column", "label", "--json")
    found = json.loads(done.out)["labels"]
    assert found["metrics"]["accuracy"]["value"] > 0.8
    assert sum(map(sum, found["confusion"])) == found["n_rows"] == 200
    by_labels = ["evaluate", files.model, files.test, "--label-column", "label"]
    text = command(*by_labels).out
    assert text.startswith("Verdict\n  Usable: balanced accuracy 0.8")
    assert "area under the ROC curve" in text
    assert "Confusion matrix" in text
    flipped = ["--label-column", "label", "--positive-label", "0", "--json"]
    other = json.loads(command("evaluate", files.model, files.test, *flipped).out)["labels"]
    assert other["metrics"]["accuracy"]["value"] < 0.2


def with_card(files, path, change):
    """Write the model of `files` with another card to `path`."""
    from decorrupt.model_files import load_with_metadata, save

    model, metadata = load_with_metadata(files.model)
    change(metadata)
    save(model, path, metadata=metadata)
    return path


def test_labels_are_judged_alone_where_the_training_data_were_not_enough(command, files, tmp_path):
    def doubt(card):
        card["verdict"]["word"] = "check it with labels"

    model = with_card(files, tmp_path / "m.skops", doubt)
    done = command("evaluate", model, files.test, "--label-column", "label", "--json")
    found = json.loads(done.out)
    assert "combined" not in found
    own = found["labels"]["metrics"]["balanced_accuracy"]["value"]
    assert f"balanced accuracy {own:.3f}" in found["verdict"]["why"]


def test_labels_that_contradict_the_training_data_are_said_to(command, files, tmp_path):
    def overstate(card):
        card["expected"] |= {"value": 0.991, "low": 0.985, "high": 0.999}

    model = with_card(files, tmp_path / "m.skops", overstate)
    by_labels = ["evaluate", model, files.test, "--label-column", "label"]
    text = " ".join(command(*by_labels).out.split())
    words = "abels contradict the estimate from training, 0.991 (0.98 to 1.00)"
    assert words in text
    assert "training data together" not in text
    # --class-prior makes other decisions, of which the training data say nothing.
    text = " ".join(command(*by_labels, "--class-prior", "0.5").out.split())
    assert words not in text
    assert "training data together" not in text
    text = command("evaluate", files.model, *by_labels[2:]).out
    assert "balanced accuracy from labels and training data together" in text


def test_evaluate_by_bags_estimates_what_labels_would_say(command, files, tmp_path):
    rng = np.random.default_rng(0)
    labels = files.tables.test_labels
    order = np.argsort(labels + rng.normal(scale=0.7, size=200), kind="stable")
    rows = files.tables.test.iloc[order].assign(bag=np.arange(200) // 10, label=labels[order])
    rows["share"] = rows.groupby("bag")["label"].transform("mean")
    rows.to_csv(tmp_path / "held_out.csv", index=False)
    options = ["--bag-column", "bag", "--proportion-column", "share", "--label-column", "label"]
    done = command("evaluate", files.model, tmp_path / "held_out.csv", *options, "--json")
    found = json.loads(done.out)
    true = found["labels"]["metrics"]["balanced_accuracy"]
    assert found["expected"]["low"] - 0.02 < true["value"] < found["expected"]["high"] + 0.02
    assert found["combined"]["std_error"] < true["std_error"], "with what the bags have shown"
    assert len(found["bags"]["per_bag"]) == 20
    text = command("evaluate", files.model, tmp_path / "held_out.csv", *options, "-v").out
    assert "Without labels, bag by bag" in text
    assert "bags                            20" in text


@pytest.mark.parametrize("name", ["predict", "evaluate", "explain"])
def test_a_model_of_another_scikit_learn(command, files, tmp_path, name):
    def made_long_ago(card):
        card["versions"]["scikit-learn"] = "1.2.3"

    old = with_card(files, tmp_path / "old.skops", made_long_ago)
    labels = ("--label-column", "label")
    rows = {"predict": (files.test,), "evaluate": (files.test, *labels), "explain": ()}[name]
    done = command(name, old, *rows)
    assert done.code == 0, done.err
    assert "made with scikit-learn 1.2.3" in done.err + done.out
    assert "made with" not in command(name, files.model, *rows).err


def test_a_column_that_is_empty_at_prediction(command, files, tmp_path):
    rows = pd.read_csv(files.test).assign(income=None)
    rows.to_csv(tmp_path / "new.csv", index=False)
    done = command("predict", files.model, tmp_path / "new.csv")
    assert done.code == 0
    assert "column 'income' is empty in all rows" in done.err
    assert "'age'" not in done.err
    labels = ("--label-column", "label")
    done = command("evaluate", files.model, tmp_path / "new.csv", *labels, "--json")
    assert "column 'income' is empty in all rows" in done.err
