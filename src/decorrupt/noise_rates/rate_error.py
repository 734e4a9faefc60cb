"""Standard errors of held-out results that include the uncertainty of the noise rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.observed import NoisySources, Observed

STEP = 1e-5  # of a rate: small compared with standard errors, large compared with rounding errors


@dataclass(frozen=True)
class RateError:
    """The delta method: Var f(ρ̂) ≈ gᵀΣg, g = ∂f/∂ρ, Σ the covariance of the rates.

    The estimated rates are assumed independent of the scored rows. For known rates `moved` and
    `covariance` are empty and the error is zero.

    Attributes
    ----------
    moved : sequence of Observed
        The strata of the sources with one rate increased by STEP, one entry per rate.
    covariance : ndarray of shape (n_rates, n_rates)
        Covariance of the rates.
    """

    moved: Sequence[Observed]
    covariance: FloatArray

    @classmethod
    def of(cls, noisy: NoisySources, covariance: FloatArray | None) -> RateError:
        """Return the error of estimated rates, in the order of `NoiseRateEstimate.covariance`."""
        if covariance is None:
            return NO_RATE_ERROR
        return cls([moved.strata for moved in _with_one_rate_moved(noisy)], covariance)

    def added_to(
        self, measure: Callable[[Observed], tuple[float, float]], strata: Observed
    ) -> tuple[float, float]:
        """Return the measure and its standard error √(error of rows² + error of rates²)."""
        value, std_error = measure(strata)
        slopes = np.array([(measure(moved)[0] - value) / STEP for moved in self.moved])
        variance = max(float(slopes @ self.covariance @ slopes), 0.0)
        return value, float(np.hypot(std_error, np.sqrt(variance)))


def _with_one_rate_moved(noisy: NoisySources) -> Iterator[NoisySources]:
    for source, label, noisy_label in product(range(len(noisy.ids)), *[range(noisy.n_classes)] * 2):
        if label != noisy_label:
            matrices = noisy.source_matrices.copy()
            matrices[source, label, noisy_label] += STEP
            matrices[source, label, label] -= STEP
            yield replace(noisy, matrices=matrices, row_matrix=noisy.row_source)


NO_RATE_ERROR = RateError((), np.zeros((0, 0)))
