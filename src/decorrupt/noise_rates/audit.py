"""Noise rates from an audit: a sample of rows with checked true labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, chi2
from sklearn.utils.validation import check_consistent_length, column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.noise_rates.result import (
    NoiseRateEstimate,
    check_level,
    informative,
    warn_if_uninformative,
)
from decorrupt.observed import FLIPS, Sources, read_sources


def estimate_noise_rates_from_audit(
    *, y_noisy: ArrayLike, y_true: ArrayLike, sources: Any = None, level: float = 0.9
) -> NoiseRateEstimate:
    """Estimate the noise rates of every source from rows whose labels were checked.

    ρ̂₊ = #{Ỹ=−1, Y=1}/#{Y=1} and ρ̂₋ = #{Ỹ=1, Y=−1}/#{Y=−1}, with exact intervals.

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
    NoiseRateEstimate
        Its class prior is the share of each class among the audited rows.

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
    (0.1, 0.0)
    >>> [round(end, 3) for end in found.intervals["all rows"]["flip_pos"]]
    [0.005, 0.394]
    """
    check_level(level)
    check_consistent_length(y_noisy, y_true)
    noisy, true = column_or_1d(y_noisy), column_or_1d(y_true)
    classes = at_least_two_classes(np.concatenate([noisy, true]), "y_noisy and y_true")
    codes = np.searchsorted(classes, noisy)
    found = read_sources(codes, classes, sources, np.eye(len(classes)))  # rates unknown
    counts = _count(found, np.searchsorted(classes, true), classes.tolist())
    ids, names = found.ids.tolist(), classes.tolist()
    intervals = clopper_pearson_intervals if len(names) == 2 else goodman_intervals
    matrices, ends = counts / counts.sum(axis=2, keepdims=True), intervals(counts, level)
    warn_if_uninformative(ids, matrices, ends, names, "source")
    prior = counts.sum(axis=(0, 2)) / len(true)
    return NoiseRateEstimate(ids, informative(matrices), ends, level, prior, "audit", names)


def _count(found: Sources, true: NDArray[np.intp], classes: list[Any]) -> FloatArray:
    """Return the audited rows by source, true and noisy class; each true class has some."""
    n_classes = len(classes)
    counts = np.zeros((len(found.ids), n_classes, n_classes))
    np.add.at(counts, (found.row_source, true, found.noisy_class), 1.0)
    for source, label in np.argwhere(counts.sum(axis=2) == 0)[:1]:
        rate = FLIPS[1 - label] if n_classes == 2 else "row of the matrix"
        raise ValueError(
            f"source {found.ids.tolist()[source]!r} has no audited row whose true label is "
            f"{classes[label]!r}: its {rate} cannot be estimated"
        )
    return counts


def clopper_pearson_intervals(counts: FloatArray, level: float) -> FloatArray:
    """Return Clopper & Pearson's (1934) exact intervals of the two shares k/n of each row.

    The arguments and the result are those of :func:`goodman_intervals`.
    """
    tail, others = (1 - level) / 2, counts.sum(axis=-1, keepdims=True) - counts
    low = np.where(counts > 0, beta.ppf(tail, np.maximum(counts, 1), others + 1), 0.0)
    high = np.where(others > 0, beta.ppf(1 - tail, counts + 1, np.maximum(others, 1)), 1.0)
    return np.stack([low, high], axis=-1)


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
