import json
import pickle
from functools import partial
from importlib import metadata

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from decorrupt import estimate_noise_rates, load, save
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.predict import Predictor
from decorrupt.app.training.roles import read_bags
from decorrupt.app.training.settings import BAG_METHODS, SOURCE_METHODS, Settings, method_name
from decorrupt.app.training.source_roles import read_sources
from decorrupt.app.training.table import Table
from decorrupt.app.training.train import PACKAGES, train


@pytest.fixture(scope="module")
def bag_rows(bag_table):
    return read_bags(
        Table(bag_table.rows, "rows.csv"),
        Table(bag_table.bags, "bags.csv"),
        BagColumns("bag", count="positives"),
    )


@pytest.fixture(scope="module")
def trained(bag_rows):
    features = choose_features(bag_rows.table.frame, roles=bag_rows.roles)
    return train(bag_rows, features, Settings("mean-map", seed=1))


@pytest.fixture(scope="module")
def source_rows(source_table):
    return read_sources(
        Table(source_table.rows, "rows.csv"),
        Table(source_table.rates, "rates.csv"),
        label_column="says",
        source_column="who",
        positive_label="sick",
    )


def held_out_decisions(trained):
    """Return the decision values of every row by the model of the fold that holds it out."""
    found = np.empty(len(trained.prepared.frame))
    for model, test in trained.fold_models():
        found[test] = model.decision_function(trained.prepared.frame.iloc[test])
    return found


def predicted(trained, frame):
    return Predictor.of(trained.model, trained.card, "model").predict(frame)


def test_a_model_from_bags_knows_the_labels_it_never_saw(trained, bag_table):
    said = predicted(trained, bag_table.test).chosen
    assert balanced_accuracy_score(bag_table.test_labels, said) > 0.8


def test_held_out_accuracy_is_what_the_labels_say(trained, bag_table):
    expected = trained.card["expected"]
    true = balanced_accuracy_score(bag_table.labels, held_out_decisions(trained) > 0)
    assert expected["low"] - 0.02 < true < expected["high"] + 0.02
    assert len(trained.held_out["per_bag"]) == 30


def test_no_bag_is_in_the_training_rows_of_the_fold_that_judges_it(trained, bag_rows):
    for _, test in trained.fold_models():
        others = np.setdiff1d(np.arange(300), test)
        row_bag = bag_rows.observed.row_bag
        assert not set(row_bag[test]) & set(row_bag[others])


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


def test_a_package_without_metadata_does_not_fail_a_fit(bag_rows, monkeypatch):
    known = metadata.distribution

    def distribution(name):
        if name == "skops":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "distribution", distribution)
    features = choose_features(bag_rows.table.frame, roles=bag_rows.roles)
    settings = Settings("mean-map", n_folds=2, kernels=("linear",), reg_strengths=(0.01,))
    found = train(bag_rows, features, settings).card["versions"]
    assert set(found) == {"python", *PACKAGES}
    assert found["skops"] == "unknown"
    assert found["numpy"] == np.__version__


def test_the_useful_columns_are_the_important_ones(trained):
    found = trained.importance(seed=0)
    assert found["importance_criterion"] == "count_log_likelihood"
    columns = [row["column"] for row in found["importance"]]
    assert (columns[0], columns[-1]) == ("age", "noise")


def test_a_heavy_tail_is_compressed_described_and_saved(bag_table, tmp_path):
    rows = bag_table.rows.assign(income=np.exp(3 * bag_table.rows["income"]))
    data = read_bags(
        Table(rows, "rows.csv"),
        Table(bag_table.bags, "bags.csv"),
        BagColumns("bag", count="positives"),
    )
    features = choose_features(rows, roles=data.roles)
    settings = Settings("mean-map", n_folds=2, kernels=("rbf",), reg_strengths=(0.01,))
    result = train(data, features, settings)
    heavy = [column["name"] for column in result.card["columns"] if column["heavy_tailed"]]
    assert heavy == ["income"]
    assert {row["column"] for row in result.importance(seed=0)["importance"][:2]} == {
        "age",
        "income",
    }
    save(result.model, tmp_path / "m.skops")
    test = bag_table.test.assign(income=np.exp(3 * bag_table.test["income"]))
    test.loc[:1, "income"] = [1e150, -1e150]
    found = Predictor.of(load(tmp_path / "m.skops"), result.card, "m").predict(test)
    assert np.isfinite(found.probabilities).all()
    assert balanced_accuracy_score(bag_table.test_labels, found.chosen) > 0.8


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


@pytest.mark.parametrize("method", ["auto", "cost-weighted"])
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


def test_estimated_rates_are_near_and_marked_as_estimated(source_table, monkeypatch):
    few_resamples = partial(estimate_noise_rates, n_bootstrap=5)
    monkeypatch.setattr(
        "decorrupt.model_selection.auto_sources.estimate_noise_rates", few_resamples
    )
    rows = read_sources(
        Table(source_table.rows, "rows.csv"),
        label_column="says",
        source_column="who",
        positive_label="sick",
    )
    features = choose_features(rows.table.frame, roles=rows.roles)
    card = train(rows, features, Settings("forward", n_folds=2)).card
    nurse, rule = card["sources"]["sources"]
    assert nurse["flip_pos"] < rule["flip_pos"]
    low, high = rule["flip_pos_interval"]
    assert low <= rule["flip_pos"] <= high
    assert any("estimated from the labels" in line for line in card["warnings"])
    assert "Overlapping" in card["sources"]["left_out"]


def test_method_names():
    assert method_name("mean_map", BAG_METHODS) == "mean-map"
    assert method_name("count_likelihood", BAG_METHODS) == "count-likelihood"
    with pytest.raises(ValueError, match="unknown --method 'count': choose one of auto, corr"):
        method_name("count", SOURCE_METHODS)
    with pytest.raises(ValueError, match=r"'mean-mop' \(did you mean mean-map\?\): choose one of"):
        method_name("mean-mop", BAG_METHODS)
