import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from decorrupt.app.training.held_out import (
    bag_folds,
    calibration_from_proportions,
    criteria,
    held_out_results,
    histogram,
)
from decorrupt.app.training.results import plain
from decorrupt.corruption import Strata


@pytest.fixture
def pure():
    """Bags of one class each: proportions are labels, and estimates have to be exact."""
    rng = np.random.default_rng(0)
    bags = np.arange(200) // 5
    labels = rng.integers(0, 2, 40)[bags]
    scores = rng.normal(size=200) + labels
    strata = Strata(np.arange(40).astype(str), bags, labels[::5].astype(float))
    return strata, labels, scores, 1 / (1 + np.exp(-scores))


def test_pure_bags_make_the_label_free_criterion_the_balanced_accuracy(pure):
    strata, labels, scores, probabilities = pure
    found = criteria(strata, scores, probabilities, counts=True)
    expected = balanced_accuracy_score(labels, scores > 0)
    assert found["corrected_accuracy"]["value"] == pytest.approx(expected)


def test_pure_bags_make_the_label_free_calibration_the_labels_own(pure):
    strata, labels, _, probabilities = pure
    bins = calibration_from_proportions(strata, probabilities, n_bins=4)
    assert [one["n_rows"] for one in bins] == [50] * 4
    for one in bins:
        inside = (probabilities >= one["low"]) & (probabilities < one["high"] + 1e-12)
        assert one["share"] == pytest.approx(labels[inside].mean(), abs=0.021)
    total = sum(one["n_rows"] * one["share"] for one in bins)
    assert total == pytest.approx(labels.sum())


def test_label_free_calibration_is_unbiased():
    """Bags of mixed classes, drawn many times: the mean estimate is the true share in the bin."""
    rng = np.random.default_rng(1)
    row_bag = np.repeat(np.arange(4), 50)
    shares = np.array([0.1, 0.3, 0.6, 0.9])
    strata = Strata(np.arange(4).astype(str), row_bag, shares)
    gaps = []
    for _ in range(300):
        labels = np.concatenate([rng.permutation(50) < 50 * share for share in shares])
        probabilities = 1 / (1 + np.exp(-rng.normal(size=200) - 2 * labels))
        high = calibration_from_proportions(strata, probabilities, n_bins=2)[1]
        gaps.append(high["share"] - labels[probabilities >= high["low"]].mean())
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(300)


def test_rows_never_held_out_are_left_out(pure):
    strata, _, scores, probabilities = pure
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


def test_folds_hold_out_whole_bags_where_there_are_enough(pure):
    folds, how = bag_folds(pure[0], 5, seed=0)
    assert how == "whole bags"
    assert len(folds) == 5
    few = Strata(np.arange(2).astype(str), np.repeat([0, 1], 20), np.array([0.2, 0.8]))
    folds, how = bag_folds(few, 4, seed=0)
    assert how == "rows of every bag"
    assert all(len(set(few.row_stratum[test])) == 2 for _, test in folds)


def test_too_few_rows_to_hold_any_out_are_said_to_be_too_few():
    two = Strata(np.array(["a", "b"]), np.array([0, 1]), np.array([0.2, 0.8]))
    with pytest.raises(ValueError, match="2 rows in 2 bags are too few"):
        bag_folds(two, 5, seed=0)


def test_histogram_counts_every_row():
    found = histogram(np.array([0.0, 0.01, 0.5, 1.0]), np.array([False, True, True, True]))
    assert sum(found["counts"]) == 4
    assert sum(found["counts_positive"]) == 3


def test_plain_numbers():
    given = {"a": np.float64("nan"), 1: np.array([1, 2]), "b": (np.bool_(True), np.inf)}
    assert plain(given) == {"a": None, "1": [1, 2], "b": [True, None]}
