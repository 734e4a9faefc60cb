"""From the values of bags to class shares, ranges and noisy counts, with checks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.app.tables import TableError, listed
from decorrupt.app.training.bag_columns import BagColumns
from decorrupt.app.training.bag_values import BagValues
from decorrupt.app.training.guess import SUM_TOL
from decorrupt.app.training.inexact_counts import make_noise
from decorrupt.app.training.table import check_shares
from decorrupt.observed import Observed, class_columns
from decorrupt.risks import count_risk

EXACT = 1e-9


def observe_positives(
    values: BagValues, columns: BagColumns, table: Observed, lower: FloatArray, upper: FloatArray
) -> tuple[Observed, list[str]]:
    """Return bags whose share or number of positives is known, and warnings.

    Parameters
    ----------
    values : BagValues
        The names of the table and its columns.
    columns : BagColumns
        What they are.
    table : Observed
        The bags without their shares.
    lower, upper : ndarray of shape (n_bags, 1)
        The ends of the shares or counts.
    """
    sizes = table.sizes
    if columns.are_counts:
        upper = _limited(lower, upper, table)
    named = (values.table.name, values.names[0])
    if columns.count_noise is None and columns.are_counts:
        _check_counts(*named, table, lower[:, 0])
        _check_counts(*named, table, upper[:, 0])
    elif columns.count_noise is None:
        check_shares(*named, table.ids, lower[:, 0])
    low, high = (ends[:, 0] / (sizes if columns.are_counts else 1) for ends in (lower, upper))
    n_ranges, noise = int(np.sum(low != high)), columns.count_noise
    observed = replace(table, proportions=class_columns(low)).with_counts(
        high if n_ranges else None,
        None if noise is None else make_noise(noise),
    )
    return observed, _inexact_in_words(n_ranges, table.n_bags, noise)


def observe_classes(
    values: BagValues, columns: BagColumns, table: Observed, lower: FloatArray, upper: FloatArray
) -> tuple[Observed, list[str]]:
    """Return bags whose shares or counts of all classes are known, and warnings.

    The parameters are those of :func:`observe_positives`, with one column per class.
    """
    name, noise = values.table.name, columns.count_noise
    if (lower != upper).any():
        if noise is not None:
            raise TableError("--count-noise cannot be combined with counts that are ranges")
        _check_whole(name, table, lower)
        observed = _with_ranges(table, lower, _limited(lower, upper, table))
        return observed, _inexact_in_words(
            int((~observed.counts.is_exact).sum()), table.n_bags, None
        )
    if noise is not None:
        unit = table.sizes[:, None] if columns.are_counts else 1
        observed = _with_noise(replace(table, proportions=lower / unit), noise)
        return observed, _inexact_in_words(0, table.n_bags, noise)
    said: list[str] = []
    if columns.are_counts:
        _check_whole(name, table, lower)
        said = _check_count_sums(name, table, lower)
    else:
        _check_sums(name, table, lower)
    return replace(table, proportions=lower / lower.sum(axis=1, keepdims=True)), said


def _limited(lower: FloatArray, upper: FloatArray, table: Observed) -> FloatArray:
    """Return upper ends of ranges that are at most the rows: fewer than 5 of 3 rows."""
    return np.where(upper > lower, np.minimum(upper, table.sizes[:, None]), upper)


def _with_ranges(table: Observed, lower: FloatArray, upper: FloatArray) -> Observed:
    """Return the bags with ranges of their counts, unless the other counts determine all."""
    sizes = table.sizes[:, None]
    observed = replace(table, proportions=lower / sizes).with_counts(upper / sizes, None)
    count_risk(observed)  # raises an error if too many counts are possible
    return observed


def _with_noise(reported: Observed, count_noise: str) -> Observed:
    if reported.n_classes == 2:
        raise TableError(
            "--count-noise with two classes is the noise of one count: give that of the positive "
            "class with --count-column or --proportion-column"
        )
    return reported.with_counts(None, make_noise(count_noise))


def _inexact_in_words(n_ranges: int, n_bags: int, count_noise: str | None) -> list[str]:
    """Return the warning about bags with ranges or noisy counts, if there are any."""
    if n_ranges:
        return [
            f"{n_ranges} of {n_bags} bags have a range instead of a count: methods use the range; "
            "results that need one proportion, such as the corrected accuracy, its middle"
        ]
    if count_noise is None:
        return []
    return [
        f"the counts have noise ({count_noise}): methods use it; results that need exact "
        "proportions, such as the corrected accuracy, do not"
    ]


def _check_counts(name: str, column: str, table: Observed, counts: FloatArray) -> None:
    is_wrong = (counts < 0) | (counts > table.sizes) | (counts != np.round(counts))
    for bag in np.flatnonzero(is_wrong)[:1]:
        raise TableError(
            f"{name}: column {column!r} contains {counts[bag]:g} for bag {table.ids[bag]!r} of "
            f"{table.sizes[bag]} rows: a count must be a whole number from 0 to the number of rows"
        )


def _check_whole(name: str, table: Observed, counts: FloatArray) -> None:
    for bag, kind in np.argwhere((counts < 0) | (counts != np.round(counts)))[:1]:
        raise TableError(
            f"{name}: the count of class {table.classes.tolist()[kind]!r} is "
            f"{counts[bag, kind]:g} for bag {table.ids[bag]!r}: a count must be a whole number of "
            "at least 0"
        )


def _check_sums(name: str, table: Observed, shares: FloatArray) -> None:
    classes = table.classes.tolist()
    for column, own in zip(classes, shares.T, strict=True):
        check_shares(name, column, table.ids, own)
    sums, tol = shares.sum(axis=1), SUM_TOL * len(classes)
    for bag in np.flatnonzero(np.abs(sums - 1) > tol + EXACT)[:1]:
        raise TableError(
            f"{name}: the shares of bag {table.ids[bag]!r} sum to {sums[bag]:g}: those of all "
            f"classes ({listed(classes)}) must sum to 1 (within {tol:g})"
        )


def _check_count_sums(name: str, table: Observed, counts: FloatArray) -> list[str]:
    """Return a warning if counts do not sum to the numbers of rows."""
    sums = counts.sum(axis=1)
    for bag in np.flatnonzero(sums == 0)[:1]:
        raise TableError(
            f"{name}: all counts of bag {table.ids[bag]!r} are 0: its shares are unknown"
        )
    apart = np.flatnonzero(sums != table.sizes)
    if not len(apart):
        return []
    bag = apart[0]
    return [
        f"in {len(apart)} of {len(sums)} bags the counts do not sum to the number of rows (the "
        f"first is {table.ids[bag]!r}: {sums[bag]:g} and {table.sizes[bag]}): they are used as "
        "shares"
    ]
