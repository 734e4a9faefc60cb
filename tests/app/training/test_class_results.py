"""Summaries and held-out results of several classes."""

import numpy as np
import pytest

from decorrupt.app.training.evaluate import evaluate_labels, share_of
from decorrupt.app.training.held_out import held_out_results
from decorrupt.app.training.predict import Predictions
from decorrupt.app.training.summary import summarize_bags
from decorrupt.observed import Observed

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


def test_classes_that_change_together_are_hardest_to_distinguish():
    shares = np.array([[0.5, 0.25, 0.25], [0.2, 0.39, 0.41], [0.1, 0.46, 0.44], [0.8, 0.1, 0.1]])
    bags = observe(np.arange(4), np.repeat(np.arange(4), 10), shares)
    assert summarize_bags(bags)["hardest_classes"] == ["b", "c"]


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
