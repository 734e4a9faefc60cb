"""Noise rates from an audit: a sample of rows with checked true labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest
from sklearn.utils.validation import check_consistent_length, column_or_1d

from decorrupt.estimators.inputs import read_sources
from decorrupt.noise_rates.result import (
    FLIPS,
    UNKNOWN_RATES,
    Intervals,
    NoiseRateEstimate,
    check_level,
    checked_rates,
)


def estimate_noise_rates_from_audit(
    *, y_noisy: ArrayLike, y_true: ArrayLike, sources: Any = None, level: float = 0.9
) -> NoiseRateEstimate:
    """Return ρ̂₊ = #{Ỹ=−1, Y=1}/#{Y=1} and ρ̂₋ = #{Ỹ=1, Y=−1}/#{Y=−1}, with exact intervals.

    The intervals are those of Clopper & Pearson (1934): they contain the true rate with probability
    at least `level`, for any number of audited rows.

    Parameters
    ----------
    y_noisy, y_true : array-like of shape (n_rows,)
        The source's label and the checked label of each audited row. The rows must be drawn at
        random from the source, or at random within each true class, but not selected by their
        noisy label. Keyword-only, because swapped arguments would give plausible wrong rates.
    sources : array-like of shape (n_rows,), optional
        The source of each row; any hashable ids. None: one source, named "all rows".
    level : float in (0, 1), default=0.9
        Confidence level of the intervals.

    Returns
    -------
    NoiseRateEstimate
        Its class prior is the share of positives among the audited rows.

    Raises
    ------
    ValueError
        If the labels do not have two values, lengths differ, or a source has no audited row of one
        of the true classes.

    Warns
    -----
    UninformativeRatesWarning
        If the rates of a source may sum to 1.

    Examples
    --------
    >>> from decorrupt.noise_rates import estimate_noise_rates_from_audit
    >>> found = estimate_noise_rates_from_audit(
    ...     y_noisy=[1] * 9 + [0] * 11, y_true=[1] * 10 + [0] * 10)
    >>> found.rates["all rows"]
    NoiseRates(flip_pos=0.1, flip_neg=0.0)
    >>> [round(end, 3) for end in found.intervals["all rows"]["flip_pos"]]
    [0.005, 0.394]
    """
    check_level(level)
    check_consistent_length(y_noisy, y_true)
    noisy, true = column_or_1d(y_noisy), column_or_1d(y_true)
    negative, positive = two_classes(np.concatenate([noisy, true]), "y_noisy and y_true")
    found = read_sources(np.where(noisy == positive, 1, -1), sources, UNKNOWN_RATES)
    ids, is_wrong = found.ids.tolist(), noisy != true
    flips, intervals = np.empty((len(ids), 2)), Intervals()
    for i, source in enumerate(ids):
        intervals[source] = {}
        for j, (name, label) in enumerate(zip(FLIPS, (positive, negative), strict=True)):
            wrong = is_wrong[(found.row_source == i) & (true == label)]
            if not len(wrong):
                raise ValueError(
                    f"source {source!r} has no audited row whose true label is {label!r}: its "
                    f"{name} cannot be estimated"
                )
            flips[i, j] = wrong.mean()
            ends = binomtest(int(wrong.sum()), len(wrong)).proportion_ci(level, "exact")
            intervals[source][name] = (float(ends.low), float(ends.high))
    rates = checked_rates(ids, flips, intervals, "source")
    prior = float(np.mean(true == positive))
    return NoiseRateEstimate(rates, intervals, level, prior, "audit")


def two_classes(labels: NDArray[Any], name: str) -> tuple[Any, Any]:
    """Return the negative and the positive class, the smaller and the larger value."""
    classes = np.unique(labels).tolist()
    if len(classes) != 2:
        raise ValueError(
            f"{name} must contain labels of two classes, found {len(classes)}: {classes[:5]}"
        )
    return classes[0], classes[1]
