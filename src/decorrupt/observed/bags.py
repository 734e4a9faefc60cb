"""Reading of y, bags, upper and count_noise: bags and what is known about their class counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.observed.count_noise import CountNoise, read_count_noise
from decorrupt.observed.counts import (
    ClassCounts,
    both_counts,
    counts_of_shares,
    no_noise,
    read_ranges,
)
from decorrupt.observed.ids import factorize
from decorrupt.observed.labels import has_class_columns
from decorrupt.observed.observed import Observed
from decorrupt.observed.shares import SHARE_TOL, class_columns, inseparable_classes, is_share_row
from decorrupt.observed.weights import check_whole, read_weights

BAG_CLASSES = (0, 1)  # the classes if y is the share of positives


def read_bags(
    y: ArrayLike,
    bags: Any,
    *,
    upper: ArrayLike | None = None,
    count_noise: Any = None,
    sample_weight: Any = None,
) -> Observed:
    """Return the bags and what is known about their class counts, from one entry of y per row.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        The share of positives in each row's bag, or the share of every class: exact, rounded,
        noisy, or the lower end of its range. All rows of a bag have the same values.
    bags : array-like of shape (n_rows,)
        The bag of each row.
    upper : array-like of the shape of y, optional
        The upper end of the range.
    count_noise
        See :func:`read_count_noise`.
    sample_weight : array-like of shape (n_rows,), optional
        How many rows each row represents, at least 1; whole numbers with ranges or noise.

    Raises
    ------
    ValueError
        If y, bags, upper, count_noise or sample_weight is invalid.
    """
    if upper is not None and np.shape(upper) != np.shape(y):
        raise ValueError(
            f"y has shape {np.shape(y)} and upper {np.shape(upper)}: give one upper end for every "
            "lower end"
        )
    if upper is not None:
        _check_same_columns(y, upper)
    ids, row_bag = factorize(bags, "bags")
    kind = "range" if upper is not None else "noisy" if count_noise is not None else "exact"
    shares = shares_by_bag(ids, row_bag, y, kind)
    weights = read_weights(sample_weight, len(row_bag))
    if kind != "exact":
        check_whole(weights)
    table = Observed(bag_classes(y), ids, row_bag, class_columns(shares), weights=weights)
    highest = None if upper is None else shares_by_bag(ids, row_bag, upper, "range", "upper")
    return observe_counts(table, highest, count_noise)


def bag_classes(y: ArrayLike) -> NDArray[Any]:
    """Return the names of y's columns, or their numbers; 0 and 1 for one share per row."""
    if not has_class_columns(y):
        return np.array(BAG_CLASSES)
    return np.asarray(getattr(y, "columns", range(np.asarray(y).shape[1])))


def _check_same_columns(y: Any, upper: Any) -> None:
    """Raise ValueError if y and upper have different columns."""
    names, upper_names = (list(getattr(ends, "columns", [])) for ends in (y, upper))
    if names and upper_names and names != upper_names:
        raise ValueError(f"upper has the columns {upper_names}, and y has {names}")


def shares_by_bag(
    ids: NDArray[Any], row_bag: NDArray[np.intp], y: ArrayLike, kind: str, name: str = "y"
) -> FloatArray:
    """Return the shares of each bag, one or one per class, from those of its rows.

    Parameters
    ----------
    kind : {"exact", "noisy", "range"}
        Exact shares are in [0, 1] and sum to 1 (within 1e-6). Ends of ranges need not sum to 1,
        noisy shares can be any numbers.
    name : str
        The argument y of the caller, for messages.

    Raises
    ------
    ValueError
        If the shares are invalid or differ within a bag; the message names the bag.
    """
    targets = np.asarray(y, dtype=float)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if len(targets) != len(row_bag) or targets.ndim > 2:
        raise ValueError(
            f"{name} and bags must both have one entry per row: {name} has shape {targets.shape} "
            f"and bags {row_bag.shape}"
        )
    for row in np.flatnonzero(~_is_valid(targets, kind))[:1]:
        _refuse_row(name, row, targets[row], _name(ids[row_bag[row]]), kind)
    lowest = np.full((len(ids), *targets.shape[1:]), np.inf)
    highest = np.full(lowest.shape, -np.inf)
    np.minimum.at(lowest, row_bag, targets)
    np.maximum.at(highest, row_bag, targets)
    for bag, *column in np.argwhere(highest - lowest > SHARE_TOL)[:1]:
        place = (bag, *column)
        where = f"column {column[0]}: " if column else ""
        raise ValueError(
            f"{name} differs within bag {_name(ids[bag])} ({where}from {lowest[place]:g} to "
            f"{highest[place]:g}): all rows of a bag must have the same proportion"
        )
    if kind == "exact" and lowest.ndim == 2:
        lowest /= lowest.sum(axis=1, keepdims=True)
    return lowest


