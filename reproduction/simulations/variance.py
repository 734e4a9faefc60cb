"""Simulated and exact variance of corrected risks, per combination of bags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from decorrupt.corruption import combine_bags
from decorrupt.losses import LogisticLoss
from reproduction import FloatArray
from reproduction.simulations.gaussian import GaussianClasses

COMBINATIONS = ("pairs", "superbag", "least_squares")
LOSS, CLASSES = LogisticLoss(), GaussianClasses()
BAYES_SLOPE = 2.0  # of the log-odds of N(±1, 1)


@dataclass(frozen=True, eq=False)
class VarianceResult:
    """Corrected risks of one score function and their variances, per combination.

    Attributes
    ----------
    estimates : dict of str to ndarray of shape (n_draws,)
        The corrected risk of each draw.
    exact_variances : dict of str to float
        Σ_k Var_k[a_kφ(f) + b_kφ(−f)]/n_k, by numerical integration.
    bound_factors : dict of str to float
        Σ_k(|a_k|+|b_k|)²/n_k, the sum under the root of the bound.
    true_risk : float
        The risk that all of them estimate.
    """

    estimates: dict[str, FloatArray]
    exact_variances: dict[str, float]
    bound_factors: dict[str, float]
    true_risk: float


def simulate_variance(
    sizes: Sequence[int],
    proportions: Sequence[float],
    *,
    n_draws: int = 1000,
    random_state: int | np.random.Generator | None = None,
) -> VarianceResult:
    """Return the corrected risks of f(x) = 2x over many draws of the bags, per combination.

    Parameters
    ----------
    sizes, proportions : sequence of shape (n_bags,)
        Number of rows and share of positives of each bag. Every row's label is drawn with that
        probability.
    n_draws : int
        Number of draws of all bags; all combinations use the same draws.
    random_state : int, Generator or None
        Source of the random draws.
    """
    rng = np.random.default_rng(random_state)
    pos_means, neg_means = _bag_means(sizes, proportions, n_draws, rng)
    found = {name: combine_bags(sizes, proportions, method=name) for name in COMBINATIONS}
    rows = np.asarray(sizes, dtype=float)
    return VarianceResult(
        estimates={
            name: neg_means @ coef[:, 0] + pos_means @ coef[:, 1] for name, coef in found.items()
        },
        exact_variances={
            name: _exact_variance(coef, rows, np.asarray(proportions))
            for name, coef in found.items()
        },
        bound_factors={
            name: float(np.sum(np.abs(coef).sum(axis=1) ** 2 / rows))
            for name, coef in found.items()
        },
        true_risk=CLASSES.linear_risk([BAYES_SLOPE], loss=LOSS),
    )


def _bag_means(
    sizes: Sequence[int],
    proportions: Sequence[float],
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return the means of φ(f) and φ(−f), each of shape (n_draws, n_bags)."""
    means = np.empty((2, n_draws, len(sizes)))
    for bag, (size, proportion) in enumerate(zip(sizes, proportions, strict=True)):
        labels = np.where(rng.uniform(size=(n_draws, size)) < proportion, 1, -1)
        scores = BAYES_SLOPE * CLASSES.draw(labels, rng)[..., 0]
        means[:, :, bag] = [LOSS.value(side * scores).mean(axis=1) for side in (1, -1)]
    return means[0], means[1]


def _exact_variance(
    coef: FloatArray,
    sizes: FloatArray,
    proportions: FloatArray,
) -> float:
    points, mass_pos, mass_neg = CLASSES.cells()
    mass = np.outer(proportions, mass_pos) + np.outer(1 - proportions, mass_neg)
    scores = BAYES_SLOPE * points
    row = np.outer(coef[:, 1], LOSS.value(scores)) + np.outer(coef[:, 0], LOSS.value(-scores))
    mean = (mass * row).sum(axis=1)
    return float(np.sum(((mass * row**2).sum(axis=1) - mean**2) / sizes))
