"""The saddle point of conv-∝SVM for given label planes, by an interior point method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from decorrupt._typing import FloatArray

# Upper and lower bound of the saddle value agree to this relative difference.
GAP_TOL = 1e-8
MAX_STEPS = 100  # usually 10 to 20 are enough
# No step takes more than this share of a positive variable.
TO_BOUNDARY = 0.995
# Smaller shares of the largest α are zero: an interior point method leaves none exactly at 0.
ZERO_SHARE = 1e-6
# Added to the diagonal of the Newton matrix, relative to that of K, against rounding. It changes
# the steps, not the solution.
RIDGE = 1e-12


@dataclass(frozen=True)
class Saddle:
    """The solution for given planes.

    Attributes
    ----------
    dual : ndarray of shape (n_rows,)
        α.
    weights : ndarray of shape (n_planes,)
        μ, at least 0 with sum 1.
    value : float
        The saddle value, an upper bound that exceeds it by no more than `gap`.
    gap : float
        Upper bound minus lower bound of the saddle value.
    """

    dual: FloatArray
    weights: FloatArray
    value: float
    gap: float

    @property
    def converged(self) -> bool:
        """Whether the bounds agree to `GAP_TOL`."""
        return bool(self.gap <= GAP_TOL * self.value)


@dataclass(frozen=True)
class _Point:
    """α, μ, θ and the multipliers of α ≥ 0, α ≤ C and μ ≥ 0; or a step of all of them."""

    dual: FloatArray
    weights: FloatArray
    level: float
    at_zero: FloatArray
    at_cost: FloatArray
    slack: FloatArray

    def moved(self, step: _Point, length: float) -> _Point:
        pairs = zip(vars(self).values(), vars(step).values(), strict=True)
        return _Point(*(here + length * change for here, change in pairs))

    def room(self, cost: float) -> FloatArray:
        """Return C − α, never 0 by rounding."""
        return np.asarray(np.maximum(cost - self.dual, np.finfo(float).eps * cost))

    def products(self, cost: float) -> float:
        """Return Σα·z + Σ(C − α)·w + Σμ·ξ, which is 0 at the solution."""
        at_bounds = self.dual @ self.at_zero + self.room(cost) @ self.at_cost
        return float(at_bounds + self.weights @ self.slack)


def solve_saddle(gram: FloatArray, planes: FloatArray, cost: float) -> Saddle:
    """Return min_μ max_α 1ᵀα − ½·Σ_t μ_t·αᵀ(K∘y_t y_tᵀ)α, 0 ≤ α ≤ cost, μ ≥ 0, Σμ = 1.

    The primal-dual interior point method moves α and μ together: it solves the equivalent problem
    max_{α,θ} 1ᵀα − θ subject to ½αᵀ(K∘y_t y_tᵀ)α ≤ θ, whose multipliers are μ. One step costs one
    Cholesky factorisation. A projected Newton method in α inside a descent in μ (SimpleMKL) gives
    the same result but needs up to thousands of factorisations if K has a low numerical rank.

    Every α gives a lower bound of the saddle value, 1ᵀα − max_t ½αᵀ(K∘y_t y_tᵀ)α, and every α
    and μ an upper bound, ½αᵀQα + cost·Σ_i hinge((Qα)_i) with Q = Σ_t μ_t·K∘y_t y_tᵀ. The method
    stops when the two agree.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
        K, positive semidefinite.
    planes : ndarray of −1.0 and +1.0, shape (n_rows, n_planes)
        The label vectors y_t as columns.
    cost : float
        C.
    """
    point = _start(gram, planes, cost)
    best = _bounds(gram, planes, cost, point)
    for _ in range(MAX_STEPS):
        if best.converged:
            break
        step = _newton_step(gram, planes, cost, point)
        point = point.moved(step, _longest_step(point, step, cost))
        current = _bounds(gram, planes, cost, point)
        best = min(best, current, key=lambda saddle: saddle.gap)
    dual = np.where(best.dual > ZERO_SHARE * best.dual.max(), best.dual, 0.0)
    return Saddle(dual, best.weights, best.value, best.gap)


def _images(gram: FloatArray, planes: FloatArray, dual: FloatArray) -> FloatArray:
    """Return (K∘y_t y_tᵀ)α as columns."""
    return np.asarray(planes * (gram @ (planes * dual[:, None])))


def _start(gram: FloatArray, planes: FloatArray, cost: float) -> _Point:
    """Return equal weights and the best equal α, at most half the cost."""
    n_rows, n_planes = planes.shape
    weights = np.full(n_planes, 1 / n_planes)
    curvature = float(np.sum(_images(gram, planes, np.ones(n_rows)) @ weights))
    dual = np.full(n_rows, min(cost / 2, n_rows / max(curvature, n_rows / cost)))
    images = _images(gram, planes, dual)
    surplus = 1 - images @ weights
    quadratics = 0.5 * dual @ images
    level = float(quadratics.max() + dual.sum())
    return _Point(
        dual,
        weights,
        level,
        np.maximum(-surplus, 0) + 1,
        np.maximum(surplus, 0) + 1,
        level - quadratics,
    )


def _bounds(gram: FloatArray, planes: FloatArray, cost: float, point: _Point) -> Saddle:
    images = _images(gram, planes, point.dual)
    quadratics = 0.5 * point.dual @ images
    weights = point.weights / point.weights.sum()
    lower = point.dual.sum() - quadratics.max()
    hinges = np.maximum(0, 1 - images @ weights).sum()
    upper = float(quadratics @ weights + cost * hinges)
    return Saddle(point.dual, weights, upper, float(upper - lower))


def _newton_step(gram: FloatArray, planes: FloatArray, cost: float, point: _Point) -> _Point:
    """Return Mehrotra's step: its target and second-order terms come from a step to target 0."""
    solve = _newton_system(gram, planes, cost, point)
    zeros = np.zeros(len(point.dual)), np.zeros(len(point.dual)), np.zeros(len(point.weights))
    trial = solve(*zeros)
    ahead = point.moved(trial, _longest_step(point, trial, cost))
    products = point.products(cost)
    target = (ahead.products(cost) / products) ** 3 * products / sum(map(len, zeros))
    return solve(
        target - trial.dual * trial.at_zero,
        target + trial.dual * trial.at_cost,
        target - trial.weights * trial.slack,
    )


