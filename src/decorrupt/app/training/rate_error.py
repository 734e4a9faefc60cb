"""Standard errors of held-out results that include the error of estimated noise rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.app.training.results import Measured
from decorrupt.corruption import Strata

STEP = 1e-5  # of a rate; small compared with any standard error, large compared with rounding
INCLUDES = (
    "± includes the uncertainty of the estimated noise rates that resampling shows, but not their "
    "error where the classes overlap everywhere."
)


@dataclass(frozen=True)
class RateError:
    """The delta method: Var f(ρ̂) ≈ gᵀΣg, g the derivatives of f in the rates, Σ their covariance.

    The rates are taken as independent of the rows that are judged. Known rates have neither moved
    strata nor covariance, and an error of zero.

    Attributes
    ----------
    strata : Strata
        With the shares of positives at the rates as estimated.
    moved : sequence of Strata
        The same with one rate after another raised by STEP.
    covariance : ndarray of shape (n_rates, n_rates)
        Of the rates.
    """

    strata: Strata
    moved: Sequence[Strata]
    covariance: FloatArray

    def of(self, values: Callable[[Strata], Sequence[float]]) -> FloatArray:
        """Return the standard errors that the rates alone cause in values of the strata."""
        base = np.array(values(self.strata))
        slopes = np.array([(np.array(values(moved)) - base) / STEP for moved in self.moved])
        slopes = slopes.reshape(len(self.moved), len(base))
        variances = np.einsum("ik,ij,jk->k", slopes, self.covariance, slopes)
        return np.asarray(np.sqrt(np.maximum(variances, 0.0)))

    def added_to(
        self, found: dict[str, Measured], criteria: Callable[[Strata], dict[str, Measured]]
    ) -> dict[str, Measured]:
        """Return what was found, with standard errors √(error of the rows² + of the rates²)."""
        errors = self.of(lambda strata: [one["value"] or 0.0 for one in criteria(strata).values()])
        return {
            name: Measured(value=one["value"], std_error=_together(one["std_error"], error))
            for (name, one), error in zip(found.items(), errors.tolist(), strict=True)
        }


def _together(of_rows: float | None, of_rates: float) -> float | None:
    return None if of_rows is None else math.hypot(of_rows, of_rates)
