"""Noise rates from noisy labels and features, estimated jointly over sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.losses import only_two_classes
from decorrupt.noise_rates.anchors import (
    anchor_matrices,
    anchor_rows,
    extreme_flips,
    noisy_label_probabilities,
)
from decorrupt.noise_rates.best_bin import best_bin_flips
from decorrupt.noise_rates.result import (
    NoiseRateEstimate,
    bootstrap_covariance,
    bootstrap_ends,
    check_level,
    flips_of,
    informative,
    rate_notices,
)
from decorrupt.noise_rates.roc_slope import fit_roc, roc_slope_flips
from decorrupt.noise_rates.scores import (
    OutOfFold,
    Split,
    count_labels,
    out_of_fold,
    split_rows,
)
from decorrupt.noise_rates.tail_bound import tail_bounds
from decorrupt.notices import Notice, emit_notices
from decorrupt.observed import NoisySources, matrix_of_rates, read_labels, read_sources
from decorrupt.progress import track

RATE_METHODS = ("roc_slope", "best_bin", "anchor")
MIN_ROWS = 10  # per label and source
MIN_AUC_Z = 3.0  # standard errors by which the score's AUC must exceed ½
DEFAULT_BOOTSTRAPS = 200
MEANINGLESS = (
    "the estimated rates are meaningless. Give an estimator that can learn these labels, or more "
    "rows"
)
LEFT_OUT = (
    "Overlapping classes look like noise: noisy labels show only how large a rate can be, and the "
    "estimate can be far off. Audited rows show the rate itself."
)


def estimate_noise_rates(
    X: Any,
    y: ArrayLike,
    *,
    sources: Any = None,
    method: str = "auto",
    estimator: Any = None,
    cv: Any = 5,
    n_bootstrap: int = DEFAULT_BOOTSTRAPS,
    level: float = 0.9,
    random_state: Any = None,
) -> NoiseRateEstimate:
    """Estimate the noise rates of every source from noisy labels and features alone.

    ρ₋ = inf P(Ỹ=1|x) and ρ₊ = 1 − sup P(Ỹ=1|x), with upper bounds.

    P(Ỹ=1|x) = ρ₋ + (1−ρ₊−ρ₋)·P(Y=1|x), so where the true class is certain, the share of wrong
    labels is the noise rate. These rates are given by the slopes of the ROC curve at its two ends
    (:class:`decorrupt.corruption.SourceMixture`). The rows are ranked by one out-of-fold score,
    trained on all sources' labels; P(Y=1|score) is the same function for all sources.

    This assumes *irreducibility*: some rows are certainly positive and some are certainly
    negative. Otherwise the labels do not distinguish class overlap from noise, and the estimated
    rates can be far off. It also assumes that noise depends on the class only, and that all sources
    have the same clean distribution. The bounds do not need irreducibility: a rate is between 0 and
    the share of other labels among the tenth of the rows with the highest (lowest) scores.

    For several classes T_s[c, ·] is estimated by the labels of *anchors*: those rows of source s
    for which the out-of-fold P(Ỹ=c|x) is highest. This assumes that for every class c some rows
    certainly belong to it, as many as a fifth of the rows labelled c, and that over all sources
    together the label c is more frequent in class c than in any other class. Where classes overlap,
    the anchors are mixed and the noise is overestimated. There are no bounds.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The rows.
    y : array-like of shape (n_rows,)
        Noisy labels; of two values the larger is the positive class.
    sources : array-like of shape (n_rows,), optional
        The source of each row; any hashable ids. None: one source, named "all rows".
    method : {"auto", "roc_slope", "best_bin", "anchor"}, default="auto"
        "auto" is ``roc_slope`` for two classes and ``anchor``, the only method for several.

        - ``roc_slope`` fits the ROC curves of all sources with one smooth, increasing log-odds
          function, which is extrapolated to both ends (after Scott 2015, Sanderson & Scott 2014).
        - ``best_bin`` uses the label shares in the purest tails of the score; the size of each
          tail is chosen by its confidence width (after Blanchard et al. 2016, Garg et al. 2021).
          It assumes no shape, but is less precise, and too high where the classes overlap a lot.
        - ``anchor`` uses the largest and smallest estimated P(Ỹ=1|x) of each source (Patrini et
          al. 2017), the usual method, for comparison. It is biased towards no noise. For several
          classes it is the method described above, which averages labels instead.
    estimator : classifier, optional
        The model of the score. None: the better of logistic regression and gradient boosting.
    cv : int or splitter, default=5
        Folds; a splitter must hold out every row exactly once.
    n_bootstrap : int, default=200
        Number of resamples of the scored rows for `covariance`, which contains the variation of the
        labels given the score, but not the error from overlapping classes.
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
        If y has one class only, a source has too few rows of one label, lengths differ, or a
        parameter is invalid.

    Warns
    -----
    UninformativeRatesWarning
        If the features do not predict the labels, or the rates of a source may sum to 1, or its
        matrix is singular.

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
    if method not in ("auto", *RATE_METHODS):
        raise ValueError(
            f"unknown method {method!r}: choose one of {', '.join(RATE_METHODS)} or auto"
        )
    if n_bootstrap < 0:
        raise ValueError(f"n_bootstrap={n_bootstrap!r} must be at least 0")
    check_consistent_length(X, y)
    classes, codes = read_labels(y)
    rng = check_random_state(random_state)
    seed = int(rng.randint(2**31 - 1))
    noisy = read_sources(codes, classes, sources, np.eye(len(classes)))  # rates unknown
    ids, names = noisy.ids.tolist(), classes.tolist()
    _check_enough(noisy, cv)
    splits = split_rows(X, noisy.row_source * len(names) + codes, cv, seed)
    if method == "auto":
        method = "roc_slope" if len(names) == 2 else "anchor"
    data = (X, noisy, estimator, splits, n_bootstrap, rng, seed)
    if len(names) > 2 and method == "anchor":
        matrices, draws, notices = _from_anchors(*data)
        ends = None  # the labels of mixed anchors bound no entry off the diagonal
    else:
        matrices, draws, notices, counts = _from_score(method, *data)
        ends = tail_bounds(counts, flips_of(matrices), level)
    resampled = bootstrap_ends(matrices, draws, level)
    emit_notices(notices + rate_notices(ids, matrices, resampled, names, "source"))
    matrices = informative(matrices)
    estimated = replace(noisy, source_matrices=matrices)
    return NoiseRateEstimate(
        ids,
        matrices,
        ends,
        level,
        estimated.class_prior,
        method,
        names,
        covariance=bootstrap_covariance(draws),
        left_out=LEFT_OUT,
    )


