import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from decorrupt.app.training.held_out import (
    calibration_from_proportions,
    criteria,
    held_out_results,
    histogram,
)
from decorrupt.app.training.results import plain
from decorrupt.corruption import Strata


def test_pure_bags_make_the_label_free_criterion_the_balanced_accuracy(pure_bags):
    strata, labels, scores, probabilities = pure_bags
    found = criteria(strata, scores, probabilities, counts=True)
    expected = balanced_accuracy_score(labels, scores > 0)
    assert found["corrected_accuracy"]["value"] == pytest.approx(expected)


def test_rows_never_held_out_are_left_out(pure_bags):
    strata, _, scores, probabilities = pure_bags
    scores, probabilities = scores.copy(), probabilities.copy()
    scores[:5] = probabilities[:5] = np.nan
    found = held_out_results(strata, scores, probabilities, counts=True)
    assert [bag["bag"] for bag in found["per_bag"]] == [str(k) for k in range(1, 40)]
    assert sum(found["histogram"]["counts"]) == 195


def test_equal_proportions_leave_no_comparison():
    strata = Strata(np.array(["a", "b"]), np.repeat([0, 1], 10), np.array([0.5, 0.5]))
    scores = np.linspace(-1, 1, 20)
    found = criteria(strata, scores, np.full(20, 0.5), counts=True)
    assert found["corrected_accuracy"] == {"value": None, "std_error": None}
    assert found["count_log_likelihood"]["value"] is not None
    assert calibration_from_proportions(strata, np.full(20, 0.5)) == []


def test_histogram_counts_every_row():
    found = histogram(np.array([0.0, 0.01, 0.5, 1.0]), np.array([False, True, True, True]))
    assert sum(found["counts"]) == 4
    assert sum(found["counts_positive"]) == 3


def test_plain_numbers():
    given = {"a": np.float64("nan"), 1: np.array([1, 2]), "b": (np.bool_(True), np.inf)}
    assert plain(given) == {"a": None, "1": [1, 2], "b": [True, None]}
