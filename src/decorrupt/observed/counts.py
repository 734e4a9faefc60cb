"""What is known about the class counts of each bag: counts, ranges of counts, noisy counts.

The proportion p of a class in a bag of n rows is read as follows.

1. If n·p is a whole number, that is the count.
2. Otherwise p was rounded. All such proportions of a table have the same number of digits, the
   most that any of them needs; the counts k with k/n within half a unit of p's last digit are
   possible. A bag with no such count is read with the digits of its own p.
3. If there is still no possible count, p does not belong to n rows: the counts on both sides of n·p
   are possible, and :func:`describe_impossible` names the bag.

The counts of two classes are one number, read in this way. Of several classes the nearest whole
counts that sum to n are taken; a bag is impossible if they change a share that is printed with two
digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.observed.count_noise import CountNoise, noise_variances

# Proportions that went through float32 differ by this much.
FLOAT_TOL = 1e-7
# n·p of a proportion computed as count/n, per row: also float32.
WHOLE_PER_ROW = 1e-6
LARGEST_WHOLE_TOL = 0.25
# Of a whole number that was divided by the rows of a bag and multiplied by those of its part.
ROUNDING = 1e-9
# Rounding error of an n·p that is a whole number in exact arithmetic.
WHOLE = 1e-6
# Half a unit in the last digit of a share printed with two digits: 0.33 of 9 rows is 3.
# The 1e-9 allows for rounding of the difference.
PRINTED_TOL = 0.005 + 1e-9
MOST_DIGITS = 7
SHOWN_BAGS = 5


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """What is known about the class counts: ν_k = 1 for lower ≤ k ≤ upper, or noisy counts.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_bags, n_classes)
        The smallest and the largest possible count; for a noisy bag both are the reported count,
        which need not be whole or between 0 and n.
    noise : sequence of CountNoise or None
        The noise of each bag. Of two classes it is that of one count, the other is its complement;
        several classes have independent noise.
    is_impossible : ndarray of bool, shape (n_bags,)
        Whether the proportions are not possible with the bag's number of rows, see the module.
    """

    lower: FloatArray
    upper: FloatArray
    noise: Sequence[CountNoise | None]
    is_impossible: NDArray[np.bool_]

    @cached_property
    def is_noisy(self) -> NDArray[np.bool_]:
        """Whether the bag's counts have noise."""
        return np.array([one is not None for one in self.noise], dtype=bool)

    @property
    def is_exact(self) -> NDArray[np.bool_]:
        """Whether only one count of every class is possible."""
        return np.asarray((self.lower == self.upper).all(axis=1) & ~self.is_noisy)

    @property
    def has_ranges(self) -> bool:
        """Whether some bag has several possible counts and no noise."""
        return bool((~self.is_exact & ~self.is_noisy).any())

    @cached_property
    def noise_variance(self) -> FloatArray:
        """The variance of each bag's noise, 0 without noise."""
        return noise_variances(self.noise)

    def take(self, bags: NDArray[np.intp], taken: FloatArray | float = 1.0) -> ClassCounts:
        """Return what is known about some bags, or parts of them.

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
        return ClassCounts(low, high, noise, self.is_impossible[bags])


def noise_covariance(variance: FloatArray, n_classes: int) -> FloatArray:
    """Return the covariance of the noise of all class counts but the first, for every bag.

    Independent noise of several classes is known to sum to 0: v·(I − 1/K).
    """
    common = 0.0 if n_classes == 2 else 1 / n_classes
    return np.asarray(variance[:, None, None] * (np.eye(n_classes - 1) - common))


def effect_variance(n_classes: int) -> float:
    """Return the v with which :func:`noise_covariance` has variance 1 of every class count."""
    return 1.0 if n_classes == 2 else n_classes / (n_classes - 1)


def no_noise(n_bags: int) -> list[CountNoise | None]:
    """Return the noise of bags without noise."""
    return [None] * n_bags


def known_counts(counts: FloatArray) -> ClassCounts:
    """Return counts that are known exactly."""
    return ClassCounts(counts, counts, no_noise(len(counts)), np.zeros(len(counts), dtype=bool))


def nothing_known(sizes: NDArray[np.intp], n_classes: int) -> ClassCounts:
    """Return the counts of bags of which only the number of rows is known."""
    upper = np.repeat(sizes[:, None], n_classes, axis=1).astype(float)
    n_bags = len(sizes)
    return ClassCounts(np.zeros_like(upper), upper, no_noise(n_bags), np.zeros(n_bags, dtype=bool))


def counts_of_shares(shares: FloatArray, sizes: NDArray[np.intp]) -> ClassCounts:
    """Return the counts of bags whose class shares are exact or rounded, see the module."""
    if shares.shape[1] == 2:
        low, high, is_impossible = read_rounded(shares[:, 1], sizes)
        lower, upper = both_counts(low, high, sizes)
    else:
        lower = upper = whole_counts(shares, sizes).astype(float)
        shift = np.abs(shares - lower / sizes[:, None])
        is_impossible = shift.max(axis=1) > PRINTED_TOL
    return ClassCounts(lower, upper, no_noise(len(sizes)), is_impossible)


def both_counts(
    low: FloatArray, high: FloatArray, sizes: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of both classes' counts from those of the positive class."""
    return np.column_stack([sizes - high, low]), np.column_stack([sizes - low, high])


