import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import t

from decorrupt import estimate_accuracy
from decorrupt.model_selection import corrected_accuracy
from decorrupt.model_selection.model_accuracy import calibrate
from decorrupt.observed import read_bags


def predictions(seed=0, n_bags=40, size=25):
    """Rows with known P(y|x) in bags of different priors."""
    rng = np.random.default_rng(seed)
    bags = np.repeat(np.arange(n_bags), size)
    labels = rng.random(len(bags)) < rng.uniform(0.1, 0.9, n_bags)[bags]
    scores = rng.normal(size=len(bags)) + 2 * labels - 1
    probabilities = 1 / (1 + np.exp(-2 * scores))
    return labels, (np.bincount(bags, labels) / size)[bags], scores, probabilities, bags


def test_corrected_estimate_is_that_of_the_criterion():
    _, y, scores, probabilities, bags = predictions()
    value, std_error = corrected_accuracy(y, scores, bags=bags)
    found = estimate_accuracy(y, scores, probabilities, bags=bags)
    assert found.basis == "corrected"
    assert found.value == pytest.approx(value)
    # At least the standard error of independent rows, with n − 1 and Student's t.
    least = t.ppf(0.975, 38) * std_error * np.sqrt(25 / 24)
    assert least - 1e-9 <= found.high - found.value < 1.5 * least


def test_bags_that_scatter_widen_the_interval():
    _, y, scores, probabilities, bags = predictions()
    narrow = estimate_accuracy(y, scores, probabilities, bags=bags)
    moved = scores + np.random.default_rng(1).normal(size=40)[bags]
    wide = estimate_accuracy(y, moved, probabilities, bags=bags)
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)


def by_score(seed=0, n_bags=100, size=30):
    """Rows with a common P(y|x) = σ(2x), in bags of similar x."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n_bags * size) < 0.5
    scores = np.where(labels, 1, -1) + rng.normal(size=len(labels))
    bags = np.argsort(np.argsort(scores)) // size
    return (np.bincount(bags, labels) / size)[bags], scores, bags


@pytest.mark.parametrize(("slope", "shift"), [(2, 0), (0.5, 0), (5, 1)])
def test_model_estimate_in_closed_form(slope, shift):
    # Φ(1) is the balanced accuracy of the sign; the slope and the shift are calibrated away.
    y, scores, bags = by_score()
    probabilities = 1 / (1 + np.exp(-slope * scores - shift))
    found = estimate_accuracy(
        y, scores, probabilities, bags=bags, common_classes=False, random_state=0
    )
    assert found.basis == "model"
    assert found.value == pytest.approx(0.841, abs=0.02)
    assert found.low < found.value < found.high


def test_an_impossible_estimate_becomes_one_from_the_model():
    _, y, _, probabilities, bags = predictions()
    impossible = np.where(y > 0.5, 1.0, -1.0)  # the bag decides: steeper than any class mixture
    assert corrected_accuracy(y, impossible, bags=bags).value > 1
    found = estimate_accuracy(y, impossible, probabilities, bags=bags, random_state=0)
    assert found.basis == "model"
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert "model's own calibrated probabilities" in str(found)


def test_calibration_finds_the_slopes_between_and_within_bags():
    rng = np.random.default_rng(0)
    bags = np.repeat(np.arange(400), 20)
    means, within = rng.normal(size=400)[bags], 2 * rng.normal(size=8000)
    within -= (np.bincount(bags, within) / 20)[bags]
    true = expit(0.5 * means + 2 * within - 0.3)
    y = (np.bincount(bags, rng.random(8000) < true) / 20)[bags]
    found = calibrate(expit(means + within), read_bags(y, bags))
    assert np.abs(found - true).mean() < 0.03
    # A slope is never negative: predictions against the counts become constant.
    against = calibrate(expit(-means), read_bags(y, bags))
    assert np.ptp(against) < 1e-6


def test_the_model_fitted_to_all_bags_moves_the_value_and_widens_the_range():
    y, scores, bags = by_score()
    noise = np.random.default_rng(1).normal(size=len(y))
    held_out, fitted = scores + 2 * noise, scores
    options = {"bags": bags, "common_classes": False, "random_state": 0}
    alone = estimate_accuracy(y, held_out, expit(held_out), **options)
    final = estimate_accuracy(y, fitted, expit(fitted), **options)
    both = estimate_accuracy(
        y, held_out, expit(held_out), fitted=(fitted, expit(fitted)), **options
    )
    assert both.value == pytest.approx((alone.value + final.value) / 2)
    assert (both.low, both.high) == (alone.low, final.high)
    assert alone.low < final.low


def test_several_classes_agree_with_two():
    _, y, scores, probabilities, bags = predictions()
    two = estimate_accuracy(
        y, scores, probabilities, bags=bags, common_classes=False, random_state=0
    )
    both = np.column_stack([1 - probabilities, probabilities])
    wide = estimate_accuracy(
        np.column_stack([1 - y, y]), scores, both, bags=bags, common_classes=False, random_state=0
    )
    assert wide == two


def test_intervals_cover():
    inside = []
    for seed in range(100):
        _, y, scores, probabilities, bags = predictions(seed)
        found = estimate_accuracy(y, scores, probabilities, bags=bags)
        inside.append(found.low <= 0.8413 <= found.high)
    assert np.mean(inside) > 0.9
