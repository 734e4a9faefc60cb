"""What the estimates have in common: intervals, and rates that stay below a coin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from decorrupt.noise_rates import NoiseRateEstimate
from decorrupt.noise_rates.result import bootstrap_ends, informative
from decorrupt.observed import NoiseRates, matrix_of_rates, rates_of_matrix


def estimate(ends, **options):
    """Return the estimate of one source with flip rates of .1 and .25."""
    rates, prior = matrix_of_rates([0.1], [0.25]), np.array([0.6, 0.4])
    return NoiseRateEstimate(["nurse"], rates, ends, 0.9, prior, "audit", ["no", "yes"], **options)


@given(st.floats(-0.5, 1.5), st.floats(-0.5, 1.5))
def test_drawn_back_rates_are_rates(flip_pos, flip_neg):
    pair = rates_of_matrix(informative(matrix_of_rates([flip_pos], [flip_neg]))[0])
    assert NoiseRates(*pair).signal >= 0.01 - 1e-12
    if min(flip_pos, flip_neg) >= 0 and flip_pos + flip_neg <= 0.99:
        np.testing.assert_allclose(pair, (flip_pos, flip_neg))


def test_intervals_are_the_wider_of_two():
    """Skewed draws around .2 for one rate, draws far below the estimate for the other."""
    draws = np.zeros((101, 1, 2))
    draws[:, 0, 0] = 0.2 + np.linspace(0, 1, 101) ** 4 * 0.4
    draws[:, 0, 1] = np.linspace(-0.1, 0.1, 101)
    moved = matrix_of_rates(draws[..., 0], draws[..., 1])
    ends = bootstrap_ends(matrix_of_rates([0.2], [0.3]), moved, 0.9)
    found = NoiseRateEstimate(["s"], moved[0], ends, 0.9, np.full(2, 0.5), "x", [0, 1])
    (low, high), (second_low, second_high) = found.intervals["s"].values()
    reach = norm.ppf(0.95) * draws.std(axis=0)[0]
    assert low == pytest.approx(0.2 - reach[0])
    assert high == pytest.approx(0.2 + 0.95**4 * 0.4)
    assert second_low == 0
    assert second_high == pytest.approx(0.3 + reach[1])


def test_no_draws_no_intervals():
    assert bootstrap_ends(matrix_of_rates([0.2], [0.3]), np.array([]), 0.9) is None
    assert estimate(None).intervals == {}


def test_the_table():
    found = estimate(np.array([[[[0.7, 0.8], [0.2, 0.3]], [[0.05, 0.2], [0.8, 0.95]]]]))
    assert found.rates == {"nurse": (0.1, 0.25)}
    assert found.intervals == {"nurse": {"flip_pos": (0.05, 0.2), "flip_neg": (0.2, 0.3)}}
    lines = str(found).splitlines()
    assert " ".join(lines[1].split()) == "nurse 0.100 (0.050 to 0.200) 0.250 (0.200 to 0.300)"
    assert lines[2] == "class prior 0.400; 90% intervals; audit"


def test_the_table_tells_what_its_intervals_leave_out():
    left_out = "The intervals leave out the weather."
    assert str(estimate(None, left_out=left_out)).splitlines()[-1] == left_out
