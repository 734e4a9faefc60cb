"""The bag effect: how much the bags' shares vary beyond what their rows explain."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, softmax

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.risks.count_noise import (
    CountNoise,
    GaussianNoise,
    noise_variances,
    read_count_noise,
)
from decorrupt.risks.observations import CountObservations

ESTIMATE = "estimate"


def check_bag_effect(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is "estimate" or a standard deviation of a share."""
    if not (value == ESTIMATE or (isinstance(value, Real) and 0 <= float(value) < np.inf)):
        raise ValueError(f"{name}={value!r} must be 'estimate' or a number of at least 0")


def check_no_effect_with_ranges(bag_effect: Any, upper: Any) -> None:
    """Raise ValueError if there are ranges and a bag effect, which is about one count."""
    if upper is not None and bag_effect != 0:
        raise ValueError(f"bag_effect={bag_effect!r} cannot be combined with upper=")


def with_bag_effect(strata: Strata, count_noise: Any, effect: float) -> Any:
    """Return the noise by bag id: Gaussian with the variance noise² + (n_k·effect)².

    The shares of K classes sum to 1 with their effects, so that each has the variance effect² if
    independent noise of variance effect²·K/(K−1) is corrected to sum to 0.
    A single row with a known label has no variance beyond that of its own probability, so bags of
    one row keep their noise.
    """
    if not effect:
        return count_noise
    own = read_count_noise(strata.ids, count_noise)
    n_classes = strata.n_classes
    factor = 1.0 if n_classes is None else n_classes / (n_classes - 1)
    scales = np.sqrt(noise_variances(own) + factor * (strata.sizes * effect) ** 2)
    total: list[CountNoise | None] = [
        GaussianNoise(float(scale)) if size >= 2 else noise
        for noise, scale, size in zip(own, scales, strata.sizes, strict=True)
    ]
    return dict(zip(strata.ids.tolist(), total, strict=True))


def observe_with_effect(
    strata: Strata, observed: CountObservations | None, count_noise: Any
) -> CountObservations | None:
    """Return the observations with the noise of :func:`with_bag_effect`."""
    if observed is None:
        return None
    noise = read_count_noise(strata.ids, count_noise)
    is_noisy = np.array([one is not None for one in noise], dtype=bool)
    # Transposed, so that the counts of one class or of several have the bags as last axis.
    given = (strata.proportions.T * strata.sizes).T
    reported = np.where(observed.is_noisy, observed.lower.T, given.T)
    low, high = (np.where(is_noisy, reported, end.T).T for end in (observed.lower, observed.upper))
    return CountObservations(low, high, noise, observed.is_impossible & ~is_noisy)


def bag_effect_of_scores(scores: FloatArray, strata: Strata, count_noise: Any) -> float:
    """Return the maximum-likelihood bag effect of the counts, given P(Y=1|x) = σ(f).

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        f of every row.
    strata : Strata
        The bags and their proportions.
    count_noise
        The known noise of the counts, see :func:`read_count_noise`.
    """
    if strata.n_classes is None:
        free, shares, common = expit(scores)[:, None], strata.proportions[:, None], 0.0
    else:
        free, shares = softmax(scores, axis=1)[:, 1:], strata.proportions[:, 1:]
        common = 1 / strata.n_classes  # noisy counts are corrected to sum to n
    sizes = strata.sizes.astype(float)
    residuals = sizes[:, None] * shares - _sums(free, strata)
    products = free[:, :, None] * (np.eye(free.shape[1]) - free[:, None, :])
    covariance = _sums(products, strata)
    known = noise_variances(read_count_noise(strata.ids, count_noise))
    covariance = covariance + known[:, None, None] * (np.eye(free.shape[1]) - common)
    several = sizes >= 2
    return estimate_bag_effect(residuals[several], covariance[several], sizes[several])


def _sums(values: FloatArray, strata: Strata) -> FloatArray:
    flat = values.reshape(len(values), -1).T
    sums = [np.bincount(strata.row_stratum, column, len(strata.ids)) for column in flat]
    return np.array(sums, dtype=float).T.reshape(-1, *values.shape[1:])


def effect_covariance(n_classes: int) -> FloatArray:
    """Return E = (I − 1/K)·K/(K−1) of all classes but one, the covariance of a bag effect of 1.

    The effects of K classes sum to 0, each has variance 1, and all pairs have the same covariance,
    so that a density of the counts of K − 1 classes does not depend on which class is left out.
    """
    return (np.eye(n_classes - 1) - 1 / n_classes) * n_classes / (n_classes - 1)


def estimate_bag_effect(residuals: FloatArray, covariance: FloatArray, sizes: FloatArray) -> float:
    """Return argmax_s Σ_k log N(r_k; 0, V_k + n_k²·s²·E), E from :func:`effect_covariance`.

    Parameters
    ----------
    residuals : ndarray of shape (n_bags, n_classes − 1)
        Counts minus their expectation.
    covariance : ndarray of shape (n_bags, n_classes − 1, n_classes − 1)
        V_k.
    sizes : ndarray of shape (n_bags,)
        Rows per bag.
    """
    if not len(sizes):
        return 0.0
    # In coordinates in which E is the identity.
    inverse = np.linalg.inv(np.linalg.cholesky(effect_covariance(residuals.shape[1] + 1)))
    scales, directions = np.linalg.eigh(inverse @ covariance @ inverse.T)
    squares = np.einsum("kcd,kc->kd", directions, residuals @ inverse.T) ** 2

    def deviance(effect: float) -> float:
        variance = scales + (sizes[:, None] * effect) ** 2
        return float(np.sum(np.log(variance) + squares / variance))

    best = minimize_scalar(deviance, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-5})
    return float(best.x) if best.fun < deviance(0.0) else 0.0
