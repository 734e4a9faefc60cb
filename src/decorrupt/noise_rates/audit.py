"""Noise rates from an audit: a sample of rows with checked true labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest, chi2
from sklearn.utils.validation import check_consistent_length, column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.estimators.inputs import NoisySources, read_sources
from decorrupt.noise_rates.class_result import ClassNoiseEstimate, checked_matrices
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
) -> NoiseRateEstimate | ClassNoiseEstimate:
    """Return ρ̂₊ = #{Ỹ=−1, Y=1}/#{Y=1} and ρ̂₋ = #{Ỹ=1, Y=−1}/#{Y=−1}, with exact intervals.

    The intervals are those of Clopper & Pearson (1934): they contain the true rate with probability
    at least `level`, for any number of audited rows. For several classes the result is
    T̂[y, ỹ] = #{Ỹ=ỹ, Y=y}/#{Y=y} with the simultaneous intervals of Goodman (1965): the whole row y
    lies in its intervals with a probability of about `level` or more, not exactly for few rows.

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
    NoiseRateEstimate, or ClassNoiseEstimate for several classes
        Its class prior is the share of positives (of each class) among the audited rows.

    Raises
    ------
    ValueError
        If the labels have only one value, lengths differ, or a source has no audited row of one of
        the true classes.

    Warns
    -----
    UninformativeRatesWarning
        If the rates of a source may sum to 1, or its matrix is singular.

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
    classes = at_least_two_classes(np.concatenate([noisy, true]), "y_noisy and y_true")
    found = read_sources(np.where(noisy == classes[-1], 1, -1), sources, UNKNOWN_RATES)
    counts = _count(found, np.searchsorted(classes, true), np.searchsorted(classes, noisy), classes)
    ids, sizes = found.ids.tolist(), counts.sum(axis=2, keepdims=True)
    prior = counts.sum(axis=(0, 2)) / len(true)
    if len(classes) > 2:
        names = classes.tolist()
        rates = checked_matrices(ids, counts / sizes, names, "source")
        ends = goodman_intervals(counts, level)
        spans = dict(zip(ids, ends, strict=True))
        return ClassNoiseEstimate(rates, spans, level, prior, "audit", names)
    wrong = counts[:, [1, 0], [0, 1]]  # positives labelled negative, negatives labelled positive
    total = sizes[:, ::-1, 0]
    intervals: Intervals = {
        source: {
            name: _clopper_pearson(int(wrong[i, j]), int(total[i, j]), level)
            for j, name in enumerate(FLIPS)
        }
        for i, source in enumerate(ids)
    }
    pairs = checked_rates(ids, wrong / total, intervals, "source")
    return NoiseRateEstimate(pairs, intervals, level, float(prior[1]), "audit")


def _count(
    found: NoisySources, true: NDArray[np.intp], noisy: NDArray[np.intp], classes: NDArray[Any]
) -> FloatArray:
    """Return the audited rows by source, true and noisy class; each true class has some."""
    counts = np.zeros((len(found.ids), len(classes), len(classes)))
    np.add.at(counts, (found.row_source, true, noisy), 1.0)
    for source, label in np.argwhere(counts.sum(axis=2) == 0)[:1]:
        rate = {0: "flip_neg", 1: "flip_pos"}[label] if len(classes) == 2 else "row of the matrix"
        raise ValueError(
            f"source {found.ids.tolist()[source]!r} has no audited row whose true label is "
            f"{classes.tolist()[label]!r}: its {rate} cannot be estimated"
        )
    return counts


def _clopper_pearson(wrong: int, total: int, level: float) -> tuple[float, float]:
    ends = binomtest(wrong, total).proportion_ci(level, "exact")
    return float(ends.low), float(ends.high)


def goodman_intervals(counts: FloatArray, level: float) -> FloatArray:
    """Return the p with |k/n − p| ≤ √(A·p(1−p)/n), A the 1−(1−level)/K quantile of χ²₁.

    Goodman's (1965) simultaneous intervals of the K shares of a multinomial distribution: Wilson's
    intervals at the level that Bonferroni's inequality gives for K shares.

    Parameters
    ----------
    counts : ndarray of shape (..., n_classes)
        k; n is their sum over the last axis.
    level : float
        Probability that all intervals of one row are right.

    Returns
    -------
    ndarray of shape (..., n_classes, 2)
        Lower and upper ends.
    """
    total = counts.sum(axis=-1, keepdims=True)
    quantile = chi2.ppf(1 - (1 - level) / counts.shape[-1], 1)
    centre = quantile + 2 * counts
    reach = np.sqrt(quantile * (quantile + 4 * counts * (total - counts) / total))
    ends = np.stack([centre - reach, centre + reach], axis=-1)
    return np.asarray(np.clip(ends / (2 * (total[..., None] + quantile)), 0.0, 1.0))


def at_least_two_classes(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the classes in sorted order; of two, the larger is the positive class."""
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(f"{name} must contain labels of two classes, found 1: {classes.tolist()}")
    return classes
