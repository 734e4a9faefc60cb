"""Simulated and exact variance of corrected risks, per combination of bags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import combine_bags
from decorrupt.losses import LogisticLoss, MarginLoss
from decorrupt.theory.gaussian import GaussianClasses

COMBINATIONS = ("pairs", "superbag", "least_squares")


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
    slope: float = 2.0,
    n_draws: int = 1000,
    combinations: Sequence[str] = COMBINATIONS,
    loss: MarginLoss | None = None,
    classes: GaussianClasses | None = None,
    random_state: int | np.random.Generator | None = None,
) -> VarianceResult:
    """Return the corrected risks of f(x) = slope·x over many draws of the bags, per combination.

    Parameters
    ----------
    sizes, proportions : sequence of shape (n_bags,)
        Number of rows and share of positives of each bag. Every row's label is drawn with that
        probability.
    slope : float
        Slope of the score function; 2 is the Bayes score of N(±1, 1).
    n_draws : int
        Number of draws of all bags; all combinations use the same draws.
    combinations : sequence of str
        Methods of :func:`decorrupt.corruption.combine_bags`.
    loss : MarginLoss, optional
        Logistic by default.
    classes : GaussianClasses, optional
        One-dimensional classes; N(±1, 1) by default.
    random_state : int, Generator or None
        Source of the random draws.
    """
    loss, classes = loss or LogisticLoss(), classes or GaussianClasses()
    rng = np.random.default_rng(random_state)
    pos_means, neg_means = _bag_means(sizes, proportions, slope, n_draws, loss, classes, rng)
    found = {name: combine_bags(sizes, proportions, method=name) for name in combinations}
    rows = np.asarray(sizes, dtype=float)
    return VarianceResult(
        estimates={
            name: neg_means @ coef[:, 0] + pos_means @ coef[:, 1] for name, coef in found.items()
        },
        exact_variances={
            name: _exact_variance(coef, rows, np.asarray(proportions), slope, loss, classes)
            for name, coef in found.items()
        },
        bound_factors={
            name: float(np.sum(np.abs(coef).sum(axis=1) ** 2 / rows))
            for name, coef in found.items()
        },
        true_risk=classes.linear_risk([slope], loss=loss),
    )


def _bag_means(
    sizes: Sequence[int],
    proportions: Sequence[float],
    slope: float,
    n_draws: int,
    loss: MarginLoss,
    classes: GaussianClasses,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return the means of φ(f) and φ(−f), each of shape (n_draws, n_bags)."""
    means = np.empty((2, n_draws, len(sizes)))
    for bag, (size, proportion) in enumerate(zip(sizes, proportions, strict=True)):
        labels = np.where(rng.uniform(size=(n_draws, size)) < proportion, 1, -1)
        scores = slope * classes.draw(labels, rng)[..., 0]
        means[:, :, bag] = [loss.value(side * scores).mean(axis=1) for side in (1, -1)]
    return means[0], means[1]


def _exact_variance(
    coef: FloatArray,
    sizes: FloatArray,
    proportions: FloatArray,
    slope: float,
    loss: MarginLoss,
    classes: GaussianClasses,
) -> float:
    points, mass_pos, mass_neg = classes.cells()
    mass = np.outer(proportions, mass_pos) + np.outer(1 - proportions, mass_neg)
    scores = slope * points
    row = np.outer(coef[:, 1], loss.value(scores)) + np.outer(coef[:, 0], loss.value(-scores))
    mean = (mass * row).sum(axis=1)
    return float(np.sum(((mass * row**2).sum(axis=1) - mean**2) / sizes))