def whole_counts(shares: FloatArray, sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return k_b = n_b·Γ_b rounded to whole numbers that sum to n_b, by the largest remainders."""
    given = sizes[:, None] * shares
    counts = np.floor(given + WHOLE)
    missing = sizes - counts.sum(axis=1)
    by_remainder = np.argsort(counts - given, axis=1, kind="stable")
    rank = np.argsort(by_remainder, axis=1)
    return np.asarray(counts + (rank < missing[:, None]), dtype=np.intp)


def read_ranges(
    names: Sequence[str], sizes: NDArray[np.intp], lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest count in every range of shares.

    Parameters
    ----------
    names : sequence of str
        What to call each range's bag in messages.
    sizes : ndarray of int, shape (n_ranges,)
        The rows of its bag.
    lower, upper : ndarray of shape (n_ranges,)
        The ends of the range; equal ends are a proportion, which may be rounded.

    Raises
    ------
    ValueError
        If a range is empty or contains no count.
    """
    for place in np.flatnonzero(~(upper >= lower)).tolist():
        raise ValueError(
            f"the range of bag {names[place]} has its lower end y={lower[place]:g} above its upper "
            f"end upper={upper[place]:g}"
        )
    tol = _whole_tol(sizes)
    low, high = np.ceil(lower * sizes - tol), np.floor(upper * sizes + tol)
    points, *_ = np.nonzero(upper == lower)
    low[points], high[points], _ = read_rounded(lower[points], sizes[points])
    for place in np.flatnonzero(low > high).tolist():
        raise ValueError(
            f"no count is possible in bag {names[place]}: there is no whole number of its "
            f"{sizes[place]} rows between the proportions {lower[place]:g} and {upper[place]:g}"
        )
    return low, high


def read_rounded(
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


def _whole_tol(sizes: NDArray[np.intp]) -> FloatArray:
    return np.asarray(np.minimum(WHOLE_PER_ROW * sizes, LARGEST_WHOLE_TOL))


def _digits(shares: FloatArray) -> NDArray[np.intp]:
    """Return the number of decimal digits with which each share is written, at least 1."""
    digits = np.full(len(shares), MOST_DIGITS)
    for n_digits in range(MOST_DIGITS - 1, 0, -1):
        digits[np.abs(shares - np.round(shares, n_digits)) <= FLOAT_TOL] = n_digits
    return digits


def describe_impossible(observed: Any) -> str:
    """Return a message naming the bags whose proportions are impossible; "" if there is none."""
    bags = np.flatnonzero(observed.counts.is_impossible)
    if not len(bags):
        return ""
    names, sizes = observed.ids.tolist(), observed.sizes
    given = observed.proportions * sizes[:, None]
    # The class whose count is furthest from a whole number; of two the positive one.
    worst = np.abs(given - np.rint(given))[:, ::-1].argmax(axis=1)
    shown = ", ".join(
        f"{names[k]!r} ({given[k, -1 - worst[k]]:.4g} of {sizes[k]})" for k in bags[:SHOWN_BAGS]
    )
    more = f" and {len(bags) - SHOWN_BAGS} more" if len(bags) > SHOWN_BAGS else ""
    return (
        f"the proportions of {len(bags)} bags are not a whole number of rows of a class; the "
        f"nearest counts are used: {shown}{more}. If the proportions are noisy, give the noise of "
        "the counts as count_noise"
    )
