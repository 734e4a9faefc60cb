"""Noise rates from noisy labels and features, estimated jointly over sources."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.corruption import NoiseRates
from decorrupt.estimators.class_sources import ClassSources, common_class_shares
from decorrupt.estimators.inputs import (
    NoisySources,
    read_class_labels,
    read_noisy_labels,
    source_priors,
)
from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.noise_rates.best_bin import best_bin_flips
from decorrupt.noise_rates.class_anchors import (
    anchor_matrices,
    anchor_rows,
    noisy_class_probabilities,
)
from decorrupt.noise_rates.class_result import (
    ClassNoiseEstimate,
    checked_matrices,
    class_covariance,
    class_intervals,
)
from decorrupt.noise_rates.result import (
    NoiseRateEstimate,
    bootstrap_covariance,
    bootstrap_intervals,
    check_level,
    checked_rates,
)
from decorrupt.noise_rates.roc_slope import fit_roc, roc_slope_flips
from decorrupt.noise_rates.scores import (
    OutOfFold,
    Split,
    count_labels,
    noisy_posteriors,
    out_of_fold,
    split_rows,
)

RATE_METHODS = ("roc_slope", "best_bin", "anchor")
MIN_ROWS = 10  # per label and source
MIN_AUC_Z = 3.0  # standard errors by which the score's AUC must exceed ½
DEFAULT_BOOTSTRAPS = 200
LEFT_OUT = (
    "The intervals leave out the error from overlapping classes: without rows that are certainly "
    "positive or certainly negative the rates can be far off, and noisy labels cannot show this."
)

CLASSES_LEFT_OUT = (
    "The intervals leave out the error from overlapping classes: if the anchors of a class contain "
    "rows of other classes, its noise is overestimated, and noisy labels cannot show this."
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
) -> NoiseRateEstimate | ClassNoiseEstimate:
    """Return ρ₋ = inf P(Ỹ=1|x) and ρ₊ = 1 − sup P(Ỹ=1|x) of every source, with intervals.

    P(Ỹ=1|x) = ρ₋ + (1−ρ₊−ρ₋)·P(Y=1|x), so where the true class is certain, the share of wrong
    labels is the noise rate. These rates are given by the slopes of the ROC curve at its two ends
    (:class:`decorrupt.corruption.SourceMixture`). The rows are ranked by one out-of-fold score,
    trained on all sources' labels; P(Y=1|score) is the same function for all sources.

    This assumes *irreducibility*: some rows are certainly positive and some are certainly
    negative. Otherwise the labels do not distinguish class overlap from noise, and the estimated
    rates are too high. It also assumes that noise depends on the class only, and that all sources
    have the same clean distribution.

    For several classes T_s[c, ·] is estimated by the labels of *anchors*: those rows of source s
    for which the out-of-fold P(Ỹ=c|x) is highest. This assumes that for every class c some rows
    certainly belong to it, as many as a fifth of the rows labelled c, and that over all sources
    together the label c is more frequent in class c than in any other class. Where classes overlap,
    the anchors are mixed and the noise is overestimated; the intervals do not include this.

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
        Number of resamples of the scored rows for the intervals; 0 for no intervals. The intervals
        include the variation of the labels given the score. They exclude the error from classes
        that overlap everywhere and the variation from training the score. On overlapping classes
        they contain the true rate far less often than `level` (see docs/noise_rates.md).
    level : float in (0, 1), default=0.9
        Confidence level of the intervals.
    random_state : int, RandomState or None
        Used for folds, boosting, ties and resamples.

    Returns
    -------
    NoiseRateEstimate, or ClassNoiseEstimate for several classes
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
    classes, codes = read_class_labels(y)
    rng = check_random_state(random_state)
    seed = int(rng.randint(2**31 - 1))
    noisy = read_noisy_labels(codes, classes, sources, np.eye(len(classes)))  # rates unknown
    ids, names = noisy.ids.tolist(), classes.tolist()
    _check_enough(noisy.row_source, codes, ids, names, cv)
    splits = split_rows(X, noisy.row_source * len(classes) + codes, cv, seed)
    if isinstance(noisy, ClassSources):
        if method not in ("auto", "anchor"):
            raise ValueError(
                f"method={method!r} is for two classes, and y has {len(classes)}: choose 'anchor'"
            )
        matrices, draws = _class_anchors(X, noisy, estimator, splits, n_bootstrap, rng, seed)
        return ClassNoiseEstimate(
            checked_matrices(ids, matrices, names, "source"),
            class_intervals(ids, matrices, draws, level),
            level,
            common_class_shares(replace(noisy, matrices=matrices, row_matrix=noisy.row_source)),
            "anchor",
            names,
            covariance=class_covariance(draws),
            left_out=CLASSES_LEFT_OUT if n_bootstrap else "",
        )
    method = "roc_slope" if method == "auto" else method
    scored = out_of_fold(X, noisy, estimator, splits, seed)
    _warn_if_chance_level(scored, noisy)
    if method == "anchor":
        flips, draws = _anchor(X, noisy, scored, splits, n_bootstrap, rng)
    else:
        flips, draws = _rates_along_score(
            method, count_labels(scored, noisy, rng), n_bootstrap, rng
        )
    intervals = bootstrap_intervals(ids, flips, draws, level)
    rates = checked_rates(ids, flips, intervals, "source")
    return NoiseRateEstimate(
        rates,
        intervals,
        level,
        _common_prior(noisy, rates),
        method,
        covariance=bootstrap_covariance(draws),
        left_out=LEFT_OUT if intervals else "",
    )


