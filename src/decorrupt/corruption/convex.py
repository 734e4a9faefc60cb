"""The nearest unbiased combination whose objective is convex."""

from __future__ import annotations

import numpy as np

from decorrupt.losses.margin import FloatArray

MAX_NEWTON_STEPS = 200  # the dual has two unknowns and finitely many pieces; a dozen suffice
FEASIBILITY = 1e-12  # how exactly the constraints must hold


def project_to_convex(
    pos: FloatArray,
    neg: FloatArray,
    sizes: FloatArray,
    proportions: FloatArray,
    target_prior: float,
) -> tuple[FloatArray, FloatArray]:
    """Return argmin Σ[(a−a⁰)²+(b−b⁰)²]/n over unbiased (a, b) with a_k + b_k ≥ 0.

    In e = a+b and o = a−b the constraints separate: o stays as it is, and e solves
    min Σ(e−e⁰)²/n subject to e ≥ 0, Σe = 1, Σeγ = π_t.

    Raises
    ------
    ValueError
        If π_t lies outside the proportions' range: then no such combination exists.
    """
    lowest, highest = proportions.min(), proportions.max()
    if not lowest <= target_prior <= highest:
        raise ValueError(
            f"no convex combination exists: target_prior={target_prior:g} lies outside the range "
            f"of the proportions, [{lowest:g}, {highest:g}]; use target_prior='pooled' or "
            "convex='check'"
        )
    even, odd = pos + neg, pos - neg
    used = np.ones(len(sizes), dtype=bool)
    constraints, targets = np.vstack([np.ones_like(sizes), proportions]), [1.0, target_prior]
    if target_prior in (lowest, highest):
        # Only bags at that very end can carry weight, and for them one constraint is enough.
        used = proportions == target_prior
        constraints, targets = constraints[:1, used], [1.0]
    projected = np.zeros_like(even)
    projected[used] = _nearest_nonnegative(even[used], sizes[used], constraints, np.array(targets))
    return (projected + odd) / 2, (projected - odd) / 2


def _nearest_nonnegative(
    start: FloatArray, sizes: FloatArray, constraints: FloatArray, targets: FloatArray
) -> FloatArray:
    """Return argmin Σ(e−e⁰)²/n over e ≥ 0 with A·e = t.

    The solution is e = max(0, e⁰ + n·Aᵀm), m the minimiser of the convex, piecewise quadratic
    dual ½Σ max(0, e⁰ + n·Aᵀm)²/n − t·m: Newton's method on its pieces, with step halving.
    """
    scale = sizes / sizes.sum()

    def primal(multipliers: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(start + scale * (multipliers @ constraints), 0.0))

    def dual(multipliers: FloatArray) -> float:
        return float(0.5 * np.sum(primal(multipliers) ** 2 / scale) - targets @ multipliers)

    multipliers = np.zeros(len(targets))
    for _ in range(MAX_NEWTON_STEPS):
        solution = primal(multipliers)
        violation = constraints @ solution - targets
        if np.abs(violation).max() < FEASIBILITY:
            break
        active = solution > 0
        hessian = (constraints[:, active] * scale[active]) @ constraints[:, active].T
        ridge = 1e-14 * np.trace(hessian) + 1e-300
        step = np.linalg.solve(hessian + ridge * np.eye(len(targets)), -violation)
        length, before = 1.0, dual(multipliers)
        while dual(multipliers + length * step) > before + 1e-4 * length * (violation @ step):
            length /= 2
            if length < 1e-10:  # rounding: the dual cannot be told apart any more
                break
        multipliers = multipliers + length * step
    return primal(multipliers)
