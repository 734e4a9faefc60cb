import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    roc_auc_score,
)

from decorrupt.app.training.evaluate import combined, contradiction, evaluate_labels
from decorrupt.app.training.predict import Predictions
from decorrupt.losses import probabilities

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
