"""Unknown noise rates from the noisy labels themselves, jointly over sources."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from decorrupt._typing import FloatArray
from decorrupt.corruption import NoiseRates
from decorrupt.estimators.inputs import NoisySources, read_labels, read_sources, source_priors
from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.noise_rates.best_bin import best_bin_flips
from decorrupt.noise_rates.result import (
    UNKNOWN_RATES,
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
FEWEST_ROWS = 10  # of either label in each source
CHANCE_WIDTH = 3.0  # standard errors above ½ that the score's AUC must reach
DEFAULT_BOOTSTRAPS = 200
LEFT_OUT = (
    "The intervals leave out the error from overlapping classes: without surely positive and "
    "surely negative rows the rates can be far off, and noisy labels alone cannot show it."
)


def estimate_noise_rates(
    X: Any,
    y: ArrayLike,
    *,
    sources: Any = None,
    method: str = "roc_slope",
    estimator: Any = None,
    cv: Any = 5,
    n_bootstrap: int = DEFAULT_BOOTSTRAPS,
    level: float = 0.9,
    random_state: Any = None,
) -> NoiseRateEstimate:
    """Return ρ₋ = inf P(Ỹ=1|x) and ρ₊ = 1 − sup P(Ỹ=1|x) of every source, with intervals.

    P(Ỹ=1|x) = ρ₋ + (1−ρ₊−ρ₋)·P(Y=1|x), so a source's rates are what is left of its labels'
    scatter where the true class is certain: the slopes of the ROC curve at its two ends
    (:class:`decorrupt.corruption.SourceMixture`). One score, trained on all sources' labels and
    taken out of fold, orders the rows; P(Y=1|score) is common to all sources, and so are its ends.

    This assumes *irreducibility*: there are rows that are surely positive and rows that are
    surely negative. Where there are none, the labels cannot tell class overlap from noise, and
    the rates come out too high. It also assumes that noise depends on the class alone, and that
    all sources draw from one clean distribution.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        The rows.
    y : array-like of shape (n_rows,)
        Noisy labels of two values; the larger is the positive class.
    sources : array-like of shape (n_rows,), optional
        The source of each row; any hashable ids. None: one source, called "all rows".
    method : {"roc_slope", "best_bin", "anchor"}, default="roc_slope"
        - ``roc_slope`` fits the ROC curves of all sources with one smooth, rising log-odds, which
          carries them on to their ends (after Scott 2015, Sanderson & Scott 2014).
        - ``best_bin`` reads the labels in the purest tails of the score, the size of each chosen
          by its confidence width (after Blanchard et al. 2016, Garg et al. 2021). No shape is
          assumed; less precise, and too high where the classes overlap much.
        - ``anchor`` is the largest and smallest estimated P(Ỹ=1|x), source by source (Patrini et
          al. 2017): the usual choice, here to compare with. It is biased towards no noise.
    estimator : classifier, optional
        What makes the score. None: the better of a logistic and a gradient boosting model.
    cv : int or splitter, default=5
        Folds; a splitter must hold every row out once.
    n_bootstrap : int, default=200
        Resamples of the scored rows for the intervals; 0 for none. The intervals contain the
        scatter of the labels along the score. They leave out the error from classes that overlap
        everywhere, and what training the score again would change: on such classes they hold
        the true rate far less often than `level` (docs/noise_rates.md has figures).
    level : float in (0, 1), default=0.9
        Of the intervals.
    random_state : int, RandomState or None
        Folds, boosting, ties and resamples.

    Returns
    -------
    NoiseRateEstimate
        `.rates` can be given to :class:`decorrupt.CorruptedSourcesClassifier` as `noise_rates`.

    Raises
    ------
    ValueError
        If y has not two classes, a source has too few rows of one label, lengths differ, or a
        parameter is not what it must be.

    Warns
    -----
    UninformativeRatesWarning
        If the features do not tell the labels apart, or a source's rates may sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import corrupt_labels
    >>> from decorrupt.noise_rates import estimate_noise_rates
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 4000)                  # nobody sees these
    >>> X = rng.normal(size=(4000, 2)) + 2 * labels[:, None]
    >>> noisy = corrupt_labels(labels, (0.1, 0.3), random_state=0)
    >>> found = estimate_noise_rates(X, noisy, n_bootstrap=20, random_state=0)
    >>> [round(rate, 1) for rate in found.rates["all rows"]]
    [0.1, 0.3]
    """
    check_level(level)
    if method not in RATE_METHODS:
        raise ValueError(f"unknown method {method!r}: choose one of {', '.join(RATE_METHODS)}")
    if n_bootstrap < 0:
        raise ValueError(f"n_bootstrap={n_bootstrap!r} must be at least 0")
    check_consistent_length(X, y)
    classes, labels = read_labels(y)
    noisy = read_sources(labels, sources, UNKNOWN_RATES)
    _check_enough(noisy, classes.tolist(), cv)
    rng = check_random_state(random_state)
    seed = int(rng.randint(2**31 - 1))
    splits = split_rows(X, noisy, cv, seed)
    scored = out_of_fold(X, noisy, estimator, splits, seed)
    _warn_of_chance(scored, noisy)
    if method == "anchor":
        flips, draws = _anchor(X, noisy, scored, splits, n_bootstrap, rng)
    else:
        flips, draws = _along_score(method, count_labels(scored, noisy, rng), n_bootstrap, rng)
    ids = noisy.ids.tolist()
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


def _check_enough(noisy: NoisySources, classes: list[Any], cv: Any) -> None:
    least = max(FEWEST_ROWS, cv) if isinstance(cv, int) else FEWEST_ROWS
    sizes = np.zeros((len(noisy.ids), 2), dtype=int)
    np.add.at(sizes, (noisy.row_source, noisy.is_pos.astype(int)), 1)
    for source, by_label in zip(noisy.ids.tolist(), sizes, strict=True):
        for label, size in zip(classes, by_label, strict=True):
            if size == 0:
                raise ValueError(
                    f"source {source!r} has no row labelled {label!r}: rates can be estimated "
                    "only where both labels occur"
                )
            if size < least:
                raise ValueError(
                    f"source {source!r} has only {size} rows labelled {label!r}: at least {least} "
                    "are needed, and hundreds for a useful estimate"
                )


def _warn_of_chance(scored: OutOfFold, noisy: NoisySources) -> None:
    n_pos, n_rows = noisy.is_pos.sum(), len(noisy.is_pos)
    # The standard deviation of the AUC (Mann–Whitney statistic) of a score that knows nothing.
    width = np.sqrt((n_rows + 1) / (12.0 * n_pos * (n_rows - n_pos)))
    if scored.auc < 0.5 + CHANCE_WIDTH * width:
        warnings.warn(
            f"the score tells the noisy labels apart no better than chance (AUC {scored.auc:.3f}): "
            "rates made from it mean nothing. Give an estimator that can learn these labels, or "
            "more rows",
            UninformativeRatesWarning,
            stacklevel=3,
        )


def _along_score(
    method: str, counts: FloatArray, n_bootstrap: int, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """Return the rates read off counts along the score, and off resamples of these counts."""
    flips_from: Callable[[FloatArray], FloatArray] = best_bin_flips
    if method == "roc_slope":
        # A resample's maximum is near: starting there takes a tenth of the steps.
        flips_from = partial(roc_slope_flips, start=fit_roc(counts))
    draws = [flips_from(resample(counts, rng)) for _ in range(n_bootstrap)]
    return flips_from(counts), np.array(draws)


def resample(counts: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Return counts of as many rows of each source, drawn with replacement."""
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
    """Return ρ₊ = 1 − max P̂(Ỹ=1|x) and ρ₋ = min P̂(Ỹ=1|x), source by source."""
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
