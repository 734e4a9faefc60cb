"""Weights of corrupted sources (Secs. 2.2 and 2.3 of the paper)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption.noise import NoiseRates

WEIGHT_SCHEMES = ("optimal", "exact", "size", "uniform")


def signal_to_noise(
    sizes: ArrayLike,
    flip_pos: ArrayLike,
    flip_neg: ArrayLike,
    *,
    class_priors: ArrayLike | None = None,
    scheme: str = "optimal",
) -> FloatArray:
    """Return 1/c_i², the signal-to-noise ratio of source i in the generalisation bound.

    c_i² = (1+|ρ₊−ρ₋|)² / (n_i·(1−ρ₊−ρ₋)²), and with class priors also / min(π, 1−π)².

    Parameters
    ----------
    sizes : array-like of shape (n_sources,)
        Rows of each source.
    flip_pos, flip_neg : array-like of shape (n_sources,) or float
        Noise rates of each source.
    class_priors : array-like of shape (n_sources,) or float, optional
        P(Y=1) in each source. Without it, all sources have the same clean distribution (Thm 2);
        with it, only the class-conditional distributions are the same (Thm 3).
    scheme : {"optimal", "exact", "size", "uniform"}
        - ``optimal``: the formula above, from the paper.
        - ``exact``: n_i·4q_i(1−q_i)Δ_i² with q = P(Ỹ=1) and Δ = P(Y=1|Ỹ=1) − P(Y=1|Ỹ=−1). It uses
          the exact root-mean-square Lipschitz constant where the paper uses an upper bound, and
          needs `class_priors`.
        - ``size``: n_i (van Rooyen & Williamson 2018).
        - ``uniform``: 1 for every source.

    Raises
    ------
    ValueError
        If a size, rate or prior is out of range, or the scheme is unknown.
    """
    sizes, flip_pos, flip_neg = _check_sources(sizes, flip_pos, flip_neg)
    priors = None if class_priors is None else _check_priors(class_priors, len(sizes))
    if scheme == "uniform":
        return np.ones_like(sizes)
    if scheme == "size":
        return sizes
    if scheme == "optimal":
        noise = (1 + np.abs(flip_pos - flip_neg)) / (1 - flip_pos - flip_neg)
        balance = 1.0 if priors is None else np.minimum(priors, 1 - priors)
        return np.asarray(sizes * balance**2 / noise**2)
    if scheme == "exact":
        if priors is None:
            raise ValueError("scheme='exact' needs class_priors: it depends on P(Y=1) per source")
        share_pos = noisy_share(priors, flip_pos, flip_neg)
        # q(1−q)Δ = π(1−π)(1−ρ₊−ρ₋), so 4q(1−q)Δ² is that squared over q(1−q).
        spread = priors * (1 - priors) * (1 - flip_pos - flip_neg)
        return np.asarray(4 * sizes * spread**2 / (share_pos * (1 - share_pos)))
    raise ValueError(f"unknown scheme {scheme!r}: choose one of {', '.join(WEIGHT_SCHEMES)}")


def source_weights(
    sizes: ArrayLike,
    flip_pos: ArrayLike,
    flip_neg: ArrayLike,
    *,
    class_priors: ArrayLike | None = None,
    scheme: str = "optimal",
) -> FloatArray:
    """Return w_i ∝ 1/c_i² on the simplex: the minimiser of Σ w_i² c_i².

    The arguments are those of :func:`signal_to_noise`.

    Examples
    --------
    A clean source has a much larger weight than a source with almost random labels:

    >>> from decorrupt.corruption import source_weights
    >>> source_weights([100, 100], [0.0, 0.4], [0.0, 0.4]).round(3).tolist()
    [0.962, 0.038]
    """
    snr = signal_to_noise(sizes, flip_pos, flip_neg, class_priors=class_priors, scheme=scheme)
    return np.asarray(snr / snr.sum())


def noisy_share(class_prior: ArrayLike, flip_pos: ArrayLike, flip_neg: ArrayLike) -> FloatArray:
    """Return q = P(Ỹ=1) = π(1−ρ₊) + (1−π)ρ₋."""
    prior = np.asarray(class_prior, dtype=float)
    return np.asarray(prior * (1 - np.asarray(flip_pos)) + (1 - prior) * np.asarray(flip_neg))


def _check_sources(
    sizes: ArrayLike, flip_pos: ArrayLike, flip_neg: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    sizes = np.atleast_1d(np.array(sizes, dtype=float))
    if sizes.ndim != 1:
        raise ValueError("sizes must be a list of numbers, one per source")
    _refuse("sizes", sizes, (sizes > 0) & np.isfinite(sizes), "must be positive numbers")
    columns = []
    for name, rates in (("flip_pos", flip_pos), ("flip_neg", flip_neg)):
        rates = np.asarray(rates, dtype=float)
        if rates.ndim > 1 or (rates.ndim == 1 and len(rates) != len(sizes)):
            raise ValueError(
                f"{name} has {rates.size} rates for {len(sizes)} sources: give one per source"
            )
        columns.append(np.broadcast_to(rates, sizes.shape))
    for source, pair in enumerate(zip(*columns, strict=True)):
        try:
            NoiseRates(*map(float, pair))
        except ValueError as error:
            raise ValueError(f"source {source}: {error}") from None
    return sizes, columns[0], columns[1]


def _check_priors(class_priors: ArrayLike, n_sources: int) -> FloatArray:
    priors = np.asarray(class_priors, dtype=float)
    if priors.ndim > 1 or (priors.ndim == 1 and len(priors) != n_sources):
        raise ValueError(
            f"class_priors must be one number per source ({n_sources} sources) or one number for "
            "all sources"
        )
    priors = np.broadcast_to(priors, (n_sources,))
    _refuse(
        "class_priors", priors, (priors > 0) & (priors < 1), "must lie strictly between 0 and 1"
    )
    return priors


def _refuse(name: str, values: FloatArray, fine: NDArray[np.bool_], must: str) -> None:
    if not fine.all():
        source = int(np.flatnonzero(~fine)[0])
        raise ValueError(f"{name} {must}: source {source} has {values[source]:g}")


def label_costs(rates: FloatArray, threshold: float) -> tuple[FloatArray, FloatArray]:
    """Return s·(1−α) and s·α, the weights of rows labelled + and − (Natarajan et al. 2013).

    With the signal s = 1 − ρ₊ − ρ₋ of a source, α = s·τ + ρ₋ is P(Ỹ=1|x) where P(Y=1|x) = τ.

    Parameters
    ----------
    rates : ndarray of shape (n_sources, 2)
        (ρ₊, ρ₋).
    threshold : float
        τ, strictly between 0 and 1.
    """
    flip_pos, flip_neg = rates.T
    signal = 1 - flip_pos - flip_neg
    border = signal * threshold + flip_neg
    return signal * (1 - border), signal * border
