"""Calibration without labels: scores that are not log-odds, and curves."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss

from decorrupt import (
    AutoLabelProportionsClassifier,
    BagGridSearchCV,
    CorrectedLossClassifier,
    CountLikelihoodClassifier,
)
from decorrupt.model_selection import calibration_curve_from_proportions, fit_calibration
from decorrupt.observed import Observed
from helpers.bags import gaussian_bags, rows_in_bags

FEATURE_BAGS = gaussian_bags("feature", n_bags=30)
QUICK = {"kernels": ("rbf",), "kernel_gammas": ("scale",), "cv": 3}
CORRECTED = CorrectedLossClassifier(random_state=0)
quiet = pytest.mark.filterwarnings("ignore::UserWarning")


@quiet
@pytest.mark.parametrize("ensemble", ["best", "average"])
def test_a_search_calibrates_the_corrected_loss(ensemble):
    """In bags by a column its scores are far from log-odds; held-out counts show the slope."""
    d = FEATURE_BAGS
    raw = CORRECTED.fit(d.X, d.y, bags=d.bags).raw_scores(d.X_test)
    assert log_loss(d.y_test, expit(raw)) > 1.5
    search = AutoLabelProportionsClassifier(
        candidates=["corrected_loss"], ensemble=ensemble, random_state=0, **QUICK
    ).fit(d.X, d.y, bags=d.bags)
    assert log_loss(d.y_test, search.predict_proba(d.X_test, class_prior=0.5)) < 0.5
    held_out = search.held_out_scores_
    assert fit_calibration(held_out, Observed.from_bags(d.y, d.bags))[0] == pytest.approx(
        1, abs=0.4
    )


def test_scores_that_the_counts_contradict_count_for_nothing(bag_data):
    d = bag_data
    observed = Observed.from_bags(d.y, d.bags)
    scores = CountLikelihoodClassifier(random_state=0).fit(d.X, d.y, bags=d.bags).raw_scores(d.X)
    assert fit_calibration(scores, observed)[0] > 0.5
    slope, shift = fit_calibration(-scores, observed)
    assert slope == 0
    assert expit(shift) == pytest.approx(d.y.mean())


def test_a_plain_search_needs_probabilities_to_score_counts(bag_data):
    d = bag_data
    search = BagGridSearchCV(CORRECTED, {"reg_strength": [0.1]}, scoring="count_log_likelihood")
    with pytest.raises(ValueError, match="probabilities, which CorrectedLossClassifier does not"):
        search.fit(d.X, d.y, bags=d.bags)


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


def test_equal_proportions_leave_nothing_to_say():
    with pytest.raises(ValueError, match="proportion"):
        calibration_curve_from_proportions(np.full(4, 0.5), np.full(4, 0.5), bags=[0, 0, 1, 1])
