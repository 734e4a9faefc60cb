"""Theorem 5: λ schedules for consistent learning, and a simulation with exact true risks.

``python -m reproduction.simulations.consistency`` prints how the risk of models trained on bags
converges to the Bayes risk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decorrupt.corruption import combine_bags, row_coefficients
from decorrupt.features import Kernel, fit_feature_map, kernel_scores
from decorrupt.losses import LogisticLoss
from decorrupt.observed import Observed
from decorrupt.risks import CorrectedRisk
from decorrupt.solvers import Objective, solve
from reproduction import FloatArray
from reproduction.simulations.gaussian import GaussianClasses

CLASSES = GaussianClasses()


def consistent_reg_strength(n_rows: float, *, scale: float = 1.0, exponent: float = 0.5) -> float:
    """Return λ = scale·n^(−exponent): λ → 0 and λn/log n → ∞, as Theorem 5 requires.

    Parameters
    ----------
    n_rows : float
        n, the number of rows of all sources or bags together, at least 1.
    scale : float, default=1.0
        λ at n = 1.
    exponent : float in (0, 1), default=0.5
        How fast λ decreases. Any value strictly between 0 and 1 satisfies both conditions. The two
        terms of the proof, λ‖f‖² and √(log n/(λn)), balance at ⅓ for a target in the RKHS; a
        larger exponent is better where the deviation is smaller than its bound.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The theorem also requires bounded noise, optimal weights, a universal kernel on a compact
    domain, and the global minimiser.

    Its proof uses λ‖f̂‖² ≤ φ(0), which assumes a non-negative risk; a corrected risk can be
    negative. The correct inequality, with E the true risk and ε_n = C·√(log n/n) the bound per
    unit of radius, is λ‖f̂‖² ≤ φ(0) − Ê(f̂) ≤ φ(0) − E(f̂) + ε_n‖f̂‖ ≤ φ(0) + ε_n‖f̂‖, uniformly in
    the radius by peeling (radii 2^m, each with its share of δ). Hence ‖f̂‖ ≤ √(φ(0)/λ) + ε_n/λ,
    and the deviation at f̂ is at most ε_n·√(φ(0)/λ) + ε_n²/λ, which still goes to zero if and only
    if λn/log n → ∞. So the theorem is correct as printed.

    Examples
    --------
    >>> [consistent_reg_strength(n) for n in (100, 10_000)]
    [0.1, 0.01]
    """
    if not (math.isfinite(n_rows) and n_rows >= 1):
        raise ValueError(f"n_rows={n_rows!r} must be a number of rows, at least 1")
    if not (math.isfinite(scale) and scale > 0):
        raise ValueError(f"scale={scale!r} must be a positive number")
    if not 0 < exponent < 1:
        raise ValueError(
            f"exponent={exponent!r} must lie strictly between 0 and 1: at 0 λ is constant, at 1 "
            "λn/log n does not grow"
        )
    return float(scale * n_rows**-exponent)


@dataclass(frozen=True, eq=False)
class ConsistencyResult:
    """True risks of models fitted to increasing numbers of bags, and the Bayes risk.

    Attributes
    ----------
    n_rows : ndarray of int, shape (n_sizes,)
        Number of rows of each training set.
    reg_strengths : ndarray of shape (n_sizes,)
        λ for each training set.
    risks, errors : ndarray of shape (n_sizes, n_repeats)
        Balanced logistic risk and balanced error of each fit, exact for the fitted score.
    bayes_risk, bayes_error : float
        The smallest possible risk and error.
    """

    n_rows: NDArray[np.int_]
    reg_strengths: FloatArray
    risks: FloatArray
    errors: FloatArray
    bayes_risk: float
    bayes_error: float

    @property
    def excess_risk(self) -> FloatArray:
        """Mean balanced logistic risk minus the Bayes risk, per training size."""
        return np.asarray(self.risks.mean(axis=1) - self.bayes_risk)

    @property
    def excess_error(self) -> FloatArray:
        """Mean balanced error minus the Bayes error, per training size."""
        return np.asarray(self.errors.mean(axis=1) - self.bayes_error)


def simulate_consistency(
    n_rows: Sequence[int] = (128, 512, 2048, 8192),
    *,
    bag_size: int = 8,
    n_repeats: int = 5,
    scale: float = 0.1,
    exponent: float = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> ConsistencyResult:
    """Fit Gaussian-kernel models to bags of N(±μ, 1) rows for growing n, λ from the schedule.

    The number of bags grows and their size stays fixed, as Theorem 5 allows. Each bag's count of
    positives is uniform on 0, …, bag_size.

    Parameters
    ----------
    n_rows : sequence of int
        Numbers of training rows, rounded to whole bags.
    bag_size, n_repeats : int
        Rows per bag; training sets per number of rows.
    scale, exponent : float
        Parameters of :func:`consistent_reg_strength`.
    random_state : int, Generator or None
        Source of the random draws.
    """
    rng = np.random.default_rng(random_state)
    n_bags = [max(2, round(n / bag_size)) for n in n_rows]
    rows = np.array([bag_size * count for count in n_bags])
    reg = [consistent_reg_strength(n, scale=scale, exponent=exponent) for n in rows]
    outcomes = np.array(
        [
            [_fit_bags(count, bag_size, lam, rng) for _ in range(n_repeats)]
            for count, lam in zip(n_bags, reg, strict=True)
        ]
    )
    return ConsistencyResult(
        n_rows=rows,
        reg_strengths=np.array(reg),
        risks=outcomes[..., 0],
        errors=outcomes[..., 1],
        bayes_risk=CLASSES.bayes_risk,
        bayes_error=CLASSES.bayes_error,
    )


def _fit_bags(
    n_bags: int, bag_size: int, reg_strength: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the true balanced risk and error of one fitted score."""
    counts = rng.integers(0, bag_size + 1, n_bags)
    labels = np.where(np.arange(bag_size) < counts[:, None], 1, -1).ravel()
    X = CLASSES.draw(labels, rng)
    bags = np.repeat(np.arange(n_bags), bag_size)
    observed = Observed.from_bags(counts[bags] / bag_size, bags)
    combination = combine_bags(observed.sizes, observed.proportions, method="superbag")
    risk = CorrectedRisk(row_coefficients(combination, observed), LogisticLoss())
    kernel = Kernel("rbf", gamma=0.5)
    features = fit_feature_map(X, kernel, random_state=int(rng.integers(2**31)))
    objective = Objective(features.matrix, risk, reg_strength)
    dual_coef = features.coefficients(solve(objective).coef)

    def score(points: FloatArray) -> FloatArray:
        return kernel_scores(points, kernel, features.landmarks(X), dual_coef)

    return CLASSES.score_risk(score), CLASSES.score_error(score)


def main() -> None:
    """Print risk and error for growing numbers of rows, in bags of eight with unknown labels."""
    found = simulate_consistency(tuple(2**k for k in range(7, 16, 2)), n_repeats=8, random_state=0)
    print(f"{'rows':>8}{'λ':>10}{'logistic risk':>16}{'balanced error':>16}")
    for n_rows, reg_strength, risks, errors in zip(
        found.n_rows, found.reg_strengths, found.risks, found.errors, strict=True
    ):
        print(f"{n_rows:>8,}{reg_strength:>10.5f}{risks.mean():>16.4f}{errors.mean():>16.4f}")
    print(f"{'∞':>8}{'0':>10}{found.bayes_risk:>16.4f}{found.bayes_error:>16.4f}   (Bayes)")


if __name__ == "__main__":
    main()
