"""conv-∝SVM (Yu et al. 2013): a convex relaxation of the support vector machine over labels.

min_M max_{0≤α≤C} 1ᵀα − ½·αᵀ((K+1)∘M)α, with M in the convex hull of yyᵀ over the labels y that
agree with the bags. M = Σ_t μ_t·y_t·y_tᵀ has few label vectors, the planes, which are added one at
a time: the next one violates the solution so far the most.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from decorrupt import Kernel
from decorrupt.observed import Observed
from reproduction import FloatArray

# The eigenvectors that planes are searched in: this share of the trace, but at least 50.
TRACE_SHARE, MIN_DIRECTIONS = 0.9, 50
# Products of sizes and proportions are this close to a whole number if they should be one.
WHOLE = 1e-6
# No plane is added after one that lowers the objective by no more than this relative amount.
PLANE_TOL = 1e-2
# Upper and lower bound of the saddle value agree to this relative difference.
GAP_TOL = 1e-8
MAX_STEPS = 100  # usually 10 to 20 are enough
# No step takes more than this share of a positive variable.
TO_BOUNDARY = 0.995
# Smaller shares of the largest α are zero: an interior point method leaves none exactly at 0.
ZERO_SHARE = 1e-6
# Added to the diagonal of the Newton matrix, relative to that of K, against rounding.
RIDGE = 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class ConvexPSVMClassifier(ClassifierMixin, BaseEstimator):
    """f(x) = Σ_i α_i·v_i·(k(x_i, x) + 1), vvᵀ the matrix of rank 1 nearest to M; for bags only."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"bags": True}

    C: float = 1.0
    max_planes: int = 10
    kernel_gamma: float = 1.0

    def fit(self, X: FloatArray, y: FloatArray, *, bags: Any) -> Self:
        """Train on the proportion of positives in each row's bag."""
        observed = Observed.from_bags(y, bags)
        self.classes_ = observed.classes
        self.kernel_ = Kernel(gamma=self.kernel_gamma).resolved(X)
        gram = self.kernel_.block(X, X) + 1.0
        found = cutting_planes(gram, CountRanges.of(observed), self.C, self.max_planes)
        if found.saddle.gap > GAP_TOL * found.saddle.value:
            warnings.warn("the objective is not exact", ConvergenceWarning, stacklevel=2)
        coef = found.saddle.dual * found.soft_labels()
        scores = gram @ coef
        # vvᵀ does not determine the sign of v; the counts of the bags do.
        is_flipped = count_error(-scores, observed) < count_error(scores, observed)
        self.dual_coef_ = -coef if is_flipped else coef
        self.objective_history_, self.rows_ = found.history, X
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return f(x) per row."""
        return np.asarray((self.kernel_.block(X, self.rows_) + 1.0) @ self.dual_coef_)

    def predict(self, X: FloatArray) -> NDArray[Any]:
        """Return the class of each row."""
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])


def count_error(scores: FloatArray, observed: Observed) -> float:
    """Return Σ_k |number of positive scores in bag k − n_k·p_k|."""
    counts = observed.sum_by_bag(scores > 0)
    return float(np.abs(counts - observed.sizes * observed.proportions[:, 1]).sum())


class CountRanges(NamedTuple):
    """Labels with lowest_k ≤ number of positives in bag k ≤ highest_k."""

    row_bag: NDArray[np.intp]
    lowest: NDArray[np.intp]
    highest: NDArray[np.intp]

    @classmethod
    def of(cls, observed: Observed) -> CountRanges:
        """Return the whole number nearest to n_k·p_k, or two if both are equally near."""
        expected = observed.sizes * observed.proportions[:, 1]
        radius = np.abs(expected - np.rint(expected)) + WHOLE
        lowest, highest = np.ceil(expected - radius), np.floor(expected + radius)
        return cls(observed.row_bag, lowest.astype(np.intp), highest.astype(np.intp))

    def best_labels(self, terms: FloatArray, priorities: FloatArray) -> FloatArray:
        """Return argmax_y Σ_i y_i·terms_i over the allowed labels −1.0 and +1.0.

        Per bag, the rows with the largest terms are positive, by priority where terms are 0: as
        many as have a positive priority, or the nearest allowed number.
        """
        sizes = np.bincount(self.row_bag)
        wanted = np.clip(np.bincount(self.row_bag, priorities > 0), self.lowest, self.highest)
        order = np.lexsort((-priorities, -terms, self.row_bag))
        rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        labels = np.empty(len(order))
        labels[order] = np.where(rank < np.repeat(wanted, sizes), 1.0, -1.0)
        return labels


def principal_directions(gram: FloatArray) -> FloatArray:
    """Return F = UΛ^½ of K, centred: otherwise every labelling violates a constant column."""
    means = gram.mean(axis=0)
    values, vectors = eigh(gram - means - means[:, None] + means.mean(), check_finite=False)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    explained = np.cumsum(values)
    n_kept = max(np.searchsorted(explained, TRACE_SHARE * explained[-1]) + 1, MIN_DIRECTIONS)
    return np.asarray(vectors[:, :n_kept] * np.sqrt(values[:n_kept]))


def most_violated(dual: FloatArray, directions: FloatArray, ranges: CountRanges) -> FloatArray:
    """Return argmax_y max_j |Σ_i α_i y_i F_ij| over the allowed labels.

    It takes the place of the exact problem, argmax_y αᵀ(K∘yyᵀ)α = Σ_j (Σ_i α_i y_i F_ij)².
    """
    limits = dual @ np.abs(directions)
    best, highest = dual, -np.inf
    for j in np.argsort(-limits):
        if limits[j] <= highest:  # even with the signs of F
            break
        for priorities in (directions[:, j], -directions[:, j]):
            terms = dual * priorities
            labels = ranges.best_labels(terms, priorities)
            if (value := float(labels @ terms)) > highest:
                best, highest = labels, value
    return best


class Saddle(NamedTuple):
    """α, μ, an upper bound of the saddle value, and its distance from a lower bound."""

    dual: FloatArray
    weights: FloatArray
    value: float
    gap: float


class Relaxation(NamedTuple):
    """The saddle point of the planes (columns), and the saddle value after each plane."""

    saddle: Saddle
    planes: FloatArray
    history: list[float]

    def soft_labels(self) -> FloatArray:
        """Return v with vvᵀ nearest to Σ_t μ_t y_t y_tᵀ, with the sign of the labels' mean."""
        weighted = self.planes * np.sqrt(self.saddle.weights)
        left, sizes, _ = np.linalg.svd(weighted, full_matrices=False)
        v = np.asarray(left[:, 0] * sizes[0])
        return v if v @ (self.planes @ self.saddle.weights) >= 0 else -v


