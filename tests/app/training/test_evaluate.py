"""test_evaluate"""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    roc_auc_score,
)

from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.columns import choose_features
from decorrupt.app.training.evaluate import combined, contradiction, evaluate_labels, share_of
from decorrupt.app.training.held_out import (
    calibration_from_proportions,
    criteria,
    held_out_results,
)
from decorrupt.app.training.inspect import inspect_bags, inspect_sources
from decorrupt.app.training.predict import Predictions
from decorrupt.app.training.results import plain
from decorrupt.app.training.roles import read_bags
from decorrupt.app.training.summary import summarize_bags
from decorrupt.app.training.table import Table
from decorrupt.losses import probabilities
from decorrupt.losses import probabilities as probabilities_of
from decorrupt.observed import Observed, class_columns

SHARES = {"0": 0.7, "1": 0.3}


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    is_pos = rng.random(300) < 0.3
    scores = rng.normal(size=300) + 2 * is_pos - 1
    return is_pos.astype(int), predictions_at(scores, 0.2)


def predictions_at(scores, threshold):
    return Predictions((scores > threshold).astype(int), probabilities(scores), scores)


def test_metrics_are_scikit_learns(case):
    is_pos, predictions = case
    found = evaluate_labels(predictions, is_pos, SHARES)
    positive = predictions.probabilities[:, 1]
    expected = {
        "accuracy": accuracy_score(is_pos, predictions.chosen),
        "balanced_accuracy": balanced_accuracy_score(is_pos, predictions.chosen),
        "roc_auc": roc_auc_score(is_pos, positive),
        "brier": brier_score_loss(is_pos, positive),
        "log_loss": log_loss(is_pos, positive),
    }
    assert {name: one["value"] for name, one in found["metrics"].items()} == pytest.approx(expected)
    assert found["confusion"] == confusion_matrix(is_pos, predictions.chosen).tolist()


def test_standard_errors_are_those_of_repetitions():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(200):
        is_pos = rng.random(200) < 0.4
        scores = rng.normal(size=200) + is_pos
        predictions = predictions_at(scores, 0.5)
        found.append(evaluate_labels(predictions, is_pos.astype(int), SHARES)["metrics"])
    for name in found[0]:
        spread = np.std([one[name]["value"] for one in found])
        stated = np.mean([one[name]["std_error"] for one in found])
        assert stated == pytest.approx(spread, rel=0.2), name


def test_calibration_bins_hold_every_row_once(case):
    is_pos, predictions = case
    bins = evaluate_labels(predictions, is_pos, SHARES)["calibration"]
    assert sum(one["n_rows"] for one in bins) == 300
    positives = sum(one["n_rows"] * one["share"] for one in bins)
    assert positives == pytest.approx(is_pos.sum())
    assert all(one["low"] <= one["predicted"] <= one["high"] for one in bins)


def test_one_class_only_leaves_what_needs_two_open(case):
    _, predictions = case
    found = evaluate_labels(predictions, np.ones(300, dtype=int), SHARES)["metrics"]
    assert found["roc_auc"]["value"] is None
    assert found["balanced_accuracy"]["value"] is None
    assert found["accuracy"]["value"] == predictions.chosen.mean()


def test_labels_and_training_data_are_combined_by_their_precision():
    """Two normal posteriors with the standard deviations 0.03 and 0.04, by hand."""
    half = 1.959964 * 0.04
    expected = {"value": 0.70, "low": 0.70 - half, "high": 0.70 + half, "level": 0.95}
    found = combined({"value": 0.80, "std_error": 0.03}, expected)
    assert found["value"] == pytest.approx((0.80 / 9 + 0.70 / 16) / (1 / 9 + 1 / 16), abs=1e-5)
    assert found["std_error"] == pytest.approx(0.024, abs=1e-5)
    nothing = {"value": None, "std_error": None}
    assert combined(nothing, expected) == nothing


@pytest.mark.parametrize(
    ("value", "std_error", "is_apart"),
    [
        (0.70, 0.01, False),
        (0.60, 0.01, False),
        (0.59, 0.01, True),
        (0.85, 0.02, True),
        (0.85, 0.04, False),
        (None, None, False),
    ],
)
def test_labels_whose_interval_is_apart_contradict_the_training_data(value, std_error, is_apart):
    expected = {"value": 0.70, "low": 0.615, "high": 0.784, "level": 0.95}
    found = contradiction({"value": value, "std_error": std_error}, expected)
    words = "the labels contradict the estimate from training, 0.700 (0.61 to 0.78)"
    assert [text.split(":")[0] for text in found] == [words] * is_apart


# --- several classes


CLASSES = ["a", "b", "c"]


def observe(ids, bags, shares):
    return Observed(np.array(CLASSES), ids, bags, shares)


def test_pure_bags_are_worth_their_rows():
    bags = observe(np.array(["x", "y", "z"]), np.repeat([0, 1, 2], [5, 10, 20]), np.eye(3))
    found = summarize_bags(bags)
    assert [one["effective_rows"] for one in found["classes"]] == pytest.approx([5, 10, 20])
    assert found["effective_sample_size"] == pytest.approx(35)
    assert found["efficiency"] == pytest.approx(1)
    assert found["condition_number"] == pytest.approx(4)
    assert found["hardest_classes"] == ["a"]
    pooled = [one["pooled_proportion"] for one in found["classes"]]
    assert pooled == pytest.approx([1 / 7, 2 / 7, 4 / 7])


