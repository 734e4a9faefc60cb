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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.observed.count_noise import CountNoise, read_count_noise
from decorrupt.observed.shares import class_columns, is_share_row

if TYPE_CHECKING:
    from decorrupt.observed.observed import Observed

# Proportions that went through float32 differ by this much.
FLOAT_TOL = 1e-7
# n·p of a proportion computed as count/n, per row: also float32.
WHOLE_PER_ROW = 1e-6
MAX_WHOLE_TOL = 0.25
# Of a whole number that was divided by the rows of a bag and multiplied by those of its part.
ROUNDING = 1e-9
# Rounding error of an n·p that is a whole number in exact arithmetic.
WHOLE = 1e-6
# Half a unit in the last digit of a share printed with two digits: 0.33 of 9 rows is 3.
# The 1e-9 allows for rounding of the difference.
PRINTED_TOL = 0.005 + 1e-9
MAX_DIGITS = 7
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

    @classmethod
    def without_noise(
        cls, lower: FloatArray, upper: FloatArray, is_impossible: NDArray[np.bool_] | bool = False
    ) -> ClassCounts:
        """Return counts between these ends."""
        n_bags = len(lower)
        return cls(lower, upper, [None] * n_bags, np.broadcast_to(is_impossible, n_bags))

    @classmethod
    def of_shares(cls, shares: FloatArray, sizes: NDArray[np.intp]) -> ClassCounts:
        """Return the counts of bags whose class shares are exact or rounded, see the module."""
        if shares.shape[1] == 2:
            low, high, is_impossible = read_rounded(shares[:, 1], sizes)
            return cls.without_noise(*both_counts(low, high, sizes), is_impossible)
        counts = whole_counts(shares, sizes).astype(float)
        shift = np.abs(shares - counts / np.maximum(sizes, 1)[:, None])
        is_impossible = (shift.max(axis=1) > PRINTED_TOL) & (sizes > 0)
        return cls.without_noise(counts, counts, is_impossible)

    @classmethod
    def unknown(cls, sizes: NDArray[Any], n_classes: int) -> ClassCounts:
        """Return the counts of bags of which only the number of rows is known."""
        upper = np.repeat(sizes[:, None], n_classes, axis=1).astype(float)
        return cls.without_noise(np.zeros_like(upper), upper)

    @cached_property
    def is_noisy(self) -> NDArray[np.bool_]:
        """Whether the bag's counts have noise."""
        return np.array([noise is not None for noise in self.noise], dtype=bool)

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
        return np.array([0.0 if noise is None else noise.variance for noise in self.noise])

    def with_noise(self, reported: FloatArray, noise: Sequence[CountNoise | None]) -> ClassCounts:
        """Return the reported counts where there is noise, and otherwise these counts."""
        is_noisy = np.array([own is not None for own in noise], dtype=bool)
        low, high = (np.where(is_noisy[:, None], reported, e) for e in (self.lower, self.upper))
        return ClassCounts(low, high, noise, self.is_impossible & ~is_noisy)

    def take(self, bags: NDArray[np.intp], taken: FloatArray | float = 1.0) -> ClassCounts:
        """Return what is known about some bags, or parts of them.

        `taken` is the share of each bag's rows in its part. Ends of ranges are rounded outwards,
        and noise is kept.
        """
        noise = [self.noise[bag] for bag in bags.tolist()]
        low, high = ((ends[bags].T * taken).T for ends in (self.lower, self.upper))
        whole = ~self.is_noisy[bags] & (np.asarray(taken) != 1)
        low[whole] = np.floor(low[whole] + ROUNDING)
        high[whole] = np.ceil(high[whole] - ROUNDING)
        return ClassCounts(low, high, noise, self.is_impossible[bags])

    def followed_by(self, other: ClassCounts) -> ClassCounts:
        """Return the counts of these bags and then of the others."""
        return ClassCounts(
            np.concatenate([self.lower, other.lower]),
            np.concatenate([self.upper, other.upper]),
            [*self.noise, *other.noise],
            np.append(self.is_impossible, other.is_impossible),
        )


def read_counts(
    table: Observed, upper: FloatArray | None, count_noise: Any
) -> tuple[FloatArray, ClassCounts]:
    """Return possible proportions and the counts of bags with ranges or noise.

    The proportions of `table` are noisy, or the lower ends; see :meth:`Observed.with_counts`.
    """
    noise = read_count_noise(table.ids, count_noise)
    if upper is None:
        return _read_noisy(table, noise)
    if upper.ndim == 1:
        return _read_positive_ranges(table, upper, noise)
    if count_noise is not None:
        raise ValueError("upper and count_noise of several classes cannot be combined: give one")
    return _read_class_ranges(table, upper)