def _newton_system(
    gram: FloatArray, planes: FloatArray, cost: float, point: _Point
) -> Callable[[FloatArray, FloatArray, FloatArray], _Point]:
    """Return the function from targets of α·z, (C − α)·w and μ·ξ to the Newton step."""
    dual, weights, room = point.dual, point.weights, point.room(cost)
    images = _images(gram, planes, dual)
    newton = gram * ((planes * weights) @ planes.T)
    newton.flat[:: len(dual) + 1] += (
        point.at_zero / dual + point.at_cost / room + RIDGE * gram.diagonal().mean()
    )
    factor = cho_factor(newton, lower=True, overwrite_a=True, check_finite=False)
    responses = cho_solve(factor, images, check_finite=False)
    n_planes = len(weights)
    system = np.zeros((n_planes + 1, n_planes + 1))
    system[:-1, :-1] = images.T @ responses + np.diag(point.slack / weights)
    system[:-1, -1] = system[-1, :-1] = 1

    def solve(zero: FloatArray, full: FloatArray, slack: FloatArray) -> _Point:
        ascent = 1 - images @ weights + zero / dual - full / room
        towards = cho_solve(factor, ascent, check_finite=False)
        # Per plane Δθ + (ξ/μ)·Δμ − hᵀΔα = slack/μ − (θ − ½αᵀh), and Σ Δμ = 1 − Σμ.
        short = slack / weights - (point.level - 0.5 * dual @ images) + images.T @ towards
        change = np.linalg.solve(system, np.append(short, 1 - weights.sum()))
        weight_step = change[:-1]
        dual_step = towards - responses @ weight_step
        return _Point(
            dual_step,
            weight_step,
            float(change[-1]),
            (zero - point.at_zero * dual_step) / dual - point.at_zero,
            (full + point.at_cost * dual_step) / room - point.at_cost,
            (slack - point.slack * weight_step) / weights - point.slack,
        )

    return solve


def _longest_step(point: _Point, step: _Point, cost: float) -> float:
    """Return the step length, at most 1, that keeps all positive variables positive."""
    values = [point.dual, point.room(cost), point.weights]
    changes = [step.dual, -step.dual, step.weights]
    values += [point.at_zero, point.at_cost, point.slack]
    changes += [step.at_zero, step.at_cost, step.slack]
    shrinking = -np.concatenate(changes) / np.concatenate(values)
    return min(1.0, TO_BOUNDARY / max(float(shrinking.max()), TO_BOUNDARY))
