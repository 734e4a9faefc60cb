"""Noise rates of two classes and transition matrices of any number of classes.

A matrix T[y, ỹ] = P(Ỹ=ỹ | Y=y) has one row per true class, in the order of the classes. A pair of
flip rates of two classes is one of them: T = [[1−ρ₋, ρ₋], [ρ₊, 1−ρ₊]].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.observed.shares import SHARE_TOL, inseparable_classes, is_share_row

FLIPS = ("flip_pos", "flip_neg")  # the names of the rates of two classes


@dataclass(frozen=True)
class NoiseRates:
    """How often a source mislabels positives and negatives.

    ρ₊ = P(Ỹ=−1 | Y=1) and ρ₋ = P(Ỹ=1 | Y=−1), with ρ₊ + ρ₋ < 1.

    Parameters
    ----------
    flip_pos : float
        The share of true positives whose label was flipped to negative.
    flip_neg : float
        The share of true negatives whose label was flipped to positive.

    Raises
    ------
    ValueError
        If a rate is negative or not a number, or the sum is at least 1. At a sum of 1 the noisy
        label carries no information; above 1 it indicates the opposite class.

    Examples
    --------
    >>> from decorrupt import NoiseRates
    >>> NoiseRates(0.25, 0.25).signal
    0.5
    """

    flip_pos: float
    flip_neg: float

    def __post_init__(self) -> None:
        for name in ("flip_pos", "flip_neg"):
            rate = getattr(self, name)
            if not 0 <= rate < 1:  # also catches NaN
                raise ValueError(f"{name}={rate!r} is not a rate: it must be in [0, 1)")
        if self.flip_pos + self.flip_neg >= 1:
            raise ValueError(
                f"flip_pos + flip_neg = {self.flip_pos + self.flip_neg:g} must be below 1: "
                "at 1 the labels carry no information, above 1 they indicate the opposite class"
            )

    @property
    def signal(self) -> float:
        """1 − ρ₊ − ρ₋: 1 for clean labels, 0 for labels without information."""
        return 1.0 - self.flip_pos - self.flip_neg

    def __iter__(self) -> Iterator[float]:
        return iter((self.flip_pos, self.flip_neg))

    @classmethod
    def of(cls, rates: NoiseRates | ArrayLike) -> NoiseRates:
        """Return `rates` itself, or convert a pair or a matrix T[y, ỹ] = P(Ỹ=ỹ | Y=y).

        The rows and columns of a matrix are in the order of the classes, negative first.
        """
        if isinstance(rates, NoiseRates):
            return rates
        pair = np.asarray(rates, dtype=float)
        if is_two_class_matrix(pair):
            pair = np.array([pair[1, 0], pair[0, 1]])
        if pair.shape != (2,):
            raise ValueError(
                f"noise rates must be a pair (flip_pos, flip_neg), got {rates!r}. A matrix of two "
                "classes has shape (2, 2) and rows that sum to 1"
            )
        return cls(float(pair[0]), float(pair[1]))


def is_two_class_matrix(rates: ArrayLike) -> bool:
    """Return whether `rates` is a matrix T[y, ỹ] of two classes; its rows sum to 1.

    Two rows of valid (flip_pos, flip_neg) pairs do not: each pair sums to less than 1.
    """
    matrix = np.asarray(rates, dtype=float)
    return matrix.shape == (2, 2) and bool(is_share_row(matrix).all())


def matrix_of_rates(flip_pos: ArrayLike, flip_neg: ArrayLike) -> FloatArray:
    """Return T of every pair of flip rates, shape (..., 2, 2)."""
    flip_pos, flip_neg = np.broadcast_arrays(
        np.asarray(flip_pos, dtype=float), np.asarray(flip_neg, dtype=float)
    )
    rows = [np.stack([1 - flip_neg, flip_neg], -1), np.stack([flip_pos, 1 - flip_pos], -1)]
    return np.stack(rows, axis=-2)


def rates_of_matrix(matrix: FloatArray) -> Any:
    """Return what a user calls the noise rates: (flip_pos, flip_neg) of two classes, or T."""
    if len(matrix) == 2:
        return float(matrix[1, 0]), float(matrix[0, 1])
    return matrix


def intervals_of_matrix(ends: FloatArray) -> Any:
    """Return what a user calls the intervals of T's entries: by name of the rate, or both ends."""
    if len(ends) == 2:
        return dict(zip(FLIPS, map(tuple, [ends[1, 0].tolist(), ends[0, 1].tolist()]), strict=True))
    return ends


