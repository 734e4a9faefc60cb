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
from dataclasses import dataclass, field
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

    Parameters
    ----------
    lower, upper : ndarray of shape (n_bags, n_classes)
        The smallest and the largest possible count; for a noisy bag both are the reported count,
        which need not be whole or between 0 and n.
    noise : sequence of CountNoise or None, optional
        The noise of each bag. Of two classes it is that of one count, the other is its complement;
        several classes have independent noise.
    is_impossible : ndarray of bool, shape (n_bags,), optional
        Whether the proportions are not possible with the bag's number of rows, see the module.

    Attributes
    ----------
    is_noisy, is_exact : ndarray of bool, shape (n_bags,)
        Whether the bag's counts have noise; whether only one count of every class is possible.
    noise_variance : ndarray of shape (n_bags,)
        The variance of each bag's noise, 0 without noise.
    """

    lower: FloatArray
    upper: FloatArray
    noise: Sequence[CountNoise | None] = ()
    is_impossible: NDArray[np.bool_] | bool = False
    is_noisy: NDArray[np.bool_] = field(init=False)
    is_exact: NDArray[np.bool_] = field(init=False)
    noise_variance: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        n_bags = len(self.lower)
        is_noisy, variance = np.zeros(n_bags, dtype=bool), np.zeros(n_bags)
        for bag, law in enumerate(self.noise):
            if law is not None:
                is_noisy[bag], variance[bag] = True, law.variance
        vars(self).update(
            noise=self.noise or [None] * n_bags,
            is_impossible=np.broadcast_to(self.is_impossible, n_bags),
            is_noisy=is_noisy,
            is_exact=(self.lower == self.upper).all(axis=1) & ~is_noisy,
            noise_variance=variance,
        )

    @classmethod
    def of_shares(cls, shares: FloatArray, sizes: NDArray[np.intp]) -> ClassCounts:
        """Return the counts of bags whose class shares are exact or rounded, see the module."""
        if shares.shape[1] == 2:
            return cls.of_positives(sizes, *read_rounded(shares[:, 1], sizes))
        counts = whole_counts(shares, sizes).astype(float)
        shift = np.abs(shares - counts / np.maximum(sizes, 1)[:, None])
        is_impossible = (shift.max(axis=1) > PRINTED_TOL) & (sizes > 0)
        return cls(counts, counts, is_impossible=is_impossible)

    @classmethod
    def of_positives(
        cls,
        sizes: NDArray[np.intp],
        low: FloatArray,
        high: FloatArray,
        is_impossible: NDArray[np.bool_] | bool = False,
    ) -> ClassCounts:
        """Return the counts of two classes from the ends of the positive one's."""
        lower, upper = np.column_stack([sizes - high, low]), np.column_stack([sizes - low, high])
        return cls(lower, upper, is_impossible=is_impossible)

    def with_noise(self, reported: FloatArray, noise: Sequence[CountNoise | None]) -> ClassCounts:
        """Return the reported counts where there is noise, and otherwise these counts."""
        is_noisy = np.array([law is not None for law in noise], dtype=bool)
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
        return ClassCounts(low, high, noise, np.asarray(self.is_impossible)[bags])

    def with_unknown(self, sizes: NDArray[Any]) -> ClassCounts:
        """Return these bags, and then others of which only the number of rows is known."""
        none = np.zeros((len(sizes), self.lower.shape[1]))
        return ClassCounts(
            np.vstack([self.lower, none]),
            np.vstack([self.upper, none + sizes[:, None]]),
            [*self.noise, *[None] * len(sizes)],
            np.append(self.is_impossible, np.zeros(len(sizes), dtype=bool)),
        )


def read_counts(
    table: Observed, upper: FloatArray | None, count_noise: Any
) -> tuple[FloatArray, ClassCounts]:
    """Return possible proportions and the counts of bags with ranges or noise.

    The proportions of `table` are noisy, or the lower ends; see :meth:`Observed.with_counts`.
    """
    if upper is not None and upper.ndim == 2:
        if count_noise is not None:
            raise ValueError(
                "upper and count_noise of several classes cannot be combined: give one"
            )
        return _read_class_ranges(table, upper)
    noise = read_count_noise(table.ids, count_noise)
    ids, sizes, shares = table.ids.tolist(), table.sizes, table.proportions
    reported = sizes[:, None] * shares
    if upper is None:
        counts = ClassCounts.of_shares(shares, sizes).with_noise(reported, noise)
        for bag in np.flatnonzero(~is_share_row(shares) & ~counts.is_noisy)[:1]:
            raise ValueError(
                f"the shares of bag {ids[bag]!r} are {shares[bag].tolist()}, and count_noise has "
                "None for it: without noise they must be in [0, 1] and sum to 1"
            )
        possible = np.maximum(counts_of_sum(counts.lower, sizes), 0)
        possible = np.where(counts.is_noisy[:, None], possible, reported)
        return possible / possible.sum(1, keepdims=True), counts
    lower = shares[:, 1]
    for bag in np.flatnonzero((upper > lower) & [law is not None for law in noise])[:1]:
        raise ValueError(
            f"bag {ids[bag]!r} has a range from {lower[bag]:g} to {upper[bag]:g} and count_noise: "
            "give one of them"
        )
    ranges = read_ranges(list(map(repr, ids)), sizes, lower, upper)
    counts = ClassCounts.of_positives(sizes, *ranges).with_noise(reported, noise)
    return class_columns(np.clip((lower + upper) / 2, 0, 1)), counts


def counts_of_sum(reported: FloatArray, sizes: NDArray[np.intp]) -> FloatArray:
    """Return the counts that sum to the bag's rows and are closest to the reported ones."""
    excess = reported.sum(axis=1) - sizes
    return np.asarray(reported - excess[:, None] / reported.shape[1])


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
    return np.asarray(shares), ClassCounts(tight_low, tight_high)


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
    tol = np.minimum(WHOLE_PER_ROW * sizes, MAX_WHOLE_TOL)
    low, high = np.ceil(lower * sizes - tol), np.floor(upper * sizes + tol)
    points = np.flatnonzero(upper == lower)
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
    tol = np.minimum(WHOLE_PER_ROW * sizes, MAX_WHOLE_TOL)
    rest = np.flatnonzero(np.abs(shares * sizes - low) > tol)
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
    low[rest] = np.floor(shares[rest] * sizes[rest])
    high[rest] = np.ceil(shares[rest] * sizes[rest])
    return low, high, is_impossible


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
