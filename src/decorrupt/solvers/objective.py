"""J(θ) = risk(Zθ + b) + λ‖θ‖²: any smooth risk of the scores, seen as a function of θ.

Conventions
-----------
- A risk lives in score space: it maps the n scores to a number, its slope is the gradient in the
  scores, its curvature the Hessian there, as a linear operator on (n,) or (n, k) arrays.
- The objective adds the feature matrix, the penalty and an unpenalised intercept, kept last.
- No ½ before λ, and no 1/n before the risk: the scaling lives in the risk's coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.risks.score_risk import Operator, ScoreRisk


@dataclass(frozen=True)
class Objective:
    """J(θ, b) = risk(Zθ + b) + λ‖θ‖².

    Parameters
    ----------
    features : array or sparse matrix of shape (n_rows, rank)
        Z.
    risk : ScoreRisk
        The data term.
    reg_strength : float
        λ.
    fit_intercept : bool
        Whether there is an unpenalised b, the last coefficient.
    """

    features: Any
    risk: ScoreRisk
    reg_strength: float
    fit_intercept: bool = False

    @property
    def rank(self) -> int:
        """Penalised coefficients."""
        return int(self.features.shape[1])

    @property
    def n_coef(self) -> int:
        """All coefficients, the intercept included."""
        return self.rank + self.fit_intercept

    def with_reg_strength(self, reg_strength: float) -> Objective:
        """Return the same problem under another λ."""
        return replace(self, reg_strength=reg_strength)

    def scores(self, coef: FloatArray) -> FloatArray:
        """Return Zθ + b, in the precision of Z."""
        coef = coef.astype(self.features.dtype, copy=False)
        scores = self.features @ coef[: self.rank]
        return np.asarray(scores + coef[-1] if self.fit_intercept else scores)

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return J and ∇J; the cost is two passes over Z."""
        value, slope = self.risk.value_and_slope(self.scores(coef))
        theta = coef[: self.rank]
        value += self.reg_strength * float(theta @ theta)
        return value, self._back(slope) + self._penalty(coef)

    def hessian_operator(self, coef: FloatArray) -> Operator:
        """Return v ↦ ∇²J·v at `coef`."""
        curvature = self.risk.curvature(self.scores(coef))

        def apply(direction: FloatArray) -> FloatArray:
            return self._back(curvature(self.scores(direction))) + self._penalty(direction)

        return apply

    def hessian(self, coef: FloatArray) -> FloatArray:
        """Return ∇²J as a matrix; O(n·rank²)."""
        features = self.features
        if self.fit_intercept:
            features = np.column_stack([_dense(features), np.ones(features.shape[0])])
        bent = self.risk.curvature(self.scores(coef))(_dense(features))
        hessian = np.asarray(features.T @ bent, dtype=float)
        hessian[np.diag_indices(self.rank)] += 2 * self.reg_strength
        return hessian

    def _back(self, slope: FloatArray) -> FloatArray:
        gradient = np.empty(self.n_coef)
        # In the precision of Z, or numpy would copy Z to the wider type at every pass.
        gradient[: self.rank] = self.features.T @ slope.astype(self.features.dtype, copy=False)
        if self.fit_intercept:
            gradient[-1] = slope.sum(dtype=float)
        return gradient

    def _penalty(self, coef: FloatArray) -> FloatArray:
        penalty = 2 * self.reg_strength * coef
        if self.fit_intercept:
            penalty[-1] = 0.0
        return penalty


def _dense(features: Any) -> FloatArray:
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features)
