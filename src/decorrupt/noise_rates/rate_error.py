"""Standard errors of held-out results that include the uncertainty of the noise rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.class_sources import ClassSources
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
    def of(
        cls,
        noisy: NoisySources | ClassSources,
        class_priors: Any,
        covariance: FloatArray | None,
    ) -> RateError:
        """Return the error of estimated rates, in the order flip_pos, flip_neg per source.

        For several classes, in the order of the matrices' entries off the diagonal.
        """
        if covariance is None:
            return NO_RATE_ERROR
        moved = [
            source_strata(at, source_priors(class_priors, at)) for at in _with_one_rate_moved(noisy)
        ]
        return cls(moved, covariance)

    def added_to(
        self, measure: Callable[[Strata], tuple[float, float]], strata: Strata
    ) -> tuple[float, float]:
        """Return the measure and its standard error √(error of rows² + error of rates²)."""
        value, std_error = measure(strata)
        slopes = np.array([(measure(moved)[0] - value) / STEP for moved in self.moved])
        variance = max(float(slopes @ self.covariance @ slopes), 0.0)
        return value, float(np.hypot(std_error, np.sqrt(variance)))


def _with_one_rate_moved(
    noisy: NoisySources | ClassSources,
) -> Iterator[NoisySources | ClassSources]:
    n_sources = len(noisy.ids)
    if isinstance(noisy, NoisySources):
        for step in STEP * np.eye(2 * n_sources):
            yield replace(noisy, rates=noisy.rates + step.reshape(-1, 2)[noisy.row_source])
        return
    n_classes = len(noisy.classes)
    for source, label, noisy_label in product(range(n_sources), *[range(n_classes)] * 2):
        if label != noisy_label:
            matrices = noisy.source_rates
            matrices[source, label, noisy_label] += STEP
            matrices[source, label, label] -= STEP
            yield replace(noisy, matrices=matrices, row_matrix=noisy.row_source)


NO_RATE_ERROR = RateError((), np.zeros((0, 0)))
