"""Noise rates of two classes and transition matrices of any number of classes.

A matrix T[y, ỹ] = P(Ỹ=ỹ | Y=y) has one row per true class, in the order of the classes. A pair of
flip rates of two classes is one of them: T = [[1−ρ₋, ρ₋], [ρ₊, 1−ρ₊]].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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


def transition_matrix(name: str, noise_rates: Any, classes: Sequence[Any]) -> FloatArray:
    """Return T from an invertible matrix or, of two classes, a pair (flip_pos, flip_neg).

    `name` is the source in messages.
    """
    n_classes = len(classes)
    rates: Any = tuple(noise_rates) if isinstance(noise_rates, NoiseRates) else noise_rates
    try:
        matrix = np.asarray(rates, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"noise_rates of {name} are not numbers: {rates!r}") from None
    is_pair = n_classes == 2 and matrix.shape == (2,)
    if not is_pair and matrix.shape != (n_classes, n_classes):
        pair = "a pair (flip_pos, flip_neg) or " if n_classes == 2 else ""
        fewer = matrix.ndim == 2 and len(matrix) > n_classes
        raise ValueError(
            f"noise_rates of {name} have shape {matrix.shape}, but there are {n_classes} classes: "
            f"{list(classes)[:5]}; {'a class that no source reports cannot be learned; ' * fewer}"
            f"give {pair}a matrix of shape ({n_classes}, {n_classes}), row y with P(noisy label | "
            "true class y), in sorted order of the classes"
        )
    for label in () if is_pair else np.flatnonzero(~is_share_row(matrix))[:1]:
        raise ValueError(
            f"noise_rates of {name}: row {label} is {matrix[label].tolist()}; it must hold "
            f"probabilities in [0, 1] that sum to 1 (within {SHARE_TOL:g})"
        )
    if n_classes == 2:
        flips = (matrix if is_pair else matrix[[1, 0], [0, 1]]).tolist()
        try:
            NoiseRates(*flips)
        except ValueError as error:
            raise ValueError(f"noise_rates of {name}: {error}") from None
        return matrix_of_rates(*flips)
    together = inseparable_classes(matrix.T)
    if together:
        raise ValueError(
            f"noise_rates of {name} are singular: its labels do not distinguish the classes "
            f"{', '.join(str(classes[label]) for label in together)}; leave out the source"
        )
    return matrix


def is_common(noise_rates: Any, n_classes: int) -> bool:
    """Return whether rates are one pair or matrix, not an array with one per row.

    Two rows of valid (flip_pos, flip_neg) pairs are no matrix: each pair sums to less than 1.
    """
    n_axes = np.ndim(noise_rates)
    if n_classes == 2 and n_axes == 2:
        matrix = np.asarray(noise_rates, dtype=float)
        return matrix.shape == (2, 2) and bool(is_share_row(matrix).all())
    return n_axes <= 2


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
