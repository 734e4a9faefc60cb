"""Estimated noise between several classes, with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption.class_shares import inseparable_classes
from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.noise_rates.result import interval_ends


@dataclass(frozen=True, eq=False)
class ClassNoiseEstimate:
    """Estimated T[y, ỹ] = P(Ỹ=ỹ | Y=y) per source; ``print`` shows a table.

    Attributes
    ----------
    rates : dict
        {source: ndarray of shape (n_classes, n_classes)}, as the `noise_rates` of a classifier
        accept it.
    intervals : dict
        {source: ndarray of shape (n_classes, n_classes, 2)}, lower and upper end of every entry;
        empty if none were requested.
    level : float
        Nominal probability that an interval (of an audit: all intervals of one row) is right.
    class_prior : ndarray of shape (n_classes,)
        Class shares of the clean distribution.
    method : str
        The method of estimation.
    classes : list
        The classes, in the order of rows and columns.
    covariance : ndarray or None
        Covariance over the resamples of the entries off the diagonal: those of the first source
        row by row, then those of the second and so on. None without resamples.
    left_out : str
        Description of the error that intervals and covariance do not include; empty if none.
    """

    rates: dict[Any, FloatArray]
    intervals: dict[Any, FloatArray]
    level: float
    class_prior: FloatArray
    method: str
    classes: list[Any]
    covariance: FloatArray | None = field(default=None, kw_only=True, repr=False)
    left_out: str = field(default="", kw_only=True, repr=False)

    def __str__(self) -> str:
        lines = [f"{'source':<16}{'true class':<16}" + "".join(f"{c!s:>24}" for c in self.classes)]
        for source, matrix in self.rates.items():
            for y, label in enumerate(self.classes):
                cells = "".join(
                    f"{self._cell(source, y, k, r):>24}" for k, r in enumerate(matrix[y])
                )
                lines.append(f"{source!s:<16}{label!s:<16}" + cells)
        shares = ", ".join(f"{share:.3f}" for share in self.class_prior)
        foot = f"class shares {shares}; {self.level:.0%} intervals; {self.method}"
        return "\n".join([*lines, foot, *[self.left_out] * bool(self.left_out)])

    def _cell(self, source: Any, true: int, noisy: int, rate: float) -> str:
        if source not in self.intervals:
            return f"{rate:.3f}"
        low, high = self.intervals[source][true, noisy]
        return f"{rate:.3f} ({low:.3f} to {high:.3f})"


def class_intervals(
    ids: Sequence[Any], rates: FloatArray, draws: FloatArray, level: float
) -> dict[Any, FloatArray]:
    """Return the ends of :func:`bootstrap_intervals` for every entry of the sources' matrices."""
    if not len(draws):
        return {}
    ends = np.stack(interval_ends(rates, draws, level), axis=-1)
    return dict(zip(ids, ends, strict=True))


def class_covariance(draws: FloatArray) -> FloatArray | None:
    """Return the covariance of the entries off the diagonal over (n_draws, n_sources, K, K)."""
    if len(draws) < 2:
        return None
    off = ~np.eye(draws.shape[-1], dtype=bool)
    return np.atleast_2d(np.cov(draws[..., off].reshape(len(draws), -1), rowvar=False))


def checked_matrices(
    ids: Sequence[Any], rates: FloatArray, classes: Sequence[Any], word: str
) -> dict[Any, FloatArray]:
    """Return {source: matrix}; warn about each source whose labels do not separate the classes.

    Must be called directly from the public functions, so that warnings point to their caller.
    """
    for source, matrix in zip(ids, rates, strict=True):
        together = inseparable_classes(matrix.T)
        if together:
            names = ", ".join(repr(classes[c]) for c in together)
            warnings.warn(
                f"{word} {source!r}: its labels do not distinguish the classes {names}, and a "
                f"classifier cannot use its matrix. Remove the {word} or merge the classes",
                UninformativeRatesWarning,
                stacklevel=3,
            )
    return dict(zip(ids, rates, strict=True))
