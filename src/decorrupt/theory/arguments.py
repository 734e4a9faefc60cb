"""Argument checks of the bounds: weights, pairs of proportions, one number per source."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption import WEIGHT_SCHEMES, signal_to_noise
from decorrupt.observed import matrix_of_rates


def resolve_weights(weights: str | ArrayLike, schemes: dict[str, FloatArray]) -> FloatArray:
    """Return the given weights, or the weights w ∝ schemes[weights] of a named scheme.

    Raises
    ------
    ValueError
        If the scheme is unknown, or the weights are not on the simplex.
    """
    if isinstance(weights, str):
        if weights not in schemes:
            raise ValueError(
                f"unknown weights {weights!r}: choose one of {', '.join(schemes)}, or give an "
                "array of weights"
            )
        return np.asarray(schemes[weights] / schemes[weights].sum())
    given = vector("weights", weights, len(schemes["uniform"]))
    if (given < 0).any() or abs(given.sum() - 1) > 1e-9:
        raise ValueError(
            f"weights must be at least 0 and sum to 1, got sum {given.sum():g} and smallest "
            f"weight {given.min():g}"
        )
    return given


def pair_signal_to_noise(
    sizes: ArrayLike,
    flip_pos: ArrayLike,
    flip_neg: ArrayLike,
    source_priors: ArrayLike | None = None,
    scheme: str = "optimal",
) -> FloatArray:
    """Return 1/c_i² of sources with these flip rates, one per source or one for all."""
    n_sources = np.size(sizes)
    for name, rates in (("flip_pos", flip_pos), ("flip_neg", flip_neg)):
        if np.ndim(rates) > 1 or np.size(rates) not in (1, n_sources):
            raise ValueError(
                f"{name} has {np.size(rates)} rates for {n_sources} sources: give one per source"
            )
    pairs = np.broadcast_arrays(flip_pos, flip_neg, np.empty(n_sources))[:2]
    return signal_to_noise(
        sizes, matrix_of_rates(*pairs), source_priors=source_priors, scheme=scheme
    )


def resolve_source_weights(
    weights: str | ArrayLike,
    sizes: ArrayLike,
    flip_pos: ArrayLike,
    flip_neg: ArrayLike,
    source_priors: ArrayLike | None = None,
) -> FloatArray:
    """Return the given weights, or those of a scheme of `corruption.source_weights`."""
    if isinstance(weights, str) and weights == "exact" and source_priors is None:
        raise ValueError(
            "weights='exact' needs source_priors, P(Y=1) of each source: give them, or choose "
            "the weights optimal, size or uniform"
        )
    schemes = {
        scheme: pair_signal_to_noise(sizes, flip_pos, flip_neg, source_priors, scheme)
        for scheme in WEIGHT_SCHEMES
        if scheme != "exact" or source_priors is not None
    }
    return resolve_weights(weights, schemes)


def check_pairs(
    proportions_pos: ArrayLike, proportions_neg: ArrayLike, sizes: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the three arguments as float arrays; raise ValueError for the first invalid pair."""
    rows = positive_vector("sizes", sizes)
    upper = vector("proportions_pos", proportions_pos, len(rows))
    lower = vector("proportions_neg", proportions_neg, len(rows))
    bad = np.flatnonzero(~((lower >= 0) & (lower < upper) & (upper <= 1)))
    if len(bad):
        pair = int(bad[0])
        raise ValueError(
            f"pair {pair} has proportions_neg {lower[pair]:g} and proportions_pos "
            f"{upper[pair]:g}: they must satisfy 0 ≤ proportions_neg < proportions_pos ≤ 1"
        )
    return upper, lower, rows


def vector(name: str, values: ArrayLike, length: int) -> FloatArray:
    """Return `length` finite numbers, from an array of that length or one number for all."""
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != length):
        raise ValueError(
            f"{name} has shape {numbers.shape}: give {length} numbers, as many as sizes"
        )
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite numbers")
    return np.broadcast_to(numbers, (length,))


def positive_vector(name: str, values: ArrayLike) -> FloatArray:
    """Return the values as a float array; raise ValueError unless all are positive."""
    numbers = np.atleast_1d(np.asarray(values, dtype=float))
    if numbers.ndim != 1 or not len(numbers) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ValueError(f"{name} must be a list of positive numbers")
    return numbers


def norm(terms: FloatArray) -> float:
    """Return √Σ terms²."""
    return float(np.linalg.norm(terms))
