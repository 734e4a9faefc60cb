"""Estimated noise rates with intervals, for any number of classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import norm

from decorrupt._typing import FloatArray
from decorrupt.exceptions import UninformativeRatesWarning, warn
from decorrupt.observed import FLIPS, inseparable_classes, matrix_of_rates, rates_of_matrix

MIN_SIGNAL = 0.01  # smallest 1 − flip_pos − flip_neg that is returned: NoiseRates needs it above 0
CELL = 24  # characters of a printed rate with its interval


@dataclass(frozen=True, eq=False)
class NoiseRateEstimate:
    """Estimated noise rates per source, with intervals; ``print`` shows a table.

    Attributes
    ----------
    rates : dict
        {source: (flip_pos, flip_neg)}, or for several classes {source: T}, as the `noise_rates` of
        a classifier accept it.
    intervals : dict
        {source: {"flip_pos": (low, high), "flip_neg": (low, high)}}, or for several classes
        {source: ndarray of shape (n_classes, n_classes, 2)}. From noisy labels alone: 0 and an
        upper bound.
    sources : list
        The source ids.
    matrices : ndarray of shape (n_sources, n_classes, n_classes)
        T[y, ỹ] = P(Ỹ=ỹ | Y=y) of every source, for any number of classes.
    ends : ndarray of shape (n_sources, n_classes, n_classes, 2) or None
        The lower and upper end of every entry of the matrices; None without resamples.
    level : float
        Nominal probability that an interval or a bound (of an audit of several classes: all
        intervals of one row) is right.
    class_prior : ndarray of shape (n_classes,)
        Class shares of the clean distribution.
    method : str
        The method of estimation.
    classes : list
        The classes, in the order of rows and columns; of two, the second is the positive one.
    left_out : str
        Description of the error that the estimate does not show; empty if none. Not empty: the
        intervals are upper bounds.
    """

    sources: list[Any]
    matrices: FloatArray
    ends: FloatArray | None
    level: float
    class_prior: FloatArray
    method: str
    classes: list[Any]
    left_out: str = field(default="", kw_only=True, repr=False)

    @property
    def rates(self) -> dict[Any, Any]:
        """{source: (flip_pos, flip_neg)}, or for several classes {source: T}."""
        return dict(zip(self.sources, map(rates_of_matrix, self.matrices), strict=True))

    @property
    def intervals(self) -> dict[Any, Any]:
        """{source: {"flip_pos": (low, high), …}}, or for several classes {source: both ends}."""
        if self.ends is None:
            return {}
        if len(self.classes) > 2:
            return dict(zip(self.sources, self.ends, strict=True))
        return {
            source: dict(zip(FLIPS, map(tuple, ends[[1, 0], [0, 1]].tolist()), strict=True))
            for source, ends in zip(self.sources, self.ends, strict=True)
        }

    @property
    def _ends_word(self) -> str:
        return "upper bounds" if self.left_out else "intervals"

    def __str__(self) -> str:
        if len(self.classes) == 2:
            title, columns, shares = "", list(FLIPS), f"class prior {self.class_prior[1]:.3f}"
        else:
            title, columns = f"{'true class':<16}", list(map(str, self.classes))
            shares = "class shares " + ", ".join(f"{share:.3f}" for share in self.class_prior)
        head = f"{'source':<16}{title}" + "".join(f"{name:>{CELL}}" for name in columns)
        words = "" if self.ends is None else f"; {self.level:.0%} {self._ends_word}"
        foot = f"{shares}{words}; {self.method}"
        return "\n".join([head, *self._rows(), foot, *[self.left_out] * bool(self.left_out)])

    def _rows(self) -> Iterator[str]:
        """Yield one line per source with both flip rates, or one per source and true class."""
        for k, source in enumerate(self.sources):
            if len(self.classes) == 2:
                yield f"{source!s:<16}" + self._cell(k, 1, 0) + self._cell(k, 0, 1)
                continue
            for y, label in enumerate(self.classes):
                cells = (self._cell(k, y, noisy) for noisy in range(len(self.classes)))
                yield f"{source!s:<16}{label!s:<16}" + "".join(cells)

    def _cell(self, source: int, true: int, noisy: int) -> str:
        text = f"{self.matrices[source, true, noisy]:.3f}"
        if self.ends is not None:
            low, high = self.ends[source, true, noisy]
            text += f" ({low:.3f} to {high:.3f})"
        return f"{text:>{CELL}}"


def check_level(level: float) -> float:
    """Return `level`; raise ValueError unless 0 < level < 1."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie strictly between 0 and 1, such as 0.9")
    return float(level)


