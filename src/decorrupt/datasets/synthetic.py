"""Synthetic data: two Gaussian classes with known Bayes risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.corruption import corrupt_labels
from decorrupt.observed import read_sources

DEFAULT_MEAN = (1.0, 0.0)  # the second column is noise; the Bayes error is Φ(−1) ≈ 16 %
RandomState = int | np.random.RandomState | None


@dataclass(frozen=True)
class GaussianClasses:
    """Two Gaussian classes, whose errors are known exactly.

    X | Y=y ~ N(y·μ, I), y = ±1: the balanced Bayes score is the log-odds 2⟨μ, x⟩.

    Parameters
    ----------
    mean : tuple of float
        μ.

    Examples
    --------
    >>> from decorrupt.datasets import GaussianClasses
    >>> round(GaussianClasses((1.0, 0.0)).bayes_error, 4)
    0.1587
    """

    mean: tuple[float, ...] = (1.0,)

    @property
    def bayes_error(self) -> float:
        """Φ(−‖μ‖), the smallest possible balanced error."""
        return float(ndtr(-np.linalg.norm(self.mean)))

    def draw(self, labels: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Return one row of X per label ±1."""
        centre = np.multiply.outer(np.asarray(labels, dtype=float), self.mean)
        return np.asarray(centre + rng.normal(size=centre.shape))

    def linear_error(self, coef: ArrayLike, intercept: float = 0.0) -> float:
        """Return the balanced error of sign(⟨θ, x⟩ + b), in closed form."""
        coef = np.asarray(coef, dtype=float)
        spread, shift = np.linalg.norm(coef), float(coef @ np.asarray(self.mean))
        if spread == 0:  # a constant prediction is wrong for one class
            return 0.5
        return float(
            0.5 * (ndtr(-(shift + intercept) / spread) + ndtr((intercept - shift) / spread))
        )


@dataclass(frozen=True, eq=False)
class GaussianData:
    """Labelled rows of two Gaussian classes.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    y : ndarray of int, shape (n_rows,)
        Their classes, 0 and 1, for :func:`make_bags` or as test labels.
    population : GaussianClasses
        Their distribution. `bayes_error` is the smallest possible balanced error, `linear_error`
        the balanced error of a linear classifier.
    """

    X: FloatArray
    y: NDArray[np.int_]
    population: GaussianClasses


@dataclass(frozen=True, eq=False)
class CorruptedSources:
    """Rows with noisy labels from several sources, without true labels.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows, ordered by source.
    y : ndarray of int, shape (n_rows,)
        Their noisy labels, 0 and 1.
    sources : ndarray of shape (n_rows,)
        The source of each row.
    noise_rates : dict
        {source: (flip_pos, flip_neg)}.
    source_priors : dict
        {source: P(Y=1)}.
    population : GaussianClasses
        The class distributions, the same for all sources, with their exact errors.
    """

    X: FloatArray
    y: NDArray[np.int_]
    sources: NDArray[Any]
    noise_rates: dict[Any, tuple[float, float]]
    source_priors: dict[Any, float]
    population: GaussianClasses


def make_gaussian_classes(
    n_rows: int,
    *,
    class_prior: float = 0.5,
    mean: Sequence[float] = DEFAULT_MEAN,
    random_state: RandomState = None,
) -> GaussianData:
    """Draw labelled rows of two Gaussian classes, whose best possible error is known.

    P(Y=1) = π and X | Y=y ~ N(y·μ, I), y = ±1; the Bayes error is Φ(−‖μ‖).

    Parameters
    ----------
    n_rows : int
        Number of rows.
    class_prior : float in (0, 1), default=0.5
        π.
    mean : sequence of float, default=(1.0, 0.0)
        μ, half the difference of the classes' means; its length is the number of features.
    random_state : int, RandomState or None
        Source of the random draws.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from decorrupt.datasets import make_gaussian_classes
    >>> data = make_gaussian_classes(100, mean=(1.0,), random_state=0)
    >>> data.X.shape, round(data.population.bayes_error, 4)
    ((100, 1), 0.1587)
    """
    _check_count("n_rows", n_rows)
    if not 0 < class_prior < 1:
        raise ValueError(f"class_prior={class_prior!r} must lie strictly between 0 and 1")
    X, labels, population = _draw(np.full(n_rows, class_prior), mean, random_state)
    return GaussianData(X, labels, population)