def _is_valid(targets: FloatArray, kind: str) -> NDArray[np.bool_]:
    """Return whether the shares of each row are of their kind; never with NaN."""
    by_class = targets[:, None] if targets.ndim == 1 else targets
    if kind == "noisy":
        is_finite = np.isfinite(by_class).all(axis=1)
        if by_class.shape[1] == 2:  # one noisy share and its complement
            is_finite &= np.abs(by_class.sum(axis=1) - 1) <= SHARE_TOL
        return np.asarray(is_finite)
    if kind == "exact" and targets.ndim == 2:
        return is_share_row(targets)
    return np.asarray(((by_class >= 0) & (by_class <= 1)).all(axis=1))


def _refuse_row(name: str, row: int, shares: Any, bag: str, kind: str) -> None:
    if np.ndim(shares) == 0:
        raise ValueError(
            f"{name}[{row}] = {shares:g} (bag {bag}) is not a proportion: with bags given, {name} "
            "is the share of positives in each row's bag, a number in [0, 1]"
        )
    total = (
        ""
        if kind == "range"
        else (f" and sum to 1 (within {SHARE_TOL:g}), but sum to {shares.sum():g}")
    )
    raise ValueError(
        f"{name}[{row}] = {shares.tolist()} (bag {bag}) are not the shares of {len(shares)} "
        f"classes: they must lie in [0, 1]{total}"
    )


def _name(bag: Any) -> str:
    return repr(bag.item() if hasattr(bag, "item") else bag)


def observe_counts(table: Observed, upper: FloatArray | None, count_noise: Any) -> Observed:
    """Return the bags with possible proportions and what is known about their class counts.

    Parameters
    ----------
    table : Observed
        Bags whose proportions are as given: exact, noisy, or the lower ends of ranges.
    upper : ndarray of shape (n_bags,) or (n_bags, n_classes), optional
        The upper ends of ranges: of the share of positives, or of every class.
    count_noise
        See :func:`read_count_noise`.
    """
    noise = None if count_noise is None else read_count_noise(table.ids, count_noise)
    if upper is None:
        return table if noise is None else _observe_noisy(table, noise)
    if upper.ndim == 1:
        return _observe_positive_ranges(table, upper, noise or no_noise(table.n_bags))
    if noise is not None:
        raise ValueError("upper and count_noise of several classes cannot be combined: give one")
    return _observe_class_ranges(table, upper)


def with_count_noise(observed: Observed, count_noise: Any) -> Observed:
    """Return the bags with noisy counts, for an estimator that knows their noise.

    Labels have no noise, and what was observed with noise or in ranges stays as it is.
    """
    is_exact = observed.reported is None and observed.given is None
    is_labelled = (observed.proportions.max(axis=1) == 1).all()  # labels are pure bags
    if count_noise is None or not is_exact or is_labelled:
        return observed
    return observe_counts(observed, None, count_noise)


def _observe_noisy(table: Observed, noise: list[CountNoise | None]) -> Observed:
    """Return bags with noisy counts; those without noise must have possible shares."""
    is_noisy = np.array([one is not None for one in noise], dtype=bool)
    for bag in np.flatnonzero(~is_share_row(table.proportions) & ~is_noisy):
        raise ValueError(
            f"the shares of bag {table.ids.tolist()[bag]!r} are "
            f"{table.proportions[bag].tolist()}, and count_noise has None for it: without noise "
            "they must be in [0, 1] and sum to 1"
        )
    reported = table.sizes[:, None] * table.proportions
    known = counts_of_shares(table.proportions, table.sizes)
    counts = _with_noise(known, reported, noise, is_noisy)
    shares = np.maximum(counts_of_sum(counts.lower, table.sizes), 0)
    shares = np.where(is_noisy[:, None], shares, reported)
    return replace(table, proportions=shares / shares.sum(1, keepdims=True), reported=counts)


def _with_noise(
    known: ClassCounts,
    reported: FloatArray,
    noise: list[CountNoise | None],
    is_noisy: NDArray[np.bool_],
) -> ClassCounts:
    low, high = (np.where(is_noisy[:, None], reported, ends) for ends in (known.lower, known.upper))
    return ClassCounts(low, high, noise, known.is_impossible & ~is_noisy)


def counts_of_sum(reported: FloatArray, sizes: NDArray[np.intp]) -> FloatArray:
    """Return the counts that sum to the bag's rows and are closest to the reported ones."""
    excess = reported.sum(axis=1) - sizes
    return np.asarray(reported - excess[:, None] / reported.shape[1])


def _observe_positive_ranges(
    table: Observed, upper: FloatArray, noise: list[CountNoise | None]
) -> Observed:
    """Return bags with a range of the positive class's share; some may have noise instead."""
    names, lower, sizes = list(map(repr, table.ids.tolist())), table.proportions[:, 1], table.sizes
    for name, low, high, own in zip(names, lower, upper, noise, strict=True):
        if high > low and own is not None:
            raise ValueError(
                f"bag {name} has a range from {low:g} to {high:g} and count_noise: give one of them"
            )
    ends = both_counts(*read_ranges(names, sizes, lower, upper), sizes)
    known = ClassCounts(*ends, noise, np.zeros(len(sizes), dtype=bool))
    reported = sizes[:, None] * table.proportions
    shares = class_columns(np.clip((lower + upper) / 2, 0, 1))
    counts = _with_noise(known, reported, noise, known.is_noisy)
    return replace(table, proportions=shares, reported=counts)