def check_transition(source: Any, noise_rates: Any, n_classes: int) -> FloatArray:
    """Return T of one source, from a pair of rates of two classes or an invertible matrix."""
    matrix = _read_matrix(f"source {source!r}", noise_rates, n_classes)
    together = inseparable_classes(matrix.T) if n_classes > 2 else []
    if together:
        raise ValueError(
            f"noise_rates of source {source!r} are singular: its labels do not distinguish the "
            f"classes {', '.join(map(str, together))}; leave out the source"
        )
    return matrix


def _read_matrix(name: str, noise_rates: Any, n_classes: int) -> FloatArray:
    try:
        if n_classes == 2:
            return matrix_of_rates(*NoiseRates.of(noise_rates))
        matrix = np.asarray(noise_rates, dtype=float)
    except (TypeError, ValueError) as error:
        reason = (
            f": {error}" if n_classes == 2 else f" are not a matrix of numbers: {noise_rates!r}"
        )
        raise ValueError(f"noise_rates of {name}{reason}") from None
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"noise_rates of {name} have shape {matrix.shape}: give a matrix of shape "
            f"({n_classes}, {n_classes}), row y with P(noisy label | true class y)"
        )
    for label in np.flatnonzero(~is_share_row(matrix))[:1]:
        raise ValueError(
            f"noise_rates of {name}: row {label} is {matrix[label].tolist()}; it must hold "
            f"probabilities in [0, 1] that sum to 1 (within {SHARE_TOL:g})"
        )
    return matrix


def check_transitions(noise_rates: Mapping[Any, Any], n_classes: int) -> FloatArray:
    """Return the matrices of all sources, shape (n_sources, n_classes, n_classes)."""
    return np.array([check_transition(source, T, n_classes) for source, T in noise_rates.items()])


def check_transition_rows(noise_rates: ArrayLike, n_rows: int, n_classes: int) -> FloatArray:
    """Return one matrix per row of X, from matrices or, of two classes, pairs of rates."""
    rates = np.asarray(noise_rates, dtype=float)
    are_pairs = n_classes == 2 and rates.shape == (n_rows, 2)
    if not are_pairs and rates.shape != (n_rows, n_classes, n_classes):
        pair = f"a pair (flip_pos, flip_neg), shape ({n_rows}, 2), or " if n_classes == 2 else ""
        raise ValueError(
            f"noise_rates given per row must be {pair}a matrix of shape ({n_classes}, {n_classes}) "
            f"for each of the {n_rows} rows of X; got an array of shape {rates.shape}. By source, "
            "give a mapping, or a data frame with the columns source, flip_pos and flip_neg"
        )
    matrices = matrix_of_rates(*rates.T) if are_pairs else rates
    is_valid = is_share_row(matrices).all(axis=1)
    if are_pairs:
        is_valid &= rates.sum(axis=1) < 1
    for row in np.flatnonzero(~is_valid)[:1]:
        _read_matrix(f"row {row} of X", rates[row], n_classes)
    return matrices


def rates_of_frame(frame: Any) -> dict[Any, Any]:
    """Return {source: (flip_pos, flip_neg)} of a data frame with these two columns.

    The sources are the column `source`, or the index of a pandas frame without it.
    """
    if "source" not in frame.columns and not hasattr(frame, "index"):
        raise ValueError("noise_rates are a data frame: add a column 'source' with the sources")
    sources = frame["source"] if "source" in frame.columns else frame.index
    ids = np.asarray(sources).tolist()
    for source in (source for source, count in Counter(ids).items() if count > 1):
        raise ValueError(f"noise_rates contain source {source!r} more than once")
    return dict(zip(ids, zip(*(frame[name] for name in FLIPS), strict=True), strict=True))


def is_for_all_rows(noise_rates: Any, n_classes: int) -> bool:
    """Return whether rates are one pair or matrix for all rows, not an array with one per row."""
    if isinstance(noise_rates, NoiseRates) or np.ndim(noise_rates) < 2:
        return True
    if n_classes == 2:
        return is_two_class_matrix(noise_rates)
    return np.ndim(noise_rates) == 2
