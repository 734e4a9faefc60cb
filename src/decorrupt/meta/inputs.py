"""Reading of y, bags and sources into observations of labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, is_missing_id, strata_from_labels
from decorrupt.estimators.class_sources import ClassSources
from decorrupt.estimators.inputs import (
    bag_classes,
    read_class_labels,
    read_noisy_labels,
    read_observations,
)
from decorrupt.meta.observed import ObservedLabels
from decorrupt.risks.bag_observations import observe_bags
from decorrupt.risks.observations import CountObservations, observe_counts


def read_observed(
    y: ArrayLike,
    *,
    bags: Any = None,
    upper: Any = None,
    sources: Any = None,
    noise_rates: Any = None,
    count_noise: Any = None,
) -> ObservedLabels:
    """Return what is observed about the labels of all rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        Proportions of rows in bags, noisy labels of rows of sources. If there are bags and
        sources, labels are 0 and 1, or the rows of an identity matrix.
    bags, sources : array-like of shape (n_rows,), optional
        The bag or the source of each row. If both are given, each row has one of them, or none if
        nothing is known about its label; None or NaN is a missing id.
    upper, count_noise
        See :func:`decorrupt.label_posterior`.
    noise_rates
        By source, for all rows or per row, see :class:`decorrupt.CorruptedSourcesClassifier`.

    Raises
    ------
    ValueError
        If the arguments are invalid, or a row has both a bag and a source.
    """
    if sources is None and noise_rates is None:
        return ObservedLabels(*read_observations(y, bags, upper=upper, count_noise=count_noise))
    if bags is None:
        return _read_sources(y, sources, noise_rates)
    return _read_both(y, bags, upper, sources, noise_rates, count_noise)


def read_labels_as_observed(y: ArrayLike) -> ObservedLabels:
    """Return class labels as bags of one row."""
    classes, codes = read_class_labels(y)
    strata = strata_from_labels(codes, classes, rows_as_bags=True)
    counts = observe_counts(strata) if strata.n_classes is None else None
    return ObservedLabels(classes, strata, counts)


def _read_sources(y: ArrayLike, sources: Any, noise_rates: Any) -> ObservedLabels:
    classes, codes = read_class_labels(y)
    given = _given(codes, classes, sources, noise_rates)
    rows = np.arange(len(codes))
    shares = np.eye(len(classes))[codes]
    if len(classes) > 2:
        return ObservedLabels(classes, Strata(rows, rows, shares), None, given)
    return ObservedLabels(
        classes, Strata(rows, rows, shares[:, 1]), _nothing_known(len(rows)), given
    )


def _nothing_known(n_bags: int) -> CountObservations:
    """Return observations of bags of one row whose label is not known."""
    return CountObservations(
        np.zeros(n_bags), np.ones(n_bags), [None] * n_bags, np.zeros(n_bags, dtype=bool)
    )


def _given(
    codes: NDArray[np.int_], classes: NDArray[Any], sources: Any, noise_rates: Any
) -> FloatArray:
    """Return P(noisy label | Y=c) of every row."""
    noisy = read_noisy_labels(codes, classes, sources, noise_rates)
    if isinstance(noisy, ClassSources):
        return np.asarray(noisy.matrices[noisy.row_matrix, :, noisy.noisy_class])
    flip_pos, flip_neg = noisy.rates.T
    if_neg = np.where(noisy.is_pos, flip_neg, 1 - flip_neg)
    return np.column_stack([if_neg, np.where(noisy.is_pos, 1 - flip_pos, flip_pos)])


def _read_both(
    y: ArrayLike, bags: Any, upper: Any, sources: Any, noise_rates: Any, count_noise: Any
) -> ObservedLabels:
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
    strata, counts = observe_bags(
        targets[in_bags],
        _take(bags, in_bags),
        upper=None if upper is None else np.asarray(upper, dtype=float)[in_bags],
        count_noise=count_noise,
    )
    classes = bag_classes(y)
    part = ObservedLabels(classes, strata, counts)
    codes = _read_codes(targets, from_sources)
    given = np.full((len(targets), len(classes)), np.nan)
    given[~has_bag] = 1.0
    if len(from_sources):
        given[from_sources] = _given(codes, classes, _take(sources, from_sources), noise_rates)
    whole = _extended(part, in_bags, np.flatnonzero(~has_bag), from_sources, codes)
    return replace(whole, given=given)


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
    part: ObservedLabels,
    in_bags: NDArray[np.intp],
    others: NDArray[np.intp],
    from_sources: NDArray[np.intp],
    codes: NDArray[np.intp],
) -> ObservedLabels:
    """Return the observations of all rows: those in bags, and every other row as its own bag."""
    n_rows, n_bags = len(in_bags) + len(others), len(part.strata.ids)
    row_stratum = np.empty(n_rows, dtype=np.intp)
    row_stratum[in_bags] = part.strata.row_stratum
    row_stratum[others] = n_bags + np.arange(len(others))
    ids = np.empty(n_bags + len(others), dtype=object)
    ids[:] = part.strata.ids.tolist() + [("row", int(row)) for row in others]
    several = part.strata.n_classes
    shares = np.full((n_rows, several or 2), 1 / (several or 2))
    shares[from_sources] = np.eye(several or 2)[codes]
    rest = shares[others] if several else shares[others, 1]
    strata = Strata(ids, row_stratum, np.concatenate([part.strata.proportions, rest]))
    if part.counts is None:
        return replace(part, strata=strata)
    # The counts of a row with P(noisy label | Y) are not used.
    known, unknown = part.counts, _nothing_known(len(others))
    low, high = (rest, rest) if several else (unknown.lower, unknown.upper)
    counts = CountObservations(
        np.concatenate([known.lower, low]),
        np.concatenate([known.upper, high]),
        [*known.noise, *unknown.noise],
        np.append(known.is_impossible, unknown.is_impossible),
    )
    return replace(part, strata=strata, counts=counts)
