"""Weights of corrupted sources (Secs. 2.2 and 2.3 of the paper), for any number of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.observed import check_transitions, class_columns, is_share_row

WEIGHT_SCHEMES = ("optimal", "exact", "size", "uniform")


def signal_to_noise(
    sizes: ArrayLike,
    noise_rates: Any,
    *,
    source_priors: ArrayLike | None = None,
    scheme: str = "optimal",
) -> FloatArray:
    """Return the signal-to-noise ratio of every source.

    It is 1/c_s², as in the generalisation bound.

    c_s = max_ỹ Σ_y |T_s⁻¹[ỹ, y]| / √n_s, and with class shares also / min_y π_s(y). For two classes
    that is (1+|ρ₊−ρ₋|) / ((1−ρ₊−ρ₋)·√n_s).

    Parameters
    ----------
    sizes : array-like of shape (n_sources,)
        Rows of each source.
    noise_rates : sequence of pairs (flip_pos, flip_neg) or of matrices, one per source
        A matrix is T[y, ỹ] = P(Ỹ=ỹ | Y=y).
    source_priors : array-like of shape (n_sources,) or (n_sources, n_classes), optional
        P(Y=1) in each source, or its class shares. Without it, all sources have the same clean
        distribution (Thm 2); with it, only the class-conditional distributions are the same
        (Thm 3).
    scheme : {"optimal", "exact", "size", "uniform"}
        - ``optimal``: the formula above, from the paper.
        - ``exact``: c_s² = Σ_ỹ q_s(ỹ)·(Σ_y |T_s⁻¹[ỹ, y]|/(K·π_s(y)))² / n_s with q_s = T_sᵀπ_s, the
          mean square over the noisy labels where the paper uses their maximum; it needs
          `source_priors`. For two classes 1/c² = n·4q(1−q)Δ² with q = P(Ỹ=1) and
          Δ = P(Y=1|Ỹ=1) − P(Y=1|Ỹ=−1).
        - ``size``: n_s (van Rooyen & Williamson 2018).
        - ``uniform``: 1 for every source.

    Raises
    ------
    ValueError
        If a size, rate or prior is out of range, or the scheme is unknown.
    """
    sizes = np.atleast_1d(np.array(sizes, dtype=float))
    if sizes.ndim != 1:
        raise ValueError("sizes must be a list of numbers, one per source")
    for source in np.flatnonzero(~((sizes > 0) & np.isfinite(sizes)))[:1]:
        raise ValueError(f"sizes must be positive numbers: source {source} has {sizes[source]:g}")
    transitions = read_transitions(noise_rates)
    if len(transitions) != len(sizes):
        raise ValueError(
            f"there are rates of {len(transitions)} sources and {len(sizes)} sizes: give one per "
            "source"
        )
    priors = None if source_priors is None else _check_priors(source_priors, transitions)
    if scheme == "uniform":
        return np.ones_like(sizes)
    if scheme == "size":
        return sizes
    if scheme == "optimal":
        balance = 1.0 if priors is None else priors.min(axis=1)
        return np.asarray(sizes * (balance / noise_scales(transitions, np.ones_like(sizes))) ** 2)
    if scheme == "exact":
        if priors is None:
            raise ValueError(
                "scheme='exact' needs source_priors: it depends on the class shares per source"
            )
        return np.asarray(sizes / _mean_square(transitions, priors))
    raise ValueError(f"unknown scheme {scheme!r}: choose one of {', '.join(WEIGHT_SCHEMES)}")


def source_weights(
    sizes: ArrayLike,
    noise_rates: Any,
    *,
    source_priors: ArrayLike | None = None,
    scheme: str = "optimal",
) -> FloatArray:
    """Return the weights of the sources with the smallest generalisation bound.

    w_s ∝ 1/c_s² on the simplex, the minimiser of Σ w_s² c_s².

    The arguments are those of :func:`signal_to_noise`.

    Examples
    --------
    A clean source has a much larger weight than a source with almost random labels:

    >>> import numpy as np
    >>> from decorrupt.corruption import source_weights
    >>> source_weights([100, 100], [(0.0, 0.0), (0.4, 0.4)]).round(3).tolist()
    [0.962, 0.038]
    >>> noisy = 0.4 * np.eye(3) + 0.2
    >>> source_weights([100, 100], [np.eye(3), noisy]).round(3).tolist()
    [0.9, 0.1]
    """
    snr = signal_to_noise(sizes, noise_rates, source_priors=source_priors, scheme=scheme)
    return np.asarray(snr / snr.sum())


def read_transitions(noise_rates: Any) -> FloatArray:
    """Return the matrices of sources, from one pair of rates or matrix per source."""
    rates = list(noise_rates)
    n_classes = max((len(own) for own in rates if np.ndim(own) == 2), default=2)
    return check_transitions(dict(enumerate(rates)), n_classes)


def noise_scales(transitions: FloatArray, sizes: ArrayLike) -> FloatArray:
    """Return c_s = max_ỹ Σ_y |T_s⁻¹[ỹ, y]| / √n_s; the best source weights are ∝ 1/c_s².

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.corruption import noise_scales
    >>> noise_scales(np.array([np.eye(3)]), [100]).tolist()
    [0.1]
    """
    largest = np.abs(np.linalg.inv(transitions)).sum(axis=2).max(axis=1)
    return np.asarray(largest / np.sqrt(np.asarray(sizes, dtype=float)))


def backward_coefficients(transitions: FloatArray, row_source: Any, noisy_class: Any) -> FloatArray:
    """Return T_s⁻¹[ỹ, ·] of every row: ℓ̃(f, ỹ) = Σ_y T_s⁻¹[ỹ, y]·ℓ_y(f), unbiased as T_s·ℓ̃ = ℓ."""
    return np.asarray(np.linalg.inv(transitions)[row_source, noisy_class])


def label_costs(transitions: FloatArray, threshold: float) -> FloatArray:
    """Return s·α and s·(1−α), the weights of rows labelled − and + (Natarajan et al. 2013).

    With the signal s = 1 − ρ₊ − ρ₋ of a source, α = s·τ + ρ₋ is P(Ỹ=1|x) where P(Y=1|x) = τ.

    Parameters
    ----------
    transitions : ndarray of shape (n_sources, 2, 2)
        T of each source.
    threshold : float
        τ, strictly between 0 and 1.

    Returns
    -------
    ndarray of shape (n_sources, 2)
    """
    flip_pos, flip_neg = transitions[:, 1, 0], transitions[:, 0, 1]
    signal = 1 - flip_pos - flip_neg
    border = signal * threshold + flip_neg
    return signal[:, None] * np.column_stack([border, 1 - border])


def noisy_share(class_prior: ArrayLike, flip_pos: ArrayLike, flip_neg: ArrayLike) -> FloatArray:
    """Return q = P(Ỹ=1) = π(1−ρ₊) + (1−π)ρ₋."""
    prior = np.asarray(class_prior, dtype=float)
    return np.asarray(prior * (1 - np.asarray(flip_pos)) + (1 - prior) * np.asarray(flip_neg))


def _check_priors(source_priors: ArrayLike, transitions: FloatArray) -> FloatArray:
    """Return the class shares of every source."""
    n_sources, n_classes = transitions.shape[:2]
    given = np.asarray(source_priors, dtype=float)
    given = np.broadcast_to(given, (n_sources,)) if given.ndim == 0 else given
    shares = class_columns(given)
    if shares.shape != (n_sources, n_classes):
        raise ValueError(
            f"source_priors must be one share of positives per source ({n_sources} sources), or "
            f"one row of {n_classes} class shares per source; got shape {given.shape}"
        )
    for source in np.flatnonzero(~(is_share_row(shares) & (shares > 0).all(axis=1)))[:1]:
        raise ValueError(
            f"source_priors must lie strictly between 0 and 1: source {source} has "
            f"{given[source].tolist()}"
        )
    return shares


def _mean_square(transitions: FloatArray, priors: FloatArray) -> FloatArray:
    """Return Σ_ỹ q(ỹ)·(Σ_y |T⁻¹[ỹ, y]|/(K·π(y)))² of every source."""
    costs = 1 / (priors.shape[1] * priors)
    reach = np.einsum("sny,sy->sn", np.abs(np.linalg.inv(transitions)), costs)
    label_shares = np.einsum("syn,sy->sn", transitions, priors)
    return np.asarray(np.sum(label_shares * reach**2, axis=1))
