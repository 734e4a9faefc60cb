"""Noise of known scale in the bags' counts, such as that of a privacy mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray

SQRT_2PI = float(np.sqrt(2 * np.pi))


@dataclass(frozen=True)
class _Noise:
    """Reported count = true count + independent noise; subclasses have one positive parameter."""

    def __post_init__(self) -> None:
        (name,) = (field.name for field in fields(self))
        value = getattr(self, name)
        if not (isinstance(value, Real) and 0 < float(value) < np.inf):
            raise ValueError(
                f"{type(self).__name__}({name}={value!r}): {name} must be a positive number; for "
                "counts without noise use count_noise=None"
            )


@dataclass(frozen=True)
class GaussianNoise(_Noise):
    """Normal noise in published counts.

    Reported count = true count + N(0, scale²).

    Parameters
    ----------
    scale : float
        The standard deviation, in rows; above 0.

    Examples
    --------
    >>> from decorrupt import GaussianNoise
    >>> GaussianNoise(2.0).variance
    4.0
    """

    scale: float

    @property
    def variance(self) -> float:
        """σ²."""
        return float(self.scale) ** 2

    def log_density(self, distance: FloatArray) -> FloatArray:
        """Return −½(d/σ)² − log σ√(2π), for d = reported − true count."""
        return np.asarray(-0.5 * (distance / self.scale) ** 2 - np.log(self.scale * SQRT_2PI))


@dataclass(frozen=True)
class LaplaceNoise(_Noise):
    """Laplace noise in published counts, as differential privacy adds it.

    Reported count = true count + noise with the density exp(−|d|/scale)/(2·scale).

    Parameters
    ----------
    scale : float
        In rows; above 0. Differential privacy of level ε for counts: 1/ε.

    Examples
    --------
    >>> from decorrupt import LaplaceNoise
    >>> LaplaceNoise(2.0).variance  # in rows²
    8.0
    """

    scale: float

    @property
    def variance(self) -> float:
        """2·scale²."""
        return 2 * float(self.scale) ** 2

    @property
    def decay(self) -> float:
        """The decrease of the log-density per row of distance."""
        return 1 / float(self.scale)

    def log_density(self, distance: FloatArray) -> FloatArray:
        """Return −|d|/scale − log(2·scale), for d = reported − true count."""
        return np.asarray(-np.abs(distance) / self.scale - np.log(2 * self.scale))


@dataclass(frozen=True)
class GeometricNoise(_Noise):
    """Whole-numbered noise in published counts: the geometric mechanism of differential privacy.

    Reported count = true count + whole noise with P(d) = (1−α)/(1+α)·α^|d|, α = e^(−epsilon).

    Parameters
    ----------
    epsilon : float
        The privacy level of the counts; above 0.

    Examples
    --------
    >>> from decorrupt import GeometricNoise
    >>> round(GeometricNoise(0.5).variance, 2)
    7.84
    """

    epsilon: float

    @property
    def variance(self) -> float:
        """2α/(1−α)²."""
        return float(0.5 / np.sinh(0.5 * self.epsilon) ** 2)

    @property
    def decay(self) -> float:
        """The decrease of the log-probability per row of distance."""
        return float(self.epsilon)

    def log_density(self, distance: FloatArray) -> FloatArray:
        """Return −ε|d| + log tanh(ε/2), for d = reported − true count."""
        return np.asarray(-self.epsilon * np.abs(distance) + np.log(np.tanh(0.5 * self.epsilon)))


CountNoise = GaussianNoise | LaplaceNoise | GeometricNoise


def read_count_noise(ids: NDArray[Any], count_noise: Any) -> list[CountNoise | None]:
    """Return the noise of every bag; `count_noise` is for all bags, or a mapping by bag id.

    A number is the standard deviation of Gaussian noise; None means no noise.
    """
    names = ids.tolist()
    if not isinstance(count_noise, Mapping):
        return [_read_one(count_noise, "count_noise")] * len(names)
    for bag in (bag for bag in names if bag not in count_noise):
        raise ValueError(
            f"count_noise has no entry for bag {bag!r}: give one per bag, None for a bag without "
            "noise"
        )
    return [_read_one(count_noise[bag], f"count_noise of bag {bag!r}") for bag in names]


def _read_one(noise: Any, name: str) -> CountNoise | None:
    if noise is None or isinstance(noise, CountNoise):
        return noise
    if not (isinstance(noise, Real) and 0 < float(noise) < np.inf):
        raise ValueError(
            f"{name}={noise!r} must be the standard deviation of the counts, a positive number, or "
            "GaussianNoise, LaplaceNoise or GeometricNoise; None for counts without noise"
        )
    return GaussianNoise(float(noise))


def noise_covariance(variance: FloatArray, n_classes: int) -> FloatArray:
    """Return the covariance of the noise of all class counts but the first, for every bag.

    Independent noise of several classes is known to sum to 0: v·(I − 1/K).
    """
    common = 0.0 if n_classes == 2 else 1 / n_classes
    return np.asarray(variance[:, None, None] * (np.eye(n_classes - 1) - common))
