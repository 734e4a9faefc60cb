import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from decorrupt.app.training.held_out import (
    calibration_from_proportions,
    criteria,
    held_out_results,
    histogram,
)
from decorrupt.app.training.results import plain
from decorrupt.losses import probabilities as probabilities_of
from decorrupt.observed import Observed, class_columns

CLASSES = np.array([0, 1])


def test_rows_never_held_out_are_left_out(pure_bags):
    bags, _, scores, probabilities = pure_bags
    scores, probabilities = scores.copy(), class_columns(probabilities)
    scores[:5] = probabilities[:5] = np.nan
    found = held_out_results(bags, scores, probabilities, counts=True)
    assert [bag["bag"] for bag in found["per_bag"]] == [str(k) for k in range(1, 40)]
    assert sum(found["histogram"]["counts"]) == 195


def test_equal_proportions_leave_no_comparison():
    halves = np.full((2, 2), 0.5)
    bags = Observed(CLASSES, np.array(["a", "b"]), np.repeat([0, 1], 10), halves)
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
    bags = Observed(CLASSES, rows, rows, class_columns(labels))
    found = held_out_results(bags, log_odds, probabilities_of(factor * log_odds), counts=True)
    reference = LogisticRegression(C=1e6).fit(factor * log_odds[:, None], labels)
    assert found["calibration_slope"] == pytest.approx(reference.coef_[0, 0], rel=0.01)
    assert found["calibration_slope"] == pytest.approx(1 / factor, rel=0.1)


def test_labels_of_sources_have_no_calibration_slope(pure_bags):
    bags, _, scores, probabilities = pure_bags
    found = held_out_results(bags, scores, class_columns(probabilities), counts=False)
    assert "calibration_slope" not in found


def test_histogram_counts_every_row():
    found = histogram(np.array([0.0, 0.01, 0.5, 1.0]), np.array([False, True, True, True]))
    assert sum(found["counts"]) == 4
    assert sum(found["counts_positive"]) == 3


def test_plain_numbers():
    given = {"a": np.float64("nan"), 1: np.array([1, 2]), "b": (np.bool_(True), np.inf)}
    assert plain(given) == {"a": None, "1": [1, 2], "b": [True, None]}
