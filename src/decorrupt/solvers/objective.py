"""J(θ) = risk(Zθ + b) + λ‖θ‖²: any smooth risk of the scores as a function of θ.

Conventions
-----------
- A risk maps the n scores to a number. Its slope is the gradient in the scores. Its curvature is
  the Hessian in the scores, as a linear operator on (n,) or (n, k) arrays.
- The objective adds the feature matrix, the penalty and an unpenalised intercept (the last entry).
- There is no ½ before λ and no 1/n before the risk: the risk's coefficients include the scaling.
- K classes have K scores per row, ZΘ + b, and the penalty 2λ‖Θ‖². With this penalty, two classes
  give the same problem with one score per row and with two: softmax gives the log-odds f₁ − f₀, the
  smallest norm for them has θ₁ = −θ₀ = θ/2, and 2λ(‖θ₀‖² + ‖θ₁‖²) = λ‖θ‖². The coefficients are a
  flat vector of (rank + intercept)·K numbers; the K numbers of one feature are consecutive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.risks.score_risk import Operator, ScoreRisk


@dataclass(frozen=True)
class Objective:
    """J(θ, b) = risk(Zθ + b) + λ‖θ‖², or risk(ZΘ + b) + 2λ‖Θ‖² for several classes.

    Parameters
    ----------
    features : array or sparse matrix of shape (n_rows, rank)
        Z.
    risk : ScoreRisk
        The data term.
    reg_strength : float
        λ.
    fit_intercept : bool
        Whether there is an unpenalised b, the last coefficient (the last K for K classes).
    n_classes : int or None
        K, the scores per row that the risk takes; None for a risk of one score per row.
    """

    features: Any
    risk: ScoreRisk
    reg_strength: float
    fit_intercept: bool = False
    n_classes: int | None = None

    @property
    def rank(self) -> int:
        """Columns of Z; penalised coefficients per class."""
        return int(self.features.shape[1])

    @property
    def n_coef(self) -> int:
        """All coefficients, the intercept included."""
        return (self.rank + self.fit_intercept) * (self.n_classes or 1)

    def with_reg_strength(self, reg_strength: float) -> Objective:
        """Return the same problem with another λ."""
        return replace(self, reg_strength=reg_strength)

    def scores(self, coef: FloatArray) -> FloatArray:
        """Return Zθ + b, in the precision of Z."""
        coef = self._by_feature(coef.astype(self.features.dtype, copy=False))
        scores = self.features @ coef[: self.rank]
        return np.asarray(scores + coef[-1] if self.fit_intercept else scores)

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return J and ∇J; the cost is two passes over Z."""
        value, slope = self.risk.value_and_slope(self.scores(coef))
        return value + self.penalty(coef), self._back(slope) + self._penalty_slope(coef)

    def penalty(self, coef: FloatArray) -> float:
        """Return λ‖θ‖², or 2λ‖Θ‖² of several classes."""
        theta = coef[: self.rank * (self.n_classes or 1)]
        return self._penalty_factor * float(theta @ theta)

    def hessian_operator(self, coef: FloatArray) -> Operator:
        """Return v ↦ ∇²J·v at `coef`."""
        curvature = self.risk.curvature(self.scores(coef))

        def apply(direction: FloatArray) -> FloatArray:
            return self._back(curvature(self.scores(direction))) + self._penalty_slope(direction)

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
        flat = np.empty(self.n_coef)
        gradient = self._by_feature(flat)
        # In the precision of Z: otherwise numpy would copy Z to the wider type in every pass.
        gradient[: self.rank] = self.features.T @ slope.astype(self.features.dtype, copy=False)
        if self.fit_intercept:
            gradient[-1] = slope.sum(axis=0, dtype=float)
        return flat

    def _penalty_slope(self, coef: FloatArray) -> FloatArray:
        slope = 2 * self._penalty_factor * coef
        if self.fit_intercept:
            self._by_feature(slope)[-1] = 0.0
        return slope

    @property
    def _penalty_factor(self) -> float:
        return self.reg_strength if self.n_classes is None else 2 * self.reg_strength

    def _by_feature(self, coef: FloatArray) -> FloatArray:
        """Return a view with one row per feature where there are several classes."""
        return coef if self.n_classes is None else coef.reshape(-1, self.n_classes)


def _dense(features: Any) -> FloatArray:
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features)