def make_corrupted_sources(
    n_rows: Any,
    noise_rates: Any,
    source_priors: Any = 0.5,
    *,
    mean: Sequence[float] = DEFAULT_MEAN,
    random_state: RandomState = None,
) -> CorruptedSources:
    """Draw rows of two Gaussian classes, and flip the labels of each source at its own rates.

    Parameters
    ----------
    n_rows : int, mapping or sequence
        Number of rows: one number for all sources, or one per source.
    noise_rates : mapping or sequence of pairs
        {source: (flip_pos, flip_neg)}; for a sequence the source ids are 0, 1, …
    source_priors : float, mapping or sequence, default=0.5
        P(Y=1): one number for all sources, or one per source.
    mean : sequence of float, default=(1.0, 0.0)
        As in :func:`make_gaussian_classes`.
    random_state : int, RandomState or None
        Source of the random draws.

    Raises
    ------
    ValueError
        If a source has no rows, rates or prior, or they are out of range; or if all rows drawn are
        of the same class.

    Examples
    --------
    >>> from decorrupt.datasets import make_corrupted_sources
    >>> rates = {"nurse": (0.05, 0.1), "rule": (0.4, 0.2)}
    >>> data = make_corrupted_sources({"nurse": 100, "rule": 300}, rates, random_state=0)
    >>> data.X.shape, data.source_priors
    ((400, 2), {'nurse': 0.5, 'rule': 0.5})
    """
    rates_of = noise_rates if isinstance(noise_rates, Mapping) else dict(enumerate(noise_rates))
    ids = np.empty(len(rates_of), dtype=object)
    ids[:] = list(rates_of)
    sources = np.repeat(ids, _sizes(n_rows, ids))
    priors = _by_source("source_priors", source_priors, ids)
    undrawn = np.zeros(len(sources), dtype=np.intp)
    read: Any = read_sources(undrawn, np.arange(2), sources, rates_of, priors)
    rng = check_random_state(random_state)
    X, labels, population = _draw(read.given_priors[read.row_source, 1], mean, rng)
    if labels.min() == labels.max():
        raise ValueError(f"all {len(labels)} rows drawn are of the same class: draw more rows")
    return CorruptedSources(
        X=X,
        y=corrupt_labels(labels, read.matrices[read.row_source], random_state=rng),
        sources=sources,
        noise_rates=read.rates,
        source_priors=read.by_source(read.given_priors),
        population=population,
    )


def _draw(
    row_priors: FloatArray, mean: Sequence[float], random_state: RandomState
) -> tuple[FloatArray, NDArray[np.int_], GaussianClasses]:
    """Return rows, their classes 0 and 1, and the population; `row_priors` are P(Y=1) per row."""
    centre = np.asarray(mean, dtype=float)
    if centre.ndim != 1 or not len(centre) or not np.isfinite(centre).all():
        raise ValueError(f"mean={mean!r} must be a list of finite numbers, one per feature")
    population = GaussianClasses(tuple(centre.tolist()))
    rng = check_random_state(random_state)
    labels = (rng.uniform(size=len(row_priors)) < row_priors).astype(int)
    generator = np.random.default_rng(rng.randint(2**31 - 1))
    return population.draw(2 * labels - 1, generator), labels, population


def _sizes(n_rows: Any, ids: NDArray[Any]) -> NDArray[np.intp]:
    given = _by_source("n_rows", n_rows, ids)
    for source in ids.tolist():
        if source not in given:
            raise ValueError(f"n_rows have no entry for source {source!r}")
        _check_count(f"n_rows of source {source!r}", given[source])
    return np.array([given[source] for source in ids.tolist()], dtype=np.intp)


def _by_source(name: str, values: Any, ids: NDArray[Any]) -> Mapping[Any, Any]:
    if isinstance(values, Mapping):
        return values
    if np.ndim(values) == 0:
        return dict.fromkeys(ids.tolist(), values)
    if len(values) != len(ids):
        raise ValueError(f"{name} has {len(values)} entries, but there are {len(ids)} sources")
    return dict(zip(ids.tolist(), values, strict=True))


def _check_count(name: str, value: Any) -> None:
    if not (isinstance(value, int | np.integer) and value >= 1):
        raise ValueError(f"{name} is {value!r}: it must be a whole number of at least 1")