def informative(matrices: FloatArray) -> FloatArray:
    """Return matrices of two classes with flip rates in [0, 1] of a sum up to 1 − `MIN_SIGNAL`.

    Larger sums are scaled down. Matrices of several classes are estimated as shares of labels, and
    stay as they are.
    """
    if matrices.shape[-1] > 2:
        return matrices
    flips = np.clip(flips_of(matrices), 0.0, 1.0)
    total = np.maximum(flips.sum(axis=-1, keepdims=True), 1 - MIN_SIGNAL)
    return matrix_of_rates(*np.moveaxis(flips * (1 - MIN_SIGNAL) / total, -1, 0))


def flips_of(matrices: FloatArray) -> FloatArray:
    """Return (flip_pos, flip_neg) of matrices of two classes, shape (..., 2)."""
    return np.asarray(matrices[..., [1, 0], [0, 1]])


def bootstrap_ends(matrices: FloatArray, draws: FloatArray, level: float) -> FloatArray | None:
    """Return the union of the percentile interval of the draws and T̂ ± z·sd(draws).

    The resamples do not repeat every step, such as training the score, so that percentile intervals
    alone contain the true rate slightly too rarely. None without draws.

    Parameters
    ----------
    matrices : ndarray of shape (n_sources, n_classes, n_classes)
        The estimates.
    draws : ndarray of shape (n_draws, n_sources, n_classes, n_classes)
        The estimates from resamples.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    ndarray of shape (n_sources, n_classes, n_classes, 2) or None
    """
    if not len(draws):
        return None
    tail = (1 - level) / 2
    reach = norm.ppf(1 - tail) * draws.std(axis=0)
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    ends = [np.minimum(low, matrices - reach), np.maximum(high, matrices + reach)]
    return np.asarray(np.clip(np.stack(ends, axis=-1), 0.0, 1.0))


def warn_if_uninformative(
    sources: Sequence[Any],
    matrices: FloatArray,
    ends: FloatArray | None,
    classes: Sequence[Any],
    word: str,
) -> None:
    """Warn of each source whose labels may not distinguish the classes.

    Parameters
    ----------
    sources, matrices, ends, classes
        As in :class:`NoiseRateEstimate`, the matrices before :func:`informative`.
    word : str
        What a source is called, "source" or "annotator".
    """
    for k, source in enumerate(sources):
        own_ends = None if ends is None else ends[k]
        text = _doubt(matrices[k], own_ends, classes, word)
        if text:
            message = f"{word} {source!r}: {text}"
            warn(message, UninformativeRatesWarning)


def _doubt(matrix: FloatArray, ends: FloatArray | None, classes: Sequence[Any], word: str) -> str:
    """Return why the labels of a source may not distinguish the classes; empty if they do."""
    if len(classes) > 2:
        names = ", ".join(repr(classes[c]) for c in inseparable_classes(matrix.T))
        if not names:
            return ""
        return (
            f"its labels do not distinguish the classes {names}, and a classifier cannot use its "
            f"matrix. Remove the {word} or merge the classes"
        )
    total = flips_of(matrix).sum()
    highest = 0.0 if ends is None else flips_of(ends[..., 1]).sum()
    if total > 1 - MIN_SIGNAL:
        return (
            f"flip_pos + flip_neg was estimated at {total:.3g}. Its labels contain no information "
            "about the class, or are swapped; the rates were scaled down to a sum of "
            f"{1 - MIN_SIGNAL:g}. Remove the {word}, or swap its labels"
        )
    if highest >= 1:
        return (
            f"flip_pos + flip_neg may be as large as {highest:.3g}, and at 1 its labels contain no "
            f"information. Get more rows or an audit of this {word}, or remove it"
        )
    return ""
