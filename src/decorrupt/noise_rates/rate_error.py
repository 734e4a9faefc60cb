"""What the uncertainty of estimated noise rates adds to the errors of held-out results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.inputs import NoisySources, source_priors, source_strata

STEP = 1e-5  # of a rate; small beside any standard error, large beside rounding


@dataclass(frozen=True)
class RateError:
    """The delta method: Var f(ρ̂) ≈ gᵀΣg, g the derivatives of f in the rates, Σ their covariance.

    The rates are taken as independent of the rows that are scored. Known rates have neither moved
    strata nor covariance, and an error of zero.

    Attributes
    ----------
    moved : sequence of Strata
        The strata with one rate after another raised by STEP.
    covariance : ndarray of shape (n_rates, n_rates)
        Of the rates.
    """

    moved: Sequence[Strata]
    covariance: FloatArray

    @classmethod
    def of(cls, noisy: NoisySources, class_priors: Any, covariance: FloatArray | None) -> RateError:
        """Return the error of estimated rates, whose order is flip_pos, flip_neg by source."""
        if covariance is None:
            return NO_RATE_ERROR
        moved = []
        for step in STEP * np.eye(2 * len(noisy.ids)):
            rates = noisy.rates + step.reshape(-1, 2)[noisy.row_source]
            at = replace(noisy, rates=rates)
            moved.append(source_strata(at, source_priors(class_priors, at)))
        return cls(moved, covariance)

    def added_to(
        self, measure: Callable[[Strata], tuple[float, float]], strata: Strata
    ) -> tuple[float, float]:
        """Return a measure of the strata, its error √(error of the rows² + of the rates²)."""
        value, std_error = measure(strata)
        slopes = np.array([(measure(moved)[0] - value) / STEP for moved in self.moved])
        variance = max(float(slopes @ self.covariance @ slopes), 0.0)
        return value, float(np.hypot(std_error, np.sqrt(variance)))


NO_RATE_ERROR = RateError((), np.zeros((0, 0)))
