"""The error that estimated rates add to held-out results."""

import numpy as np
import pytest

from decorrupt.noise_rates import NO_RATE_ERROR, RateError
from decorrupt.noise_rates.rate_error import STEP
from decorrupt.observed import Observed, class_columns, read_sources


def strata(first, second):
    shares = class_columns([first, second])
    return Observed(np.array([0, 1]), np.array(["−", "+"]), np.array([0, 1]), shares)


def product(at):
    return float(at.proportions[:, 1].prod()), 0.3


def test_a_product_by_hand():
    """f = a·b at (.2, .5), Σ = [[.04, .01], [.01, .09]]: gᵀΣg = .25·.04 + 2·.1·.01 + .04·.09."""
    moved = [strata(0.2 + STEP, 0.5), strata(0.2, 0.5 + STEP)]
    error = RateError(moved, np.array([[0.04, 0.01], [0.01, 0.09]]))
    value, std_error = error.added_to(product, strata(0.2, 0.5))
    assert value == pytest.approx(0.1)
    assert std_error == pytest.approx(np.sqrt(0.09 + 0.0156), rel=1e-4)


def test_known_rates_add_nothing():
    assert NO_RATE_ERROR.added_to(product, strata(0.2, 0.5)) == (0.1, 0.3)


def test_one_rate_after_another_is_moved():
    """At class prior ½ a source's share of positives among rows labelled − is ρ₊/(1 + ρ₊ − ρ₋)."""
    rates = {"a": (0.2, 0.1), "b": (0.3, 0.4)}
    labels, classes = np.array([0, 1, 0, 1]), np.array([-1, 1])
    noisy = read_sources(labels, classes, ["a", "a", "b", "b"], rates, 0.5)
    moved = RateError.of(noisy, np.eye(4)).moved
    flips = np.array([0.1, 0.2, 0.4, 0.3]) + STEP * np.eye(4)
    for (a_neg, a_pos, b_neg, b_pos), own in zip(flips, moved, strict=True):
        assert own.proportions[0, 1] == pytest.approx(a_pos / (1 + a_pos - a_neg))
        assert own.proportions[2, 1] == pytest.approx(b_pos / (1 + b_pos - b_neg))
