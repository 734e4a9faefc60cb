"""Remark 2: noise that depends on the features allows uniform weights only.

Everything is exact: three feature values, so every expectation is a sum of a few terms.
"""

import numpy as np
import pytest

from decorrupt.corruption import CorrectedLoss, signal_to_noise
from decorrupt.losses import get_loss

MASS = np.array([0.5, 0.3, 0.2])
POSTERIOR = np.array([0.9, 0.5, 0.1])  # P(Y=1|x)
RATES = np.array([[0.05, 0.0], [0.2, 0.3], [0.45, 0.4]])  # (ρ₊(x), ρ₋(x))


def clean_risk(scores):
    loss = get_loss("logistic")
    by_point = POSTERIOR * loss.value(scores) + (1 - POSTERIOR) * loss.value(-scores)
    return MASS @ by_point


def expected_corrected_risk(scores, weight_of_point):
    """E[w(X)·ℓ^ρ(X)(f(X), Ỹ)]/E[w(X)], which n_i = 1 and weights w_i ∝ w(x_i) converge to."""
    total = 0.0
    for mass, posterior, (flip_pos, flip_neg), score, weight in zip(
        MASS, POSTERIOR, RATES, scores, weight_of_point, strict=True
    ):
        noisy = posterior * (1 - flip_pos) + (1 - posterior) * flip_neg
        by_label = CorrectedLoss("logistic", (flip_pos, flip_neg)).value([score, score], [1, -1])
        total += mass * weight * (noisy * by_label[0] + (1 - noisy) * by_label[1])
    return total / (MASS @ weight_of_point)


OPTIMAL = signal_to_noise([1, 1, 1], RATES)


@pytest.mark.parametrize("scores", [[0.0, 1.0, -1.0], [2.0, 0.3, -0.5], [-1.0, -1.0, 3.0]])
def test_uniform_weights_are_unbiased(scores):
    scores = np.array(scores)
    found = expected_corrected_risk(scores, np.ones(3))
    assert found == pytest.approx(clean_risk(scores), rel=1e-12)


def test_optimal_weights_are_biased():
    scores = np.array([2.0, 0.3, 3.0])  # wrong where the noise is: optimal weights look away
    assert expected_corrected_risk(scores, OPTIMAL) < 0.6 * clean_risk(scores)
