"""Noise rates from noisy labels and features, estimated jointly over sources."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.exceptions import UninformativeRatesWarning, warn
from decorrupt.losses import only_two_classes
from decorrupt.noise_rates.result import (
    NoiseRateEstimate,
    bootstrap_ends,
    check_level,
    informative,
    warn_if_uninformative,
)
from decorrupt.noise_rates.roc_slope import fit_roc, roc_slope_flips
from decorrupt.noise_rates.scores import count_labels, out_of_fold, split_rows
from decorrupt.observed import Observed, Sources, matrix_of_rates, read_labels, read_sources
from decorrupt.progress import track

MIN_ROWS = 10  # per label and source
MIN_AUC_Z = 3.0  # standard errors by which the score's AUC must exceed ½
# The rows with the highest, and with the lowest scores: fewer are purer but vary more.
TAIL_SHARE = 0.1
LEFT_OUT = (
    "Overlapping classes look like noise: noisy labels show only how large a rate can be, and the "
    "estimate can be far off. Audited rows show the rate itself."
)


def estimate_noise_rates(
    X: Any,
    y: ArrayLike,
    *,
    sources: Any = None,
    estimator: Any = None,
    cv: Any = 5,
    n_bootstrap: int = 200,
    level: float = 0.9,
    random_state: Any = None,
) -> NoiseRateEstimate:
    """Estimate the noise rates of every source from noisy labels and features alone.

    ρ₋ = inf P(Ỹ=1|x) and ρ₊ = 1 − sup P(Ỹ=1|x), with upper bounds.

    P(Ỹ=1|x) = ρ₋ + (1−ρ₊−ρ₋)·P(Y=1|x), so where the true class is certain, the share of wrong
    labels is the noise rate. These rates are given by the slopes of the ROC curve at its two ends.
    The rows are ranked by one out-of-fold score,
    trained on all sources' labels; P(Y=1|score) is the same function for all sources. The ROC
    curves of all sources are fitted with one smooth, increasing log-odds function, which is
    extrapolated to both ends (after Scott 2015, Sanderson & Scott 2014).

    This assumes *irreducibility*: some rows are certainly positive and some are certainly
    negative. Otherwise the labels do not distinguish class overlap from noise, and the estimated
    rates can be far off. It also assumes that noise depends on the class only, and that all sources
    have the same clean distribution. The bounds do not need irreducibility: a rate is between 0 and
    the share of other labels among the tenth of the rows with the highest (lowest) scores.

    There are two classes; for several, :func:`estimate_noise_rates_from_audit` and
    :func:`estimate_noise_rates_from_annotators` estimate matrices.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The rows.
    y : array-like of shape (n_rows,)
        Noisy labels; of two values the larger is the positive class.
    sources : array-like of shape (n_rows,), optional
        The source of each row; any hashable ids. None: one source, named "all rows".
    estimator : classifier, optional
        The model of the score. None: the better of logistic regression and gradient boosting.
    cv : int or splitter, default=5
        Folds; a splitter must hold out every row exactly once.
    n_bootstrap : int, default=200
        Number of resamples of the scored rows, which show whether the rates of a source may sum
        to 1. They contain the variation of the labels given the score, but not the error from
        overlapping classes, so that they give no interval.
    level : float in (0, 1), default=0.9
        Confidence level of each upper bound.
    random_state : int, RandomState or None
        Used for folds, boosting, ties and resamples.

    Returns
    -------
    NoiseRateEstimate
        `.rates` can be given to :class:`decorrupt.CorruptedSourcesClassifier` as `noise_rates`.

    Raises
    ------
    ValueError
        If y does not have two classes, a source has too few rows of one label, lengths differ, or a
        parameter is invalid.

    Warns
    -----
    UninformativeRatesWarning
        If the features do not predict the labels, or the rates of a source may sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.corruption import corrupt_labels
    >>> from decorrupt.noise_rates import estimate_noise_rates
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 4000)                  # not observed
    >>> X = rng.normal(size=(4000, 2)) + 2 * labels[:, None]
    >>> noisy = corrupt_labels(labels, (0.1, 0.3), random_state=0)
    >>> found = estimate_noise_rates(X, noisy, n_bootstrap=20, random_state=0)
    >>> [round(rate, 1) for rate in found.rates["all rows"]]
    [0.1, 0.3]
    """
    check_level(level)
    if n_bootstrap < 0:
        raise ValueError(f"n_bootstrap={n_bootstrap!r} must be at least 0")
    check_consistent_length(X, y)
    classes, codes = read_labels(y)
    only_two_classes(len(classes), "estimate_noise_rates", "use an audit or annotators")
    rng = check_random_state(random_state)
    seed = int(rng.randint(2**31 - 1))
    noisy = read_sources(codes, classes, sources, np.eye(2))  # rates unknown
    ids, names = noisy.ids.tolist(), classes.tolist()
    _check_enough(noisy, names, cv)
    splits = split_rows(X, noisy.row_source * 2 + codes, cv, seed)
    scores, auc = out_of_fold(X, noisy, estimator, splits, seed)
    counts = count_labels(scores, noisy, rng)
    start = fit_roc(counts)  # warm: a resample then needs a tenth of the steps
    flips = roc_slope_flips(counts, start)
    draws = [
        matrix_of_rates(*roc_slope_flips(resample(counts, rng), start).T)
        for _ in track(range(n_bootstrap), "resampling rows for the noise rates", n_bootstrap)
    ]
    matrices = matrix_of_rates(*flips.T)
    resampled = bootstrap_ends(matrices, np.array(draws), level)
    _warn_of_score(auc, noisy)
    warn_if_uninformative(ids, matrices, resampled, names, "source")
    matrices = informative(matrices)
    estimated = Observed.of_sources(classes, replace(noisy, matrices=matrices))
    ends, prior = tail_bounds(counts, flips, level), estimated.class_prior
    return NoiseRateEstimate(
        ids, matrices, ends, level, prior, "roc_slope", names, left_out=LEFT_OUT
    )


def _check_enough(noisy: Sources, names: list[Any], cv: Any) -> None:
    least = max(MIN_ROWS, cv) if isinstance(cv, int) else MIN_ROWS
    sizes = np.zeros((len(noisy.ids), len(names)), dtype=int)
    np.add.at(sizes, (noisy.row_source, noisy.noisy_class), 1)
    for source, by_label in zip(noisy.ids.tolist(), sizes, strict=True):
        for label, size in zip(names, by_label, strict=True):
            if size == 0:
                raise ValueError(
                    f"source {source!r} has no row labelled {label!r}: its rates can only be "
                    "estimated from rows of all labels"
                )
            if size < least:
                raise ValueError(
                    f"source {source!r} has only {size} rows labelled {label!r}: at least {least} "
                    "are needed, and hundreds for a useful estimate"
                )


def _warn_of_score(auc: float, noisy: Sources) -> None:
    n_neg, n_pos = np.bincount(noisy.noisy_class)
    # Standard deviation of the AUC (Mann–Whitney statistic) of a random score.
    std_error = np.sqrt((n_neg + n_pos + 1) / (12.0 * n_pos * n_neg))
    if auc < 0.5 + MIN_AUC_Z * std_error:
        warn(
            f"the score predicts the noisy labels no better than chance (AUC {auc:.3f}): the "
            "estimated rates are meaningless. Give an estimator that can learn these labels, or "
            "more rows",
            UninformativeRatesWarning,
        )


def resample(counts: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Return counts of the rows of each source resampled with replacement."""
    drawn = np.empty_like(counts)
    for i in range(counts.shape[1]):
        cells = counts[:, i]
        size = cells.sum()
        drawn[:, i] = rng.multinomial(round(size), cells.ravel() / size).reshape(cells.shape)
    return drawn