def cutting_planes(
    gram: FloatArray, ranges: CountRanges, cost: float, max_planes: int, tol: float = PLANE_TOL
) -> Relaxation:
    """Return the saddle point over the convex hull of yyᵀ, approximated by label planes."""
    directions = principal_directions(gram)
    dual = np.full(len(gram), 1 / len(gram))
    planes, history = np.empty((len(gram), 0)), []
    while True:
        plane = most_violated(dual, directions, ranges)
        if (planes == plane[:, None]).all(axis=0).any():
            break
        planes = np.column_stack([planes, plane])
        saddle = solve_saddle(gram, planes, cost)
        dual = saddle.dual
        history.append(saddle.value)
        falls = len(history) == 1 or history[-2] - history[-1] > tol * history[-2]
        if len(history) == max_planes or not falls:
            break
    return Relaxation(saddle, planes, history)


def solve_saddle(gram: FloatArray, planes: FloatArray, cost: float) -> Saddle:
    """Return min_μ max_α 1ᵀα − ½·Σ_t μ_t·αᵀ(K∘y_t y_tᵀ)α, 0 ≤ α ≤ cost, μ ≥ 0, Σμ = 1.

    Mehrotra's primal-dual interior point method for max_{α,θ} 1ᵀα − θ subject to
    ½αᵀ(K∘y_t y_tᵀ)α ≤ θ, whose multipliers are μ, until α and μ give bounds that agree.
    """
    n_rows, n_planes = planes.shape
    weights = np.full(n_planes, 1 / n_planes)
    curvature = float(np.sum(planes * (gram @ planes) @ weights))
    dual = np.full(n_rows, min(cost / 2, n_rows / max(curvature, n_rows / cost)))
    images = planes * (gram @ (planes * dual[:, None]))
    surplus, quadratics = 1 - images @ weights, 0.5 * dual @ images
    level = float(quadratics.max() + dual.sum())
    ridge = RIDGE * gram.diagonal().mean()
    # What stays positive, and the multipliers of α ≥ 0, α ≤ C and μ ≥ 0.
    positive = np.concatenate([dual, cost - dual, weights])
    multipliers = np.concatenate(
        [np.maximum(-surplus, 0) + 1, np.maximum(surplus, 0) + 1, level - quadratics]
    )

    def newton_step(targets: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Return the step towards positive·multipliers = targets."""
        zero, full, slack = np.split(targets / positive, [n_rows, 2 * n_rows])
        towards = cho_solve(factor, surplus + zero - full, check_finite=False)
        short = slack - (level - quadratics) + images.T @ towards
        change = np.linalg.solve(system, np.append(short, 1 - weights.sum()))
        ascent = towards - responses @ change[:-1]
        step = np.concatenate([ascent, -ascent, change[:-1]])
        return step, (targets - multipliers * step) / positive - multipliers, float(change[-1])

    def longest(step: FloatArray, multiplier_step: FloatArray) -> float:
        shrinking = np.append(-step / positive, -multiplier_step / multipliers).max()
        return min(1.0, TO_BOUNDARY / max(float(shrinking), TO_BOUNDARY))

    best = Saddle(dual, weights, np.inf, np.inf)
    for _ in range(MAX_STEPS):
        dual, room, weights = np.split(positive, [n_rows, 2 * n_rows])
        images = planes * (gram @ (planes * dual[:, None]))
        surplus, quadratics = 1 - images @ weights, 0.5 * dual @ images
        share = weights / weights.sum()
        upper = quadratics @ share + cost * np.maximum(0, 1 - images @ share).sum()
        gap = float(upper - (dual.sum() - quadratics.max()))
        best = min(best, Saddle(dual, share, float(upper), gap), key=lambda saddle: saddle.gap)
        if best.gap <= GAP_TOL * best.value:
            break
        at_zero, at_cost, slacks = np.split(multipliers, [n_rows, 2 * n_rows])
        newton = gram * ((planes * weights) @ planes.T)
        newton.flat[:: n_rows + 1] += at_zero / dual + at_cost / room + ridge
        factor = cho_factor(newton, lower=True, overwrite_a=True, check_finite=False)
        responses = cho_solve(factor, images, check_finite=False)
        system = np.ones((n_planes + 1, n_planes + 1))
        system[:-1, :-1] = images.T @ responses + np.diag(slacks / weights)
        system[-1, -1] = 0.0
        # The target and the terms of second order come from a step to target 0.
        step, multiplier_step, _ = newton_step(np.zeros(len(positive)))
        length, products = longest(step, multiplier_step), positive @ multipliers
        ahead = (positive + length * step) @ (multipliers + length * multiplier_step)
        target = (ahead / products) ** 3 * products / len(positive)
        step, multiplier_step, level_step = newton_step(target - step * multiplier_step)
        length = longest(step, multiplier_step)
        positive = positive + length * step
        multipliers = multipliers + length * multiplier_step
        level += length * level_step
    dual = np.where(best.dual > ZERO_SHARE * best.dual.max(), best.dual, 0.0)
    return Saddle(dual, best.weights, best.value, best.gap)
