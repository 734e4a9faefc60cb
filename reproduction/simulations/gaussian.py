"""Two Gaussian classes with exact balanced risks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from decorrupt import datasets
from decorrupt.losses import LogisticLoss, MarginLoss
from reproduction import FloatArray

# Gauss–Hermite nodes: accurate to twelve digits for scores of standard deviation up to 5.
QUADRATURE_NODES = 200
CELLS = 4000
TAIL = 8.0  # the probability beyond eight standard deviations is 1e-15


@dataclass(frozen=True)
class GaussianClasses(datasets.GaussianClasses):
    """Two Gaussian classes X | Y=y ~ N(y·μ, I), y = ±1, whose risks are known exactly."""

    @cached_property
    def bayes_risk(self) -> float:
        """E φ(2⟨μ, X⟩ | Y=1), the smallest possible balanced logistic risk."""
        return self.linear_risk(2 * np.asarray(self.mean), loss=LogisticLoss())

    def linear_risk(
        self, coef: ArrayLike, intercept: float = 0.0, *, loss: MarginLoss | None = None
    ) -> float:
        """Return ½E₊φ(f) + ½E₋φ(−f) for f = ⟨θ, x⟩ + b, by Gauss–Hermite quadrature."""
        loss = loss or LogisticLoss()
        coef = np.asarray(coef, dtype=float)
        spread, shift = np.linalg.norm(coef), float(coef @ np.asarray(self.mean))
        nodes, mass = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
        mass = mass / mass.sum()
        margin = shift + spread * nodes
        return float(0.5 * mass @ (loss.value(margin + intercept) + loss.value(margin - intercept)))

    def score_risk(
        self, score: Callable[[FloatArray], FloatArray], loss: MarginLoss | None = None
    ) -> float:
        """Return ½E₊φ(f) + ½E₋φ(−f) for any score of one feature, summed over 4,000 cells."""
        loss = loss or LogisticLoss()
        points, mass_pos, mass_neg = self.cells()
        scores = score(points[:, None])
        return float(0.5 * (mass_pos @ loss.value(scores) + mass_neg @ loss.value(-scores)))

    def score_error(self, score: Callable[[FloatArray], FloatArray]) -> float:
        """Return the balanced error of sign f for any score of one feature; f = 0 counts half."""
        points, mass_pos, mass_neg = self.cells()
        side = np.sign(score(points[:, None]))
        return float(0.25 * (mass_pos @ (1 - side) + mass_neg @ (1 + side)))

    def cells(
        self, n_cells: int = CELLS, tail: float = TAIL
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return midpoints of cells and both classes' exact probabilities in them (1-d only)."""
        if len(self.mean) != 1:
            raise ValueError(f"cells need classes of one dimension, these have {len(self.mean)}")
        reach = abs(self.mean[0]) + tail
        edges = np.linspace(-reach, reach, n_cells + 1)
        masses = [np.diff(norm.cdf(edges, loc=side * self.mean[0])) for side in (1, -1)]
        return (edges[1:] + edges[:-1]) / 2, *(mass / mass.sum() for mass in masses)