def _check_enough(
    row_source: NDArray[np.intp],
    codes: NDArray[np.int_],
    ids: list[Any],
    classes: list[Any],
    cv: Any,
) -> None:
    least = max(MIN_ROWS, cv) if isinstance(cv, int) else MIN_ROWS
    sizes = np.zeros((len(ids), len(classes)), dtype=int)
    np.add.at(sizes, (row_source, codes), 1)
    for source, by_label in zip(ids, sizes, strict=True):
        for label, size in zip(classes, by_label, strict=True):
            if size == 0:
                raise ValueError(
                    f"source {source!r} has no row labelled {label!r}: its rates can only be "
                    f"estimated from rows of {'both' if len(classes) == 2 else 'all'} labels"
                )
            if size < least:
                raise ValueError(
                    f"source {source!r} has only {size} rows labelled {label!r}: at least {least} "
                    "are needed, and hundreds for a useful estimate"
                )


def _class_anchors(
    X: Any,
    noisy: ClassSources,
    estimator: Any,
    splits: list[Split],
    n_bootstrap: int,
    rng: np.random.RandomState,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    probabilities = noisy_class_probabilities(X, noisy, estimator, splits, seed)
    guessed = probabilities.argmax(axis=1) == noisy.noisy_class
    commonest = np.bincount(noisy.noisy_class).max() / len(guessed)
    if guessed.mean() < commonest + MIN_AUC_Z * np.sqrt(commonest * (1 - commonest) / len(guessed)):
        warnings.warn(
            f"the model predicts {guessed.mean():.1%} of the noisy labels, not clearly more than "
            f"the most frequent label alone ({commonest:.1%}): the estimated rates are "
            "meaningless. Give an estimator that can learn these labels, or more rows",
            UninformativeRatesWarning,
            stacklevel=3,
        )
    return anchor_matrices(anchor_rows(probabilities, noisy), noisy, n_bootstrap, rng)


def _warn_if_chance_level(scored: OutOfFold, noisy: NoisySources) -> None:
    n_pos, n_rows = noisy.is_pos.sum(), len(noisy.is_pos)
    # Standard deviation of the AUC (Mann–Whitney statistic) of a random score.
    std_error = np.sqrt((n_rows + 1) / (12.0 * n_pos * (n_rows - n_pos)))
    if scored.auc < 0.5 + MIN_AUC_Z * std_error:
        warnings.warn(
            f"the score predicts the noisy labels no better than chance (AUC {scored.auc:.3f}): "
            "the estimated rates are meaningless. Give an estimator that can learn these labels, "
            "or more rows",
            UninformativeRatesWarning,
            stacklevel=3,
        )


def _rates_along_score(
    method: str, counts: FloatArray, n_bootstrap: int, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """Return the rates estimated from the counts, and from resamples of the counts."""
    flips_from: Callable[[FloatArray], FloatArray] = best_bin_flips
    if method == "roc_slope":
        # Warm start: a resample then needs a tenth of the steps.
        flips_from = partial(roc_slope_flips, start=fit_roc(counts))
    draws = [flips_from(resample(counts, rng)) for _ in range(n_bootstrap)]
    return flips_from(counts), np.array(draws)


def resample(counts: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Return counts of the rows of each source resampled with replacement."""
    drawn = np.empty_like(counts)
    for i in range(counts.shape[2]):
        cells = counts[:, :, i]
        size = cells.sum()
        drawn[:, :, i] = rng.multinomial(round(size), cells.ravel() / size).reshape(cells.shape)
    return drawn


def _anchor(
    X: Any,
    noisy: NoisySources,
    scored: OutOfFold,
    splits: list[Split],
    n_bootstrap: int,
    rng: np.random.RandomState,
) -> tuple[FloatArray, FloatArray]:
    """Return ρ₊ = 1 − max P̂(Ỹ=1|x) and ρ₋ = min P̂(Ỹ=1|x) of each source."""
    posteriors = noisy_posteriors(X, noisy, scored.estimator, splits)
    by_source = [posteriors[noisy.row_source == i] for i in range(len(noisy.ids))]

    def extremes(samples: list[FloatArray]) -> FloatArray:
        return np.array([(1 - sample.max(), sample.min()) for sample in samples])

    draws = [
        extremes([rng.choice(sample, len(sample)) for sample in by_source])
        for _ in range(n_bootstrap)
    ]
    return extremes(by_source), np.array(draws)


def _common_prior(noisy: NoisySources, rates: dict[Any, NoiseRates]) -> float:
    by_row = np.array([list(pair) for pair in rates.values()])[noisy.row_source]
    return float(source_priors(None, replace(noisy, rates=by_row))[0])
