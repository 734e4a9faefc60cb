"""Calibration curves without labels."""

import numpy as np
import pytest

from decorrupt.model_selection import calibration_curve_from_proportions
from helpers.bags import rows_in_bags


def curve(observed, probabilities, **options):
    y, bags = observed.row_proportions[:, 1], observed.row_bag
    return calibration_curve_from_proportions(y, probabilities, bags=bags, **options)


def test_pure_bags_make_the_label_free_calibration_the_labels_own(pure_bags):
    observed, labels, _, probabilities = pure_bags
    bins = curve(observed, probabilities, n_bins=4)
    assert [one.n_rows for one in bins] == [50] * 4
    for one in bins:
        inside = (probabilities >= one.low) & (probabilities < one.high + 1e-12)
        assert one.share == pytest.approx(labels[inside].mean(), abs=0.021)
    total = sum(one.n_rows * one.share for one in bins)
    assert total == pytest.approx(labels.sum())


def test_label_free_calibration_is_unbiased():
    """Bags of mixed classes, drawn many times: the mean estimate is the true share in the bin."""
    rng = np.random.default_rng(1)
    row_bag = np.repeat(np.arange(4), 50)
    shares = np.array([0.1, 0.3, 0.6, 0.9])
    observed = rows_in_bags(row_bag, shares)
    gaps = []
    for _ in range(300):
        labels = np.concatenate([rng.permutation(50) < 50 * share for share in shares])
        probabilities = 1 / (1 + np.exp(-rng.normal(size=200) - 2 * labels))
        high = curve(observed, probabilities, n_bins=2)[1]
        gaps.append(high.share - labels[probabilities >= high.low].mean())
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(300)


def test_equal_probabilities_are_one_bin(pure_bags):
    observed, labels, _, probabilities = pure_bags
    (only,) = curve(observed, np.full_like(probabilities, 0.3))
    assert (only.low, only.high, only.n_rows) == (0.3, 0.3, 200)
    assert only.share == pytest.approx(labels.mean())


def test_equal_proportions_leave_nothing_to_say():
    with pytest.raises(ValueError, match="proportion"):
        calibration_curve_from_proportions(np.full(4, 0.5), np.full(4, 0.5), bags=[0, 0, 1, 1])
