import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from decorrupt.app.tables import TableError
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.predict import Predictor
from decorrupt.app.training.roles import read_bags
from decorrupt.app.training.settings import BAG_METHODS, SOURCE_METHODS, Settings, method_name
from decorrupt.app.training.table import Table
from decorrupt.app.training.train import train


def held_out_decisions(trained):
    """Return the decision values of every row by the model of the fold that holds it out."""
    found = np.empty(len(trained.prepared.frame))
    for model, test in trained.fold_models():
        found[test] = model.decision_function(trained.prepared.frame.iloc[test])
    return found


def predicted(trained, frame):
    return Predictor.of(trained.model, trained.card, "model").predict(frame)


def test_held_out_accuracy_is_what_the_labels_say(trained, bag_table):
    expected = trained.card["expected"]
    true = balanced_accuracy_score(bag_table.labels, held_out_decisions(trained) > 0)
    assert expected["low"] - 0.02 < true < expected["high"] + 0.02
    assert len(trained.held_out["per_bag"]) == 30


def test_the_card_is_plain_and_names_no_bag(trained):
    text = json.dumps(trained.card, allow_nan=False)
    assert "bag00" not in text
    card = json.loads(text)
    assert card["situation"] == "bags"
    assert card["bags"]["n_bags"] == 30
    assert [column["name"] for column in card["columns"]] == ["age", "income", "noise", "town"]
    assert card["columns"][1]["n_missing"] > 0
    assert card["method"]["chosen"] == "mean_map"
    assert card["versions"]["decorrupt"]
    assert card["verdict"]["n_labels"] >= 50
    assert card["bag_column"] == "bag"
    assert set(card["assumptions"]["columns"]) <= {"age", "income", "noise", "town"}


def test_one_measure_has_one_value(trained):
    """The log-likelihood of counts is that of the leaderboard, with the bag effect."""
    card = trained.card
    assert card["scoring"] == "count_log_likelihood"
    assert set(card["criteria"]) == {"proportion_risk"}
    assert trained.held_out["criteria"] == card["criteria"]
    own = trained.model[-1].accuracy_
    assert (card["expected"]["value"], card["expected"]["evidence"]) == (own.value, own.evidence)


@pytest.mark.parametrize("method", BAG_METHODS)
def test_every_method_trains(method, bag_rows, bag_table):
    features = choose_features(bag_rows.table.frame, roles=bag_rows.roles)
    result = train(bag_rows, features, Settings(method, n_folds=2))
    assert result.card["method"]["asked"] == method
    assert b"bag00" not in pickle.dumps(result.model), "a saved model must not name the bags"
    said = predicted(result, bag_table.test).chosen
    assert balanced_accuracy_score(bag_table.test_labels, said) > 0.75


def test_few_bags_are_split_inside(bag_table):
    rows = bag_table.rows.assign(bag=np.arange(300) // 100)
    shares = bag_table.labels.reshape(3, 100).mean(axis=1)
    data = read_bags(
        Table(rows.assign(rate=shares[rows["bag"]]), "rows.csv"),
        None,
        BagColumns("bag", proportion="rate"),
    )
    features = choose_features(rows, roles=["bag"])
    card = train(data, features, Settings("mean-map")).card
    assert card["method"]["held_out"] == "rows of every bag"
    assert card["verdict"]["word"] != "usable"
    assert card["assumptions"]["chances_differ"] is None


def test_a_model_that_only_guesses_is_said_to_guess(bag_rows):
    features = choose_features(
        bag_rows.table.frame, roles=bag_rows.roles, drop=["age", "income", "town"]
    )
    card = train(bag_rows, features, Settings("mean-map")).card
    assert card["verdict"]["word"] != "usable"
    assert "better than guessing" in card["verdict"]["why"]
    assert card["expected"]["evidence"] in ("weak", "none")


@pytest.mark.parametrize("method", ["auto", "forward"])
def test_a_model_from_sources(method, source_rows, source_table):
    features = choose_features(source_rows.table.frame, roles=source_rows.roles)
    result = train(source_rows, features, Settings(method, n_folds=2))
    card = result.card
    assert card["situation"] == "sources"
    assert list(card["class_shares"]) == ["well", "sick"]
    assert [row["flip_pos"] for row in card["sources"]["sources"]] == [0.05, 0.3]
    true = balanced_accuracy_score(source_table.labels, held_out_decisions(result) > 0)
    assert card["expected"]["low"] - 0.02 < true < card["expected"]["high"] + 0.02
    assert "group_rate" not in card["expected"]
    said = predicted(result, source_table.test).chosen
    assert balanced_accuracy_score(source_table.test_labels, said) > 0.8
    json.dumps(card, allow_nan=False)


def test_method_names():
    assert method_name("mean_map", BAG_METHODS) == "mean-map"
    assert method_name("count_likelihood", BAG_METHODS) == "count-likelihood"
    with pytest.raises(ValueError, match="unknown --method 'count': choose one of auto, corr"):
        method_name("count", SOURCE_METHODS)
    with pytest.raises(ValueError, match=r"'mean-mop' \(did you mean mean-map\?\): choose one of"):
        method_name("mean-mop", BAG_METHODS)


# --- predictions


@pytest.fixture
def predictor(trained):
    return Predictor.of(trained.model, dict(trained.card), "m.skops")


def test_another_prior_moves_probabilities_as_the_model_does(predictor, trained, bag_table):
    from decorrupt.app.training.preprocess import prepare

    prepared = prepare(bag_table.test, predictor.columns)
    expected = trained.model.predict_proba(prepared, class_prior=0.1)
    found = predictor.predict(bag_table.test, class_prior=0.1)
    np.testing.assert_allclose(found.probabilities, expected)
    np.testing.assert_array_equal(found.chosen, expected[:, 1] > 0.5)
    with pytest.raises(ValueError, match="--class-prior 1 must lie strictly"):
        predictor.predict(bag_table.test, class_prior=1.0)


def test_the_answers_columns(predictor, bag_table):
    frame = bag_table.test.assign(id=np.arange(200))
    answer = predictor.table_of(frame, predictor.predict(frame), ["id"], proba=True)
    assert list(answer) == ["id", "prediction", "probability"]
    assert set(answer["prediction"]) == {0, 1}
    with pytest.raises(TableError, match=r"t\.csv: there is no column 'x'"):
        predictor.check_keep(frame, ["x"], "t.csv")
    with pytest.raises(TableError, match="'prediction' is the name of an output column"):
        predictor.check_keep(pd.DataFrame({"prediction": [1]}), ["prediction"], "t.csv")


def test_a_model_without_a_card_is_refused(trained):
    with pytest.raises(TableError, match=r"m\.skops: the model has no complete description"):
        Predictor.of(trained.model, {}, "m.skops")


@pytest.mark.parametrize(
    ("name", "value"), [("1", 1), ("-1", -1), ("007", "007"), ("²", "²"), ("--5", "--5")]
)
def test_classes_are_numbers_where_their_names_are(trained, name, value):
    card = {**trained.card, "class_shares": {"none": 0.5, name: 0.5}}
    assert Predictor.of(trained.model, card, "model").classes == ("none", value)