def _observe_class_ranges(table: Observed, upper: FloatArray) -> Observed:
    """Return the bags with shares inside the ranges of their classes, and the possible counts.

    The counts of a bag's classes sum to its rows, which narrows their ranges.
    """
    sizes, n_classes = table.sizes, table.n_classes
    names = [f"{bag!r}, class {c!r}" for bag in table.ids.tolist() for c in table.classes.tolist()]
    flat = (np.repeat(sizes, n_classes), table.proportions.ravel(), upper.ravel())
    low, high = (ends.reshape(upper.shape) for ends in read_ranges(names, *flat))
    tight_low = np.maximum(low, sizes[:, None] - (high.sum(axis=1, keepdims=True) - high))
    tight_high = np.minimum(high, sizes[:, None] - (low.sum(axis=1, keepdims=True) - low))
    for bag in np.flatnonzero((tight_low > tight_high).any(axis=1))[:1]:
        raise ValueError(
            f"no counts are possible in bag {table.ids.tolist()[bag]!r}: those of its classes are "
            f"at least {low[bag].astype(int).tolist()} and at most "
            f"{high[bag].astype(int).tolist()}, and must sum to its {sizes[bag]} rows"
        )
    is_impossible = np.zeros(len(sizes), dtype=bool)
    counts = ClassCounts(tight_low, tight_high, no_noise(len(sizes)), is_impossible)
    return replace(table, proportions=_between(tight_low, tight_high, sizes), reported=counts)


def _between(low: FloatArray, high: FloatArray, sizes: NDArray[np.intp]) -> FloatArray:
    """Return shares that sum to 1, at the same place of every class's range."""
    width = high - low
    total = width.sum(axis=1)
    place = (sizes - low.sum(axis=1)) / np.where(total > 0, total, 1)
    return np.asarray((low + place[:, None] * width) / sizes[:, None])


def check_bags(
    sizes: ArrayLike, proportions: ArrayLike, classes: Sequence[Any] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return both as float arrays; raise a ValueError if the classes cannot be learned from them.

    Parameters
    ----------
    sizes : array-like of shape (n_bags,)
        Rows of each bag.
    proportions : array-like of shape (n_bags,) or (n_bags, n_classes)
        The share of positives, or the shares of all classes.
    classes : sequence, optional
        What a message calls the classes; by default their numbers.
    """
    sizes, given = np.asarray(sizes, dtype=float), np.asarray(proportions, dtype=float)
    if sizes.ndim != 1 or given.ndim not in (1, 2) or sizes.shape != given.shape[:1]:
        raise ValueError(
            "sizes and proportions must be lists of the same length, or proportions have one row "
            f"per bag and one column per class: got shapes {sizes.shape} and {given.shape}"
        )
    for bag in np.flatnonzero(~((sizes > 0) & np.isfinite(sizes)))[:1]:
        raise ValueError(f"sizes of bag {bag} is {sizes[bag]:g}: an empty bag has no mean; drop it")
    shares = class_columns(given)
    for bag in np.flatnonzero(~is_share_row(shares))[:1]:
        rule = "use [0, 1]" if given.ndim == 1 else "use [0, 1], and a sum of 1 per bag"
        raise ValueError(f"proportions of bag {bag} is {given[bag].tolist()}: {rule}")
    if len(sizes) < 2:
        raise ValueError(
            "there is only one bag: nothing can be learned from a single proportion, because "
            "every classifier has the same risk estimate; at least two bags are needed"
        )
    if max(np.ptp(share) for share in shares.T) <= ROUNDING:
        first = f"{shares[0, 1]:g}" if shares.shape[1] == 2 else given[0].tolist()
        raise ValueError(
            f"all {len(sizes)} bags have the same proportion {first}: nothing can be learned, "
            "because only differences between bags give information about the classes"
        )
    names = list(range(shares.shape[1])) if classes is None else list(classes)
    for name in (name for name, share in zip(names, shares.T, strict=True) if not share.any()):
        raise ValueError(
            f"class {name!r} has share 0 in every bag: nothing can be learned about it; leave out "
            "its column"
        )
    if len(names) == 2:  # they differ if two bags do, however little
        return sizes, shares
    together = inseparable_classes(np.sqrt(sizes)[:, None] * shares)
    if together:
        few = f" (there are only {len(sizes)} bags)" if len(sizes) < len(names) else ""
        raise ValueError(
            f"the classes {', '.join(repr(names[c]) for c in together)} cannot be distinguished: "
            f"their shares in the bags are linearly dependent{few}. Merge these classes or add "
            f"bags with other shares; {len(names)} classes need at least {len(names)} bags"
        )
    return sizes, shares


ROUNDING = 1e-12  # proportions closer than this differ in the last digits only
