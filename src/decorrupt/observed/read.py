"""Reading of the arguments of `fit` into one object."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.observed.bags import bag_classes, check_bags, read_bags
from decorrupt.observed.counts import ClassCounts, no_noise, nothing_known
from decorrupt.observed.ids import is_missing_id
from decorrupt.observed.labels import has_class_columns, labels_as_bags, read_labels
from decorrupt.observed.observed import Observed
from decorrupt.observed.sources import read_sources
from decorrupt.observed.weights import read_weights


def as_observed(y: Any, bags: Any = None, sample_weight: Any = None) -> Observed:
    """Return the bags of y, one entry per row; an :class:`Observed` as it is.

    Raises
    ------
    ValueError
        If an argument is invalid, or y needs bags.
    """
    if isinstance(y, Observed):
        return y
    if bags is None:
        raise ValueError("pass bags=, the bag of each row of y")
    return read_bags(y, bags, sample_weight=sample_weight)


def read_observed(
    y: ArrayLike,
    *,
    bags: Any = None,
    upper: Any = None,
    sources: Any = None,
    noise_rates: Any = None,
    count_noise: Any = None,
    sample_weight: Any = None,
    rows_as_bags: bool = True,
) -> Observed:
    """Return what is known about the labels of all rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        With bags, the proportions of each row's bag. With sources, noisy labels. With both, the
        proportions of rows in bags and the labels of the others, 0 and 1, or 1 in the column of the
        class. Otherwise labels.
    bags, upper, sources, noise_rates
        As in `fit`. With both bags and sources, a row has one of them and None for the other; a
        row with neither is not labelled.
    count_noise
        The noise of the bags' counts.
    sample_weight : array-like of shape (n_rows,), optional
        How many rows each row represents; rows that represent none are left out before, see
        :func:`without_weightless`.
    rows_as_bags : bool
        Whether a labelled row is its own bag; otherwise the rows of a class are one.

    Raises
    ------
    ValueError
        If the arguments are invalid, or the bags do not distinguish the classes.
    """
    if upper is not None and bags is None:
        raise ValueError("upper is the upper end of a bag's proportion: pass bags= as well")
    if bags is None and sources is None and noise_rates is None:
        return labels_as_bags(y, rows_as_bags=rows_as_bags, sample_weight=sample_weight)
    if bags is None:
        classes, codes = read_labels(y)
        noisy = read_sources(codes, classes, sources, noise_rates, sample_weight=sample_weight)
        return noisy.observed()
    check_consistent_length(y, bags)
    if sources is not None or noise_rates is not None:
        weights = read_weights(sample_weight, len(bags))
        return _read_both(y, bags, upper, sources, noise_rates, count_noise, weights)
    y = y if has_class_columns(y) else _read_proportions(y)
    observed = read_bags(y, bags, upper=upper, count_noise=count_noise, sample_weight=sample_weight)
    check_bags(observed.sizes, observed.proportions, observed.classes.tolist())
    return observed


def _read_proportions(y: ArrayLike) -> NDArray[Any]:
    targets = column_or_1d(y, warn=True)
    if targets.dtype.kind not in "fiub":
        raise ValueError(
            f"with bags, y must contain proportions (numbers in [0, 1]), got {targets.dtype}; "
            "decorrupt.bag_targets turns one proportion per bag into one per row"
        )
    return np.asarray(targets)


def _read_both(
    y: ArrayLike,
    bags: Any,
    upper: Any,
    sources: Any,
    noise_rates: Any,
    count_noise: Any,
    weights: NDArray[Any] | None,
) -> Observed:
    if sources is None:
        raise ValueError("noise_rates need sources=: the source of each row that is in no bag")
    check_consistent_length(y, bags, sources, upper)
    has_bag, has_source = ~is_missing_id(bags, "bags"), ~is_missing_id(sources, "sources")
    for row in np.flatnonzero(has_bag & has_source)[:1]:
        raise ValueError(
            f"row {row} has a bag and a source: give one of them per row, and None for the other"
        )
    in_bags, from_sources = np.flatnonzero(has_bag), np.flatnonzero(has_source)
    targets = np.asarray(y, dtype=float)
    if not len(in_bags):
        raise ValueError("bags contain no id: leave them out")
    # The bags need not distinguish the classes: the sources do.
    part = read_bags(
        targets[in_bags],
        _take(bags, in_bags),
        upper=None if upper is None else np.asarray(upper, dtype=float)[in_bags],
        count_noise=count_noise,
        sample_weight=None if weights is None else weights[in_bags],
    )
    classes = bag_classes(y)
    codes = _read_codes(targets, from_sources)
    given = np.ones((len(targets), len(classes)))
    if len(from_sources):
        noisy = read_sources(codes, classes, _take(sources, from_sources), noise_rates)
        given[from_sources] = noisy.given
    shares = np.full((len(targets), len(classes)), 1 / len(classes))
    shares[from_sources] = np.eye(len(classes))[codes]
    return _extended(part, classes, in_bags, np.flatnonzero(~has_bag), shares, given, weights)


def _take(values: Any, rows: NDArray[np.intp]) -> list[Any]:
    """Return the entries of some rows; as a list, so that tuples stay ids."""
    entries = list(values)
    return [entries[row] for row in rows]


def _read_codes(targets: FloatArray, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the class number of the noisy labels, which are 0 and 1 or rows of the identity."""
    labels = targets[rows]
    is_label = np.isin(labels, (0.0, 1.0))
    bad = np.flatnonzero(~(is_label if labels.ndim == 1 else is_label.all(axis=1)))
    for row in rows[bad[:1]]:
        raise ValueError(
            f"y[{row}] = {targets[row].tolist()} of a source is not a label: next to bags, noisy "
            "labels are 0 and 1 (of several classes, 1 in the column of the class)"
        )
    return np.asarray(labels if labels.ndim == 1 else labels.argmax(axis=1), dtype=np.intp)


def _extended(
    part: Observed,
    classes: NDArray[Any],
    in_bags: NDArray[np.intp],
    others: NDArray[np.intp],
    shares: FloatArray,
    given: FloatArray,
    weights: NDArray[Any] | None,
) -> Observed:
    """Return what is known of all rows: those in bags, and every other row as its own bag."""
    n_bags = part.n_bags
    row_bag = np.empty(len(in_bags) + len(others), dtype=np.intp)
    row_bag[in_bags] = part.row_bag
    row_bag[others] = n_bags + np.arange(len(others))
    ids = np.empty(n_bags + len(others), dtype=object)
    ids[:] = part.ids.tolist() + [("row", int(row)) for row in others]
    known = part.counts
    sizes = np.ones(len(others), dtype=np.intp) if weights is None else weights[others]
    unknown = nothing_known(sizes, len(classes))
    counts = ClassCounts(
        np.concatenate([known.lower, unknown.lower]),
        np.concatenate([known.upper, unknown.upper]),
        [*known.noise, *no_noise(len(others))],
        np.append(known.is_impossible, unknown.is_impossible),
    )
    proportions = np.concatenate([part.proportions, shares[others]])
    return Observed(classes, ids, row_bag, proportions, counts, given, weights=weights)
