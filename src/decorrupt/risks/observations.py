"""What is observed about the number of positives in each bag: a count, a range, a noisy count.

A proportion p of a bag of n rows is read as follows.

1. If n·p is a whole number, that is the count.
2. Otherwise p was rounded. All such proportions of a table have the same number of digits, the
   most that any of them needs; the counts k with k/n within half a unit of p's last digit are
   possible. A bag with no such count is read with the digits of its own p.
3. If there is still no possible count, p does not belong to n rows: the counts on both sides of n·p
   are possible, and :func:`describe_impossible` names the bag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.risks.count_noise import CountNoise, read_count_noise

# Proportions that went through float32 differ by this much.
FLOAT_TOL = 1e-7
# n·p of a proportion computed as count/n, per row: also float32.
WHOLE_PER_ROW = 1e-6
LARGEST_WHOLE_TOL = 0.25
# Of a whole number that was divided by the rows of a bag and multiplied by those of its part.
ROUNDING = 1e-9
MOST_DIGITS = 7
SHOWN_BAGS = 5


@dataclass(frozen=True)
class CountObservations:
    """What is observed about the counts: ν_k = 1 for lower ≤ k ≤ upper, or a noisy count.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_bags,) or (n_bags, n_classes)
        The smallest and the largest possible count; for a noisy bag both are the reported count,
        which need not be whole or between 0 and n.
    noise : sequence of CountNoise or None
        The noise of each bag.
    is_impossible : ndarray of bool, shape (n_bags,)
        Whether the proportion is not possible with the bag's number of rows, see the module.
    """

    lower: FloatArray
    upper: FloatArray
    noise: Sequence[CountNoise | None]
    is_impossible: NDArray[np.bool_]

    @cached_property
    def is_noisy(self) -> NDArray[np.bool_]:
        """Whether the bag's count has noise."""
        return np.array([one is not None for one in self.noise], dtype=bool)

    @property
    def is_exact(self) -> NDArray[np.bool_]:
        """Whether only one count, or one count of every class, is possible."""
        is_same = (self.lower == self.upper).reshape(len(self.lower), -1).all(axis=1)
        return np.asarray(is_same & ~self.is_noisy)

    def as_shares(self, sizes: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper ends as shares of the bags' rows."""
        return (self.lower.T / sizes).T, (self.upper.T / sizes).T

    def take(self, bags: NDArray[np.intp], taken: FloatArray | float = 1.0) -> CountObservations:
        """Return the observations of some bags, or of parts of them.

        Parameters
        ----------
        bags : ndarray of int
            Their numbers.
        taken : ndarray of shape (len(bags),) or float
            The share of each bag's rows in its part. Ends of ranges are rounded outwards, and
            noise is kept.
        """
        noise = [self.noise[bag] for bag in bags.tolist()]
        low, high = ((ends[bags].T * taken).T for ends in (self.lower, self.upper))
        whole = ~self.is_noisy[bags] & (np.asarray(taken) < 1)
        low[whole], high[whole] = (
            np.floor(low[whole] + ROUNDING),
            np.ceil(high[whole] - ROUNDING),
        )
        return CountObservations(low, high, noise, self.is_impossible[bags])


def observe_counts(
    strata: Strata, *, upper: FloatArray | None = None, count_noise: Any = None
) -> CountObservations:
    """Return the observations of bags with two classes.

    Parameters
    ----------
    strata : Strata
        The bags and their proportions: exact, rounded, the lower ends of ranges, or noisy (then
        they need not be between 0 and 1).
    upper : ndarray of shape (n_bags,), optional
        The upper ends of ranges.
    count_noise
        See :func:`read_count_noise`.

    Raises
    ------
    ValueError
        If a range has its lower above its upper end, contains no whole number of rows, or is given
        for a bag with noise.
    """
    noise = read_count_noise(strata.ids, count_noise)
    given = strata.proportions * strata.sizes
    if upper is None:
        low, high, is_impossible = _read_rounded(strata.proportions, strata.sizes)
    else:
        names = list(map(repr, strata.ids.tolist()))
        _check_one_kind(names, strata.proportions, upper, noise)
        low, high = read_ranges(names, strata.sizes, strata.proportions, upper)
        is_impossible = np.zeros(len(low), dtype=bool)
    is_noisy = np.array([one is not None for one in noise], dtype=bool)
    low, high = np.where(is_noisy, given, low), np.where(is_noisy, given, high)
    return CountObservations(low, high, noise, is_impossible & ~is_noisy)


def _whole_tol(sizes: NDArray[np.intp]) -> FloatArray:
    return np.asarray(np.minimum(WHOLE_PER_ROW * sizes, LARGEST_WHOLE_TOL))


def read_ranges(
    names: Sequence[str], sizes: NDArray[np.intp], lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest count in every range of shares.

    Parameters
    ----------
    names : sequence of str
        The bag of each range, for messages.
    sizes, lower, upper : ndarray of shape (n_ranges,)
        The rows of the bag, and the ends of the range. Equal ends are a proportion, which can be
        rounded: it is read as described in the module, and its bag is never impossible.

    Raises
    ------
    ValueError
        If a range has its lower above its upper end, or contains no whole number of rows.
    """
    for place in np.flatnonzero(~(upper >= lower)).tolist():
        raise ValueError(
            f"the range of bag {names[place]} has its lower end y={lower[place]:g} above its upper "
            f"end upper={upper[place]:g}"
        )
    tol = _whole_tol(sizes)
    low, high = np.ceil(lower * sizes - tol), np.floor(upper * sizes + tol)
    points, *_ = np.nonzero(upper == lower)
    low[points], high[points], _ = _read_rounded(lower[points], sizes[points])
    for place in np.flatnonzero(low > high).tolist():
        raise ValueError(
            f"no count is possible in bag {names[place]}: there is no whole number of its "
            f"{sizes[place]} rows between the proportions {lower[place]:g} and {upper[place]:g}"
        )
    return low, high


def _check_one_kind(
    names: Sequence[str],
    lower: FloatArray,
    upper: FloatArray,
    noise: Sequence[CountNoise | None],
) -> None:
    """Raise ValueError if a bag has both a range and noise."""
    for name, low, high, own in zip(names, lower, upper, noise, strict=True):
        if high > low and own is not None:
            raise ValueError(
                f"bag {name} has a range from {low:g} to {high:g} and count_noise: give one of them"
            )


def _read_rounded(
    shares: FloatArray, sizes: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return the smallest and largest count of every bag, and whether its share is impossible."""
    low = np.rint(shares * sizes)
    high = low.copy()
    rest = np.flatnonzero(np.abs(shares * sizes - low) > _whole_tol(sizes))
    is_impossible = np.zeros(len(shares), dtype=bool)
    if not len(rest):
        return low, high, is_impossible
    own_digits = np.zeros(len(shares), dtype=np.intp)
    own_digits[rest] = _digits(shares[rest])
    for digits in (np.full_like(own_digits, own_digits.max()), own_digits):
        half = 0.5 * 10.0 ** -digits[rest] + FLOAT_TOL / 10
        low[rest] = np.ceil((shares[rest] - half) * sizes[rest])
        high[rest] = np.floor((shares[rest] + half) * sizes[rest])
        rest = rest[low[rest] > high[rest]]
    is_impossible[rest] = True
    low[rest], high[rest] = (
        np.floor(shares[rest] * sizes[rest]),
        np.ceil(shares[rest] * sizes[rest]),
    )
    return low, high, is_impossible


def _digits(shares: FloatArray) -> NDArray[np.intp]:
    """Return the number of decimal digits with which each share is written, at least 1."""
    digits = np.full(len(shares), MOST_DIGITS)
    for n_digits in range(MOST_DIGITS - 1, 0, -1):
        digits[np.abs(shares - np.round(shares, n_digits)) <= FLOAT_TOL] = n_digits
    return digits


def describe_impossible(strata: Strata, observations: CountObservations) -> str:
    """Return a message naming the bags whose proportion is impossible; "" if there is none."""
    bags = np.flatnonzero(observations.is_impossible)
    given = strata.proportions * strata.sizes
    return describe_rounded(strata, bags, given, "positive rows; both counts next to it are used")


def describe_rounded(strata: Strata, bags: NDArray[np.intp], given: FloatArray, what: str) -> str:
    """Return a message naming bags whose counts `given` are not whole; "" if there is none."""
    if not len(bags):
        return ""
    names, sizes = strata.ids.tolist(), strata.sizes
    shown = ", ".join(f"{names[k]!r} ({given[k]:.4g} of {sizes[k]})" for k in bags[:SHOWN_BAGS])
    more = f" and {len(bags) - SHOWN_BAGS} more" if len(bags) > SHOWN_BAGS else ""
    return (
        f"the proportions of {len(bags)} bags are not a whole number of {what}: {shown}{more}. If "
        "the proportions are noisy, give the noise of the counts as count_noise"
    )
