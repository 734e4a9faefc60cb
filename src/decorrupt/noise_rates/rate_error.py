"""Standard errors of held-out results that include the uncertainty of the noise rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.inputs import NoisySources, source_priors, source_strata

STEP = 1e-5  # of a rate: small compared with standard errors, large compared with rounding errors


@dataclass(frozen=True)
class RateError:
    """The delta method: Var f(ρ̂) ≈ gᵀΣg, g = ∂f/∂ρ, Σ the covariance of the rates.

    The estimated rates are assumed independent of the scored rows. For known rates `moved` and
    `covariance` are empty and the error is zero.

    Attributes
    ----------
    moved : sequence of Strata
        The strata with one rate increased by STEP, one entry per rate.
    covariance : ndarray of shape (n_rates, n_rates)
        Covariance of the rates.
    """

    moved: Sequence[Strata]
    covariance: FloatArray

    @classmethod
    def of(cls, noisy: NoisySources, class_priors: Any, covariance: FloatArray | None) -> RateError:
        """Return the error of estimated rates, in the order flip_pos, flip_neg per source."""
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
        """Return the measure and its standard error √(error of rows² + error of rates²)."""
        value, std_error = measure(strata)
        slopes = np.array([(measure(moved)[0] - value) / STEP for moved in self.moved])
        variance = max(float(slopes @ self.covariance @ slopes), 0.0)
        return value, float(np.hypot(std_error, np.sqrt(variance)))


NO_RATE_ERROR = RateError((), np.zeros((0, 0)))