def test_shares_of_bags_without_rows_that_were_never_held_out():
    rng = np.random.default_rng(0)
    bags, scores = np.repeat(np.arange(4), 6), rng.normal(size=(24, 3))
    probabilities = rng.dirichlet(np.ones(3), 24)
    scores[3] = probabilities[3] = np.nan
    shares = np.array([[1, 1, 4], [4, 1, 1], [1, 4, 1], [2, 2, 2]]) / 6
    observed = observe(np.array(list("pqrs")), bags, shares)
    found = held_out_results(observed, scores, probabilities, counts=True)
    assert found["classes"] == CLASSES
    first = found["per_bag"][0]
    seen = [0, 1, 2, 4, 5]
    assert (first["bag"], first["size"], first["known"]) == ("p", 5, pytest.approx(shares[0]))
    assert first["predicted"] == pytest.approx(probabilities[seen].mean(axis=0))
    chosen = [np.mean(scores[seen].argmax(axis=1) == c) for c in range(3)]
    assert first["classified"] == pytest.approx(chosen)
    assert sum(found["histogram"]["counts"]) == 23
    assert set(found["criteria"]) == {"proportion_risk", "count_log_likelihood"}


def test_measures_with_labels_by_hand():
    probabilities = np.array([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    predictions = Predictions(probabilities.argmax(axis=1), probabilities, probabilities)
    shares = dict.fromkeys(CLASSES, 1 / 3)
    found = evaluate_labels(predictions, np.array([0, 1, 1, 2]), shares)
    assert found["confusion"] == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    metrics = {name: one["value"] for name, one in found["metrics"].items()}
    assert metrics["accuracy"] == 0.75
    assert metrics["macro_recall"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert metrics["log_loss"] == pytest.approx(-np.log([0.8, 0.3, 0.7, 0.8]).mean())
    assert metrics["brier_classes"] == pytest.approx((0.06 + 0.86 + 0.14 + 0.06) / 4)
    # ½·½/2 of class b; one of one row has the error of two of three.
    variance = 0.125 + 2 * (2 / 3) * (1 / 3)
    assert found["metrics"]["macro_recall"]["std_error"] == pytest.approx(variance**0.5 / 3)
    assert [one["precision"]["value"] for one in found["classes"]] == [0.5, 1, 1]


def test_all_rows_right_is_not_certain():
    found = share_of(np.ones(8, dtype=bool))
    assert found["value"] == 1
    assert found["std_error"] == pytest.approx((0.9 * 0.1 / 8) ** 0.5)


def test_a_class_without_rows_has_no_recall():
    probabilities = np.eye(3)[[0, 1]]
    predictions = Predictions(np.array([0, 1]), probabilities, probabilities)
    found = evaluate_labels(predictions, np.array([0, 1]), dict.fromkeys(CLASSES, 1 / 3))
    assert found["classes"][2]["recall"]["value"] is None
    assert found["metrics"]["macro_recall"]["value"] is None


# --- held-out results


CLASSES_HELD_OUT = np.array([0, 1])


def test_equal_proportions_leave_no_comparison():
    halves = np.full((2, 2), 0.5)
    bags = Observed(CLASSES_HELD_OUT, np.array(["a", "b"]), np.repeat([0, 1], 10), halves)
    scores = np.linspace(-1, 1, 20)
    found = criteria(bags, scores, np.full((20, 2), 0.5), counts=True)
    assert found["count_log_likelihood"]["value"] is not None
    assert calibration_from_proportions(bags, np.full((20, 2), 0.5)) == []


@pytest.mark.parametrize("factor", [0.5, 1.0, 4.0])
def test_the_calibration_slope_undoes_a_factor(factor):
    """Bags of one row: the slope is that of logistic regression on the log-odds."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(scale=2, size=3000)
    labels = (rng.random(3000) < expit(log_odds)).astype(float)
    rows = np.arange(3000)
    bags = Observed(CLASSES_HELD_OUT, rows, rows, class_columns(labels))
    found = held_out_results(bags, log_odds, probabilities_of(factor * log_odds), counts=True)
    reference = LogisticRegression(C=1e6).fit(factor * log_odds[:, None], labels)
    assert found["calibration_slope"] == pytest.approx(reference.coef_[0, 0], rel=0.01)
    assert found["calibration_slope"] == pytest.approx(1 / factor, rel=0.1)


def test_labels_of_sources_have_no_calibration_slope(pure_bags):
    bags, _, scores, probabilities = pure_bags
    found = held_out_results(bags, scores, class_columns(probabilities), counts=False)
    assert "calibration_slope" not in found


def test_plain_numbers():
    given = {"a": np.float64("nan"), 1: np.array([1, 2]), "b": (np.bool_(True), np.inf)}
    assert plain(given) == {"a": None, "1": [1, 2], "b": [True, None]}


# --- before training


def inspected(rows, bags):
    columns = BagColumns("bag", proportion="rate")
    data = read_bags(Table(rows, "rows.csv"), Table(bags, "bags.csv"), columns)
    features = choose_features(rows, roles=data.roles)
    return inspect_bags(data, features, seed=0)


def test_numbers_by_hand():
    rows = pd.DataFrame(
        {"bag": ["a"] * 4 + ["b"] * 4 + ["c"] * 8, "x": (np.arange(16) * 7.0 % 16) ** 2}
    )
    bags = pd.DataFrame({"bag": ["a", "b", "c"], "rate": [1.0, 0.0, 0.5]})
    found = inspected(rows, bags)
    details = found["bag_details"]
    # V = 4·¼ + 4·¼ + 0 = 2, worth 8 labelled rows: those of the pure bags.
    assert found["bags"]["information"] == pytest.approx(2)
    assert found["bags"]["effective_sample_size"] == pytest.approx(8)
    assert [bag["share"] for bag in details["shares"]] == pytest.approx([0.5, 0.5, 0])
    assert details["n_informative"] == 2
    assert (details["average"], details["too_small"]) == (["c"], [])
    assert found["verdict"]["word"] == "check it with labels"
    assert found["verdict"]["why"].endswith("they are worth about 8 labelled rows")
    json.dumps(found, allow_nan=False)


def test_uninformative_bags_have_their_true_reason():
    """A tiny bag is too small whatever its share; a large one has the share of all rows."""
    rng = np.random.default_rng(0)
    sizes, shares = [1000, 1000, 1000, 4, 1], [0.1, 0.9, 0.5, 0.5, 1.0]
    rows = pd.DataFrame({"bag": np.repeat(list("abcde"), sizes), "x": rng.normal(size=3005)})
    found = inspected(rows, pd.DataFrame({"bag": list("abcde"), "rate": shares}))
    assert found["bag_details"]["too_small"] == ["e (1 row)", "d (4 rows)"]
    assert found["bag_details"]["average"] == ["c"]


def test_a_small_bag_that_matters_has_no_reason():
    rows = pd.DataFrame(
        {"bag": np.repeat(list("abc"), [40, 40, 5]), "x": (np.arange(85) * 37.0 % 85) ** 2}
    )
    bags = pd.DataFrame({"bag": list("abc"), "rate": [0.4, 0.6, 1.0]})
    details = inspected(rows, bags)["bag_details"]
    assert (details["average"], details["too_small"]) == ([], [])


def test_one_sided_proportions_have_no_convex_objective():
    rows = pd.DataFrame(
        {"bag": np.repeat(list("abcdef"), 10), "x": (np.arange(60) * 37.0 % 60) ** 2}
    )
    bags = pd.DataFrame({"bag": list("abcdef"), "rate": [0.1, 0.2, 0.3, 0.1, 0.2, 0.4]})
    found = inspected(rows, bags)
    convexity = found["bag_details"]["convexity"]
    assert not convexity["superbag"]
    assert convexity["floor"] > 0


def test_bags_by_a_column_are_said_to_differ_in_it():
    rows = pd.DataFrame({"bag": np.repeat(list("abcdef"), 10), "income": np.arange(60.0) ** 2})
    bags = pd.DataFrame({"bag": list("abcdef"), "rate": [0.4, 0.1, 0.3, 0.1, 0.2, 0.4]})
    found = inspected(rows, bags)
    assert found["assumptions"]["classes_differ"]
    assert found["assumptions"]["columns"] == ["income"]


def test_warnings_in_words():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"bag": [*np.repeat(list("abc"), 10), "d"], "x": rng.normal(size=31)})
    rows["region"] = rows["bag"].map({"a": "n", "b": "s", "c": "s", "d": "n"})
    rows["gaps"] = np.where(np.arange(31) % 4 == 0, rows["x"], np.nan)
    bags = pd.DataFrame({"bag": list("abcd"), "rate": [0.33, 0.5, 0.52, 1.0]})
    said = " | ".join(inspected(rows, bags)["warnings"])
    assert "in 2 bags (the first is 'a') the proportion does not give a whole number" in said
    assert "1 bag of one row" in said
    assert "same in all rows of a bag: 'region'" in said
    assert "most values are missing: 'gaps'" in said


def test_good_bags_are_usable_without_warnings(bag_table):
    found = inspected(bag_table.rows, bag_table.bags)
    assert found["verdict"]["word"] == "usable"
    assert found["warnings"] == []


def test_sources_are_weighed(source_rows):
    features = choose_features(source_rows.table.frame, roles=source_rows.roles)
    found = inspect_sources(source_rows, features)
    nurse, rule = found["sources"]["sources"]
    # 200·(.9)² and 400·(.5)²/(1.1)²: c² of Theorem 2.
    weights = np.array([200 * 0.81, 400 * 0.25 / 1.21])
    assert [nurse["weight"], rule["weight"]] == pytest.approx(weights / weights.sum())
    assert found["sources"]["effective_sample_size"] == pytest.approx(weights.sum())
    json.dumps(found, allow_nan=False)
