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

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.losses import score_shape
from decorrupt.risks import ScoreRisk


@dataclass(frozen=True)
class Objective:
    """J(θ, b) = risk(Zθ + b) + λ‖θ‖², or risk(ZΘ + b) + 2λ‖Θ‖² for several classes.

    The factor 2 makes K = 2 columns Θ = (−θ/2, θ/2) the problem of two classes: ‖θ‖² = 2‖Θ‖².

    Parameters
    ----------
    features : ndarray or sparse matrix of shape (n_rows, rank)
        Z.
    risk : ScoreRisk
        A function of the scores.
    reg_strength : float
        λ.
    fit_intercept : bool
        Whether there is an unpenalised b; its coefficients are the last ones.
    n_classes : int
        K: two classes have one score per row, several one per class. Coefficients are then flat,
        the K of the first feature first.
    """

    features: Any
    risk: ScoreRisk
    reg_strength: float
    fit_intercept: bool = False
    n_classes: int = 2

    rank: int = field(init=False)
    score_shape: tuple[int, ...] = field(init=False)
    n_coef: int = field(init=False)

    def __post_init__(self) -> None:
        shape, rank = score_shape(self.n_classes), int(self.features.shape[1])
        n_coef = (rank + self.fit_intercept) * math.prod(shape)
        for name, value in (("rank", rank), ("score_shape", shape), ("n_coef", n_coef)):
            object.__setattr__(self, name, value)

    @property
    def has_curvature(self) -> bool:
        """Whether the Hessian is implemented: for two classes, and not for every risk."""
        return self.n_classes == 2 and getattr(self.risk, "has_curvature", True)

    def scores(self, coef: FloatArray) -> FloatArray:
        """Return Zθ + b, in the precision of Z."""
        coef = coef.astype(self.features.dtype, copy=False).reshape(-1, *self.score_shape)
        scores = self.features @ coef[: self.rank]
        return np.asarray(scores + coef[-1] if self.fit_intercept else scores)

    def value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return J and ∇J; the cost is two passes over Z."""
        value, slope = self.risk.value_and_slope(self.scores(coef))
        penalty, gradient = self.penalty_and_slope(coef)
        by_feature = gradient.reshape(-1, *self.score_shape)
        # In the precision of Z: otherwise numpy would copy Z to the wider type in every pass.
        by_feature[: self.rank] += self.features.T @ slope.astype(self.features.dtype, copy=False)
        if self.fit_intercept:
            by_feature[-1] += slope.sum(axis=0, dtype=float)
        return value + penalty, gradient

    def penalty_and_slope(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return λ‖θ‖², or 2λ‖Θ‖² of several classes, and its gradient, a new array."""
        factor = self.reg_strength * (1 if self.n_classes == 2 else 2)
        theta = coef[: self.rank * math.prod(self.score_shape)]
        slope = np.zeros(len(coef))
        slope[: len(theta)] = 2 * factor * theta
        return factor * float(theta @ theta), slope

    def hessian(self, coef: FloatArray) -> FloatArray:
        """Return ∇²J as a matrix; O(n·rank²)."""
        features = self.features
        if self.fit_intercept:
            features = np.column_stack([_dense(features), np.ones(features.shape[0])])
        bent = self.risk.curvature(self.scores(coef))(_dense(features))
        hessian = np.asarray(features.T @ bent, dtype=float)
        hessian[np.diag_indices(self.rank)] += 2 * self.reg_strength
        return hessian

    def split(self, coef: FloatArray) -> tuple[FloatArray, Any]:
        """Return θ and the intercept, each with one column per score; 0 without an intercept."""
        by_feature = coef.reshape(-1, *self.score_shape)
        intercept = by_feature[-1, ...] if self.fit_intercept else np.zeros(self.score_shape)
        return by_feature[: self.rank], intercept


def _dense(features: Any) -> FloatArray:
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features)