def tail_bounds(counts: FloatArray, flips: FloatArray, level: float) -> FloatArray:
    """Return 0 ≤ ρ₊ ≤ P(Ỹ=0 | S₊) and 0 ≤ ρ₋ ≤ P(Ỹ=1 | S₋), S± the tails of the score.

    P(Ỹ=0|x) = ρ₊ + (1−ρ₊−ρ₋)·P(Y=0|x) is at least ρ₊ in any set of rows. The share of negative
    labels among the rows with the highest scores therefore bounds flip_pos, and its upper limit of
    Clopper & Pearson does so with at least the probability `level`, without irreducibility. There
    is no such lower bound: overlap of the classes looks like noise.

    Parameters
    ----------
    counts : ndarray of shape (n_bins, n_sources, 2)
        Rows per bin of the score in ascending order, source and noisy label (−, +).
    flips : ndarray of shape (n_sources, 2)
        The estimates, which are not above their bounds.
    level : float
        Confidence level of each bound.

    Returns
    -------
    ndarray of shape (n_sources, 2, 2, 2)
        The lower and upper end of every entry of the matrices.
    """
    n_tail = max(int(TAIL_SHARE * len(counts)), 1)
    top, bottom = counts[-n_tail:].sum(axis=0), counts[:n_tail].sum(axis=0)
    wrong = np.column_stack([top[:, 0], bottom[:, 1]])
    right = np.column_stack([top[:, 1], bottom[:, 0]])
    # Without a right label in the tail the limit is 1.
    limit = np.where(right > 0, beta.ppf(level, wrong + 1, np.maximum(right, 1)), 1.0)
    highest = matrix_of_rates(*np.maximum(limit, flips).T)
    lowest = np.broadcast_to(np.eye(2), highest.shape)
    return np.stack([np.minimum(lowest, highest), np.maximum(lowest, highest)], axis=-1)
