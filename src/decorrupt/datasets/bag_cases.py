"""Synthetic bags for each case of the assumptions, with known Bayes error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.datasets.synthetic import DEFAULT_MEAN, RandomState
from decorrupt.estimators import check_count, check_not_negative
from decorrupt.theory import GaussianClasses

BAG_CASES = {
    "random": "rows drawn at random: both assumptions hold",
    "priors": "bags with different priors: class distributions are common, P(y|x) is not",
    "feature": "bags by the first column: P(y|x) is common, class distributions are not",
    "effect": "bags whose log-odds have a part of their own: neither holds",
}
NODES = 100  # of Gauss–Hermite quadrature


@dataclass(frozen=True, eq=False)
class GaussianBags:
    """Bags of two Gaussian classes, and test rows with labels.

    Attributes
    ----------
    X, y, bags : ndarray
        The rows, the proportion of each row's bag, and the bag of each row.
    X_test, y_test : ndarray
        Rows of a population with equal class shares, for "effect" of new bags, and their labels.
    population : GaussianClasses
        The class distributions; for "effect" those without the bag effect.
    bayes_error : float
        The smallest possible error on the test rows.
    """

    X: FloatArray
    y: FloatArray
    bags: NDArray[np.intp]
    X_test: FloatArray
    y_test: NDArray[np.int_]
    population: GaussianClasses
    bayes_error: float


def make_gaussian_bags(
    case: str,
    *,
    n_bags: int = 50,
    bag_size: int = 20,
    strength: float = 1.0,
    mean: Sequence[float] = DEFAULT_MEAN,
    n_test: int = 1000,
    random_state: RandomState = None,
) -> GaussianBags:
    """Draw bags of two Gaussian classes that satisfy or violate the assumptions.

    X | Y=y ~ N(y·μ, I), y = ±1.

    Parameters
    ----------
    case : {"random", "priors", "feature", "effect"}
        "random": P(Y=1) = ½ in all bags; both assumptions hold. "priors": the log-odds of a bag's
        prior are N(0, strength²). "feature": rows sorted by the first column are cut into bags.
        "effect": the log-odds of Y are 2⟨μ, x⟩ + u_k, u_k ~ N(0, strength²).
    n_bags, bag_size : int
        Number of bags and rows per bag.
    strength : float, default=1.0
        Standard deviation of the priors or of the effect.
    mean : sequence of float, default=(1.0, 0.0)
        μ.
    n_test : int
        Number of test rows.
    random_state : int, RandomState or None
        Source of the random draws.

    Raises
    ------
    ValueError
        If the case is unknown or a number is out of range.

    Examples
    --------
    >>> from decorrupt.datasets import make_gaussian_bags
    >>> data = make_gaussian_bags("feature", random_state=0)
    >>> data.X.shape, round(data.bayes_error, 4)
    ((1000, 2), 0.1587)
    """
    if case not in BAG_CASES:
        raise ValueError(f"unknown case {case!r}: choose one of {', '.join(BAG_CASES)}")
    for name, value in (("n_bags", n_bags), ("bag_size", bag_size), ("n_test", n_test)):
        check_count(name, value)
    check_not_negative("strength", strength)
    population = GaussianClasses(tuple(float(value) for value in mean))
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    bags = np.repeat(np.arange(n_bags), bag_size)
    X, labels = _draw(case, population, strength, bags, rng)
    if case == "feature":
        order = np.argsort(X[:, 0], kind="stable")
        X, labels = X[order], labels[order]
    shares = np.bincount(bags, labels) / bag_size
    same = case in ("priors", "feature")  # the test rows have neither
    X_test, y_test = _draw("random" if same else case, population, strength, np.arange(n_test), rng)
    error = effect_bayes_error(population, strength if case == "effect" else 0.0)
    return GaussianBags(X, shares[bags], bags, X_test, y_test, population, error)


def _draw(
    case: str,
    population: GaussianClasses,
    strength: float,
    bags: NDArray[np.intp],
    rng: np.random.Generator,
) -> tuple[FloatArray, NDArray[np.int_]]:
    """Return rows and labels 0 and 1 of the given bags."""
    own = (strength * rng.normal(size=bags.max() + 1))[bags]
    prior = expit(own) if case == "priors" else 0.5
    labels = (rng.random(len(bags)) < prior).astype(int)
    X = population.draw(2 * labels - 1, rng)
    if case == "effect":
        log_odds = 2 * X @ np.asarray(population.mean)
        labels = (rng.random(len(bags)) < expit(log_odds + own)).astype(int)
    return X, labels


def effect_bayes_error(population: GaussianClasses, strength: float) -> float:
    """Return E σ(−|s| + u), s = 2⟨μ, X⟩, u ~ N(0, strength²): the error of sign s in a new bag.

    Without an effect it is Φ(−‖μ‖).
    """
    if strength == 0:
        return population.bayes_error
    nodes, mass = np.polynomial.hermite_e.hermegauss(NODES)
    mass = mass / mass.sum()
    cells = np.linspace(-8, 8, 4001)
    weights = np.exp(-(cells**2) / 2)
    distance = population.distance
    scores = np.abs(2 * distance**2 + 2 * distance * cells)
    errors = expit(strength * nodes - scores[:, None]) @ mass
    return float(np.average(errors, weights=weights))
