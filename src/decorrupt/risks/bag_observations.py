"""Reading of y, bags, upper and count_noise: the bags, and what is observed about their counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, strata_from_bags, two_classes
from decorrupt.corruption.class_shares import is_share_row
from decorrupt.corruption.strata import class_range_ends
from decorrupt.risks.count_noise import read_count_noise
from decorrupt.risks.observations import CountObservations, observe_counts, read_ranges


def observe_bags(
    y: ArrayLike, bags: Any, *, upper: ArrayLike | None = None, count_noise: Any = None
) -> tuple[Strata, CountObservations | None]:
    """Return the bags and what is observed about their counts, from one entry of y per row.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        The proportion of each row's bag, the lower end of its range, or its noisy proportion; or
        the shares of several classes, or the lower ends of their ranges.
    bags : array-like of shape (n_rows,)
        The bag of each row.
    upper : array-like of shape (n_rows,) or (n_rows, n_classes)
        The upper end of the range of each row's bag; one per class if y has a column per class.
    count_noise
        See :func:`read_count_noise`.

    Returns
    -------
    strata : Strata
        The bags with proportions between 0 and 1: the middle of a range, noisy ones clipped.
    observations : CountObservations or None
        None for known counts of several classes.

    Raises
    ------
    ValueError
        If y, bags, upper or count_noise is invalid.
    """
    if upper is not None and np.shape(upper) != np.shape(y):
        raise ValueError(
            f"y has shape {np.shape(y)} and upper {np.shape(upper)}: give one upper end for every "
            "lower end"
        )
    if upper is not None and np.ndim(y) == 2:
        classes = _check_same_columns(y, upper)
        ends = class_range_ends(bags, y, "y"), class_range_ends(bags, upper, "upper").proportions
        return observe_strata(*ends, count_noise, classes)
    strata = two_classes(strata_from_bags(bags, y, is_noisy=count_noise is not None))
    highest = None if upper is None else strata_from_bags(bags, upper, name="upper").proportions
    return observe_strata(strata, highest, count_noise)


def _check_same_columns(y: Any, upper: Any) -> Sequence[Any]:
    """Return the classes; raise ValueError if y and upper have different ones."""
    names, upper_names = (list(getattr(ends, "columns", [])) for ends in (y, upper))
    if names and upper_names and names != upper_names:
        raise ValueError(f"upper has the columns {upper_names}, and y has {names}")
    return names


def observe_strata(
    strata: Strata, upper: FloatArray | None, count_noise: Any, classes: Sequence[Any] = ()
) -> tuple[Strata, CountObservations | None]:
    """Return what :func:`observe_bags` returns, from the proportions and upper ends of the bags.

    `classes` are the names of the columns, for messages.
    """
    if upper is not None and upper.ndim == 2:
        if count_noise is not None:
            raise ValueError(
                "upper and count_noise of several classes cannot be combined: give one"
            )
        return observe_class_ranges(strata, upper, classes)
    if strata.n_classes is not None:
        return (strata, None) if count_noise is None else observe_noisy_classes(strata, count_noise)
    observed = observe_counts(strata, upper=upper, count_noise=count_noise)
    shares = strata.proportions if upper is None else (strata.proportions + upper) / 2
    return replace(strata, proportions=np.clip(shares, 0, 1)), observed


def observe_class_ranges(
    strata: Strata, upper: FloatArray, classes: Sequence[Any]
) -> tuple[Strata, CountObservations]:
    """Return the bags with shares inside the ranges of their classes, and the possible counts.

    Of two classes those of the second are returned. The counts of a bag sum to its n rows, so that
    those of class c are also between n minus the largest and n minus the smallest counts of the
    other classes.

    Parameters
    ----------
    strata : Strata
        The bags and the lower ends, shape (n_bags, n_classes).
    upper : ndarray of shape (n_bags, n_classes)
        The upper ends.
    classes : sequence
        The classes, for messages.

    Raises
    ------
    ValueError
        If a lower end is above the upper end, or no counts are possible in a bag.
    """
    sizes, (n_bags, n_classes) = strata.sizes, upper.shape
    named = list(classes) or range(n_classes)
    names = [f"{bag!r}, class {c!r}" for bag in strata.ids.tolist() for c in named]
    flat = (np.repeat(sizes, n_classes), strata.proportions.ravel(), upper.ravel())
    low, high = (ends.reshape(upper.shape) for ends in read_ranges(names, *flat))
    tight_low = np.maximum(low, sizes[:, None] - (high.sum(axis=1, keepdims=True) - high))
    tight_high = np.minimum(high, sizes[:, None] - (low.sum(axis=1, keepdims=True) - low))
    for bag in np.flatnonzero((tight_low > tight_high).any(axis=1))[:1]:
        raise ValueError(
            f"no counts are possible in bag {strata.ids.tolist()[bag]!r}: those of its classes are "
            f"at least {low[bag].astype(int).tolist()} and at most "
            f"{high[bag].astype(int).tolist()}, and must sum to its {sizes[bag]} rows"
        )
    shares = replace(strata, proportions=_between(tight_low, tight_high, sizes))
    if n_classes == 2:
        tight_low, tight_high = tight_low[:, 1], tight_high[:, 1]
    is_impossible = np.zeros(n_bags, dtype=bool)
    observed = CountObservations(tight_low, tight_high, [None] * n_bags, is_impossible)
    return two_classes(shares), observed


def _between(low: FloatArray, high: FloatArray, sizes: NDArray[np.intp]) -> FloatArray:
    """Return shares that sum to 1, at the same place of every class's range."""
    width = high - low
    total = width.sum(axis=1)
    place = (sizes - low.sum(axis=1)) / np.where(total > 0, total, 1)
    return np.asarray((low + place[:, None] * width) / sizes[:, None])


def observe_noisy_classes(strata: Strata, count_noise: Any) -> tuple[Strata, CountObservations]:
    """Return the bags with shares that sum to 1, and their noisy counts of several classes."""
    observed = observe_class_counts(strata, count_noise)
    for bag in np.flatnonzero(~is_share_row(strata.proportions) & ~observed.is_noisy):
        raise ValueError(
            f"the shares of bag {strata.ids.tolist()[bag]!r} are "
            f"{strata.proportions[bag].tolist()}, and count_noise has None for it: without noise "
            "they must be in [0, 1] and sum to 1"
        )
    shares = np.maximum(counts_of_sum(observed.lower, strata.sizes), 0)
    return replace(strata, proportions=shares / shares.sum(1, keepdims=True)), observed


def observe_class_counts(strata: Strata, count_noise: Any = None) -> CountObservations:
    """Return the reported counts n·Γ of several classes, and their noise."""
    reported = strata.sizes[:, None] * strata.proportions
    noise = read_count_noise(strata.ids, count_noise)
    return CountObservations(reported, reported, noise, np.zeros(len(noise), dtype=bool))


def counts_of_sum(reported: FloatArray, sizes: NDArray[np.intp]) -> FloatArray:
    """Return the counts that sum to the bag's rows and are closest to the reported ones."""
    excess = reported.sum(axis=1) - sizes
    return np.asarray(reported - excess[:, None] / reported.shape[1])