def _check_enough(noisy: NoisySources, cv: Any) -> None:
    least = max(MIN_ROWS, cv) if isinstance(cv, int) else MIN_ROWS
    sizes = np.zeros((len(noisy.ids), noisy.n_classes), dtype=int)
    np.add.at(sizes, (noisy.row_source, noisy.noisy_class), 1)
    for source, by_label in zip(noisy.ids.tolist(), sizes, strict=True):
        for label, size in zip(noisy.classes.tolist(), by_label, strict=True):
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


Found = tuple[FloatArray, FloatArray, list[Notice]]  # matrices, resamples of them, warnings


def _from_anchors(
    X: Any,
    noisy: NoisySources,
    estimator: Any,
    splits: list[Split],
    n_bootstrap: int,
    rng: np.random.RandomState,
    seed: int,
) -> Found:
    """Return the label shares of the anchors of every class."""
    probabilities = noisy_label_probabilities(X, noisy, estimator, splits, seed)
    notices = _notices_of_guesses(probabilities.argmax(axis=1) == noisy.noisy_class, noisy)
    return *anchor_matrices(anchor_rows(probabilities, noisy), noisy, n_bootstrap, rng), notices


def _notices_of_guesses(guessed: NDArray[np.bool_], noisy: NoisySources) -> list[Notice]:
    commonest = np.bincount(noisy.noisy_class).max() / len(guessed)
    std_error = np.sqrt(commonest * (1 - commonest) / len(guessed))
    if guessed.mean() >= commonest + MIN_AUC_Z * std_error:
        return []
    text = (
        f"the model predicts {guessed.mean():.1%} of the noisy labels, not clearly more than the "
        f"most frequent label alone ({commonest:.1%}): {MEANINGLESS}"
    )
    return [Notice(UninformativeRatesWarning, text)]


def _from_score(
    method: str,
    X: Any,
    noisy: NoisySources,
    estimator: Any,
    splits: list[Split],
    n_bootstrap: int,
    rng: np.random.RandomState,
    seed: int,
) -> tuple[FloatArray, FloatArray, list[Notice], FloatArray]:
    """Return the rates of two classes from one score that ranks the rows, and its label counts."""
    only_two_classes(noisy.n_classes, f"method={method!r}", "choose 'anchor'")
    scored = out_of_fold(X, noisy, estimator, splits, seed)
    counts = count_labels(scored, noisy, rng)
    if method == "anchor":
        flips, draws = extreme_flips(X, noisy, scored.estimator, splits, n_bootstrap, rng)
    else:
        flips, draws = _rates_along_score(method, counts, n_bootstrap, rng)
    # Without resamples, `draws` is empty and has one axis.
    moved = matrix_of_rates(draws[..., 0], draws[..., 1]) if n_bootstrap else draws
    return matrix_of_rates(*flips.T), moved, _notices_of_score(scored, noisy), counts


def _notices_of_score(scored: OutOfFold, noisy: NoisySources) -> list[Notice]:
    n_neg, n_pos = np.bincount(noisy.noisy_class)
    # Standard deviation of the AUC (Mann–Whitney statistic) of a random score.
    std_error = np.sqrt((n_neg + n_pos + 1) / (12.0 * n_pos * n_neg))
    if scored.auc >= 0.5 + MIN_AUC_Z * std_error:
        return []
    text = (
        f"the score predicts the noisy labels no better than chance (AUC {scored.auc:.3f}): "
        f"{MEANINGLESS}"
    )
    return [Notice(UninformativeRatesWarning, text)]


def _rates_along_score(
    method: str, counts: FloatArray, n_bootstrap: int, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """Return the rates estimated from the counts, and from resamples of the counts."""
    flips_from: Callable[[FloatArray], FloatArray] = best_bin_flips
    if method == "roc_slope":
        # Warm start: a resample then needs a tenth of the steps.
        flips_from = partial(roc_slope_flips, start=fit_roc(counts))
    draws = [
        flips_from(resample(counts, rng))
        for _ in track(range(n_bootstrap), "resampling rows for the noise rates", n_bootstrap)
    ]
    return flips_from(counts), np.array(draws)


def resample(counts: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Return counts of the rows of each source resampled with replacement."""
    drawn = np.empty_like(counts)
    for i in range(counts.shape[2]):
        cells = counts[:, :, i]
        size = cells.sum()
        drawn[:, :, i] = rng.multinomial(round(size), cells.ravel() / size).reshape(cells.shape)
    return drawn
