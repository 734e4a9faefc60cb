"""Detectable effects: how large a difference between bags a test would have shown."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from decorrupt._typing import FloatArray

POWER = 0.8


def detectable_effect(inflation: FloatArray, critical: float, *, power: float = POWER) -> float:
    """Return the s for which P(Σ_k z_k² > critical·M) = `power`, E z_k² = 1 + a_k·s².

    Normal approximation of Σ_k z_k² with variance 2·Σ_k (1 + a_k·s²)².

    Parameters
    ----------
    inflation : ndarray of shape (n_bags,)
        a_k: n_k for the means of a column in units of its standard deviation, n_k²/V_k for counts.
    critical : float
        The dispersion above which the test rejects.
    power : float in (0, 1)
        The probability of detection.

    Returns
    -------
    float
        ∞ if no effect reaches this power with so few bags.
    """
    quantile = norm.ppf(power)

    def margin(effect: float) -> float:
        squares = 1 + inflation * effect**2
        spread = np.sqrt(2 * np.sum(squares**2))
        return float(squares.sum() - quantile * spread - critical * len(squares))

    # With few bags the spread grows as fast as the mean.
    highest = 1.0 / np.sqrt(np.median(inflation))
    for _ in range(40):
        if margin(highest) > 0:
            return float(brentq(margin, 0.0, highest)) if margin(0.0) < 0 else 0.0
        highest *= 2
    return float("inf")
