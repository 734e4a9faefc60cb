"""Projection onto the unbiased combinations with a convex objective."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from decorrupt._typing import FloatArray


def project_to_convex(
    coef: FloatArray, sizes: FloatArray, proportions: FloatArray, class_prior: float
) -> FloatArray:
    """Return argmin Σ[(a−a⁰)²+(b−b⁰)²]/n over unbiased (a, b) with a_k + b_k ≥ 0.

    In e = a+b and o = a−b the constraints separate: o stays as it is, and e solves
    min Σ(e−e⁰)²/n subject to e ≥ 0, Σe = 1, Σeγ = π.

    Parameters
    ----------
    coef : ndarray of shape (n_bags, 2)
        b⁰ and a⁰, the coefficients of the negative and the positive class.
    sizes, proportions : ndarray of shape (n_bags,)
        n and γ.
    class_prior : float
        π, the share of positives in the target population.

    Raises
    ------
    ValueError
        If π is outside the range of the proportions: then no such combination exists.
    """
    lowest, highest = proportions.min(), proportions.max()
    if not lowest <= class_prior <= highest:
        raise ValueError(
            f"no convex combination exists: class_prior={class_prior:g} is outside the range "
            f"of the proportions, [{lowest:g}, {highest:g}]; use class_prior='pooled', "
            "or convex=None"
        )
    neg, pos = coef.T
    even, odd = pos + neg, pos - neg
    if class_prior in (lowest, highest):
        # Only bags with exactly this proportion can have weight; one constraint is enough for them.
        used = proportions == class_prior
        projected: FloatArray = np.zeros_like(even)
        projected[used] = _onto_simplex(even[used], sizes[used])
    else:
        projected = _nearest_nonnegative(even, sizes, proportions - class_prior)
    return np.column_stack([projected - odd, projected + odd]) / 2


def _onto_simplex(start: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return argmin Σ(e−e⁰)²/n over e ≥ 0 with Σe = 1: e = max(0, e⁰ + n·level)."""
    order = np.argsort(-start / sizes)
    levels = (1 - np.cumsum(start[order])) / np.cumsum(sizes[order])
    last_used = np.flatnonzero(start[order] / sizes[order] + levels > 0)[-1]
    return np.asarray(np.maximum(start + sizes * levels[last_used], 0.0))


def _nearest_nonnegative(start: FloatArray, sizes: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return argmin Σ(e−e⁰)²/n over e ≥ 0 with Σe = 1, Σe·d = 0.

    e = max(0, e⁰ + n·(level + tilt·d)). For each tilt the level has a closed form, and Σe·d does
    not decrease with the tilt: a scalar root search in a bracket.
    """

    def tilted(tilt: float) -> FloatArray:
        return _onto_simplex(start + tilt * sizes * deviation, sizes)

    def excess(tilt: float) -> float:
        return float(tilted(tilt) @ deviation)

    slack = excess(0.0)
    if abs(slack) > 1e-13 * np.abs(start * deviation).sum():
        bound = -np.sign(slack) * (1 + np.ptp(start / sizes)) / np.ptp(deviation)
        while excess(bound) * slack > 0:
            bound *= 2
        tilt = brentq(excess, 0.0, bound, xtol=1e-300, rtol=1e-15, maxiter=1000)
    else:
        tilt = 0.0
    rough = tilted(tilt)
    # On the bags with e > 0 the solution is linear: solve exactly there.
    used = rough > 0
    root = np.sqrt(sizes[used])
    rows = np.vstack([np.ones(used.sum()), deviation[used]])
    missing = np.array([1.0, 0.0]) - rows @ rough[used]
    rough[used] += root * np.linalg.lstsq(rows * root, missing, rcond=None)[0]
    return np.maximum(rough, 0.0)