def _read_noisy(
    table: Observed, noise: Sequence[CountNoise | None]
) -> tuple[FloatArray, ClassCounts]:
    """Return the closest possible shares; bags without noise must have possible ones."""
    sizes, shares = table.sizes, table.proportions
    reported = sizes[:, None] * shares
    counts = ClassCounts.of_shares(shares, sizes).with_noise(reported, noise)
    for bag in np.flatnonzero(~is_share_row(shares) & ~counts.is_noisy)[:1]:
        raise ValueError(
            f"the shares of bag {table.ids.tolist()[bag]!r} are {shares[bag].tolist()}, and "
            "count_noise has None for it: without noise they must be in [0, 1] and sum to 1"
        )
    possible = np.maximum(counts_of_sum(counts.lower, sizes), 0)
    possible = np.where(counts.is_noisy[:, None], possible, reported)
    return possible / possible.sum(1, keepdims=True), counts


def counts_of_sum(reported: FloatArray, sizes: NDArray[np.intp]) -> FloatArray:
    """Return the counts that sum to the bag's rows and are closest to the reported ones."""
    excess = reported.sum(axis=1) - sizes
    return np.asarray(reported - excess[:, None] / reported.shape[1])


def _read_positive_ranges(
    table: Observed, upper: FloatArray, noise: Sequence[CountNoise | None]
) -> tuple[FloatArray, ClassCounts]:
    """Return bags with a range of the positive class's share; some may have noise instead."""
    names, lower, sizes = list(map(repr, table.ids.tolist())), table.proportions[:, 1], table.sizes
    has_noise = np.array([own is not None for own in noise], dtype=bool)
    for bag in np.flatnonzero((upper > lower) & has_noise)[:1]:
        raise ValueError(
            f"bag {names[bag]} has a range from {lower[bag]:g} to {upper[bag]:g} and count_noise: "
            "give one of them"
        )
    ranges = both_counts(*read_ranges(names, sizes, lower, upper), sizes)
    counts = ClassCounts.without_noise(*ranges)
    shares = class_columns(np.clip((lower + upper) / 2, 0, 1))
    return shares, counts.with_noise(sizes[:, None] * table.proportions, noise)


def _read_class_ranges(table: Observed, upper: FloatArray) -> tuple[FloatArray, ClassCounts]:
    """Return shares at the same place of every class's range, and the possible counts.

    The counts of a bag's classes sum to its rows, which narrows their ranges.
    """
    ids, sizes = table.ids.tolist(), table.sizes
    names = [f"{bag!r}, class {name!r}" for bag in ids for name in table.classes.tolist()]
    flat = (np.repeat(sizes, table.n_classes), table.proportions.ravel(), upper.ravel())
    low, high = (ends.reshape(upper.shape) for ends in read_ranges(names, *flat))
    tight_low = np.maximum(low, sizes[:, None] - (high.sum(axis=1, keepdims=True) - high))
    tight_high = np.minimum(high, sizes[:, None] - (low.sum(axis=1, keepdims=True) - low))
    for bag in np.flatnonzero((tight_low > tight_high).any(axis=1))[:1]:
        raise ValueError(
            f"no counts are possible in bag {ids[bag]!r}: those of its classes are at least "
            f"{low[bag].astype(int).tolist()} and at most {high[bag].astype(int).tolist()}, and "
            f"must sum to its {sizes[bag]} rows"
        )
    width = tight_high - tight_low
    total = width.sum(axis=1)
    place = (sizes - tight_low.sum(axis=1)) / np.where(total > 0, total, 1)
    shares = (tight_low + place[:, None] * width) / sizes[:, None]
    return np.asarray(shares), ClassCounts.without_noise(tight_low, tight_high)


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

    Equal ends are a proportion, which may be rounded. `names` call the bags in messages.
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
    return np.asarray(np.minimum(WHOLE_PER_ROW * sizes, MAX_WHOLE_TOL))


def _digits(shares: FloatArray) -> NDArray[np.intp]:
    """Return the number of decimal digits with which each share is written, at least 1."""
    digits = np.full(len(shares), MAX_DIGITS)
    for n_digits in range(MAX_DIGITS - 1, 0, -1):
        digits[np.abs(shares - np.round(shares, n_digits)) <= FLOAT_TOL] = n_digits
    return digits


def describe_impossible(observed: Observed) -> str:
    """Return a message naming the bags whose proportions are impossible; "" if there is none."""
    counts, names, sizes = observed.counts, observed.ids.tolist(), observed.sizes
    bags = np.flatnonzero(counts.is_impossible & ~observed.is_part)
    if not len(bags):
        return ""
    reported = observed.proportions * sizes[:, None]
    # The class whose count is furthest from a whole number; of two the positive one.
    worst = np.abs(reported - np.rint(reported))[:, ::-1].argmax(axis=1)
    shown = ", ".join(
        f"{names[k]!r} ({reported[k, -1 - worst[k]]:.4g} of {sizes[k]})" for k in bags[:SHOWN_BAGS]
    )
    more = f" and {len(bags) - SHOWN_BAGS} more" if len(bags) > SHOWN_BAGS else ""
    return (
        f"the proportions of {len(bags)} bags are not a whole number of rows of a class; the "
        f"nearest counts are used: {shown}{more}. If the proportions are noisy, give the noise of "
        "the counts as count_noise"
    )
