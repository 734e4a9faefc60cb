"""The bag effect: how much the bags' shares vary beyond what their rows explain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from decorrupt._typing import FloatArray
from decorrupt.losses import probabilities
from decorrupt.observed import (
    CountNoise,
    GaussianNoise,
    Observed,
    noise_covariance,
)


def with_bag_effect(observed: Observed, effect: float) -> Observed:
    """Return the same bags with the variance of a bag effect added to the noise of their counts.

    The noise becomes Gaussian with the variance noise² + (n_k·effect)², where `effect` is the
    standard deviation of the share of every class. A bag of one row keeps its label.
    """
    if not effect:
        return observed
    counts, sizes, n_classes = observed.counts, observed.sizes, observed.n_classes
    # The noise with which `noise_covariance` has variance 1 of every class count.
    unit = 1.0 if n_classes == 2 else n_classes / (n_classes - 1)
    scales = np.sqrt(counts.noise_variance + unit * (sizes * effect) ** 2)
    noise: list[CountNoise | None] = [
        GaussianNoise(float(scale)) if size >= 2 else own
        for own, scale, size in zip(counts.noise, scales, sizes, strict=True)
    ]
    given = observed.proportions * sizes[:, None]
    reported = np.where(counts.is_noisy[:, None], counts.lower, given)
    return replace(observed, inexact=counts.with_noise(reported, noise))


def bag_effect_of_scores(scores: FloatArray, observed: Observed) -> float:
    """Return the maximum-likelihood bag effect of the counts, given the scores of the rows."""
    free, shares = probabilities(scores)[:, 1:], observed.proportions[:, 1:]
    sizes = observed.sizes.astype(float)
    residuals = sizes[:, None] * (shares - observed.mean_by_bag(free))
    products = free[:, :, None] * (np.eye(free.shape[1]) - free[:, None, :])
    covariance = sizes[:, None, None] * observed.mean_by_bag(products)
    covariance += noise_covariance(observed.counts.noise_variance, observed.n_classes)
    several = sizes >= 2
    return estimate_bag_effect(residuals[several], covariance[several], sizes[several])


def effect_covariance(n_classes: int) -> FloatArray:
    """Return E = (I − 1/K)·K/(K−1) of all classes but one, the covariance of a bag effect of 1.

    The effects of K classes sum to 0, each has variance 1, and all pairs have the same covariance,
    so that a density of the counts of K − 1 classes does not depend on which class is left out.
    """
    return (np.eye(n_classes - 1) - 1 / n_classes) * n_classes / (n_classes - 1)


def estimate_bag_effect(residuals: FloatArray, covariance: FloatArray, sizes: FloatArray) -> float:
    """Return argmax_s Σ_k log N(r_k; 0, V_k + n_k²·s²·E), E from :func:`effect_covariance`.

    r_k are the counts of all classes but one minus their expectation, V_k is their covariance.
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
