"""Estimated noise rates with bootstrap intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import norm

from decorrupt._typing import FloatArray
from decorrupt.corruption import NoiseRates
from decorrupt.corruption.source_mixture import SourceMixture
from decorrupt.exceptions import UninformativeRatesWarning

MIN_SIGNAL = 0.01  # smallest 1 − flip_pos − flip_neg that is returned: NoiseRates needs it above 0
FLIPS = ("flip_pos", "flip_neg")
UNKNOWN_RATES = (0.0, 0.0)  # placeholder while sources are read
Intervals = dict[Any, dict[str, tuple[float, float]]]


@dataclass(frozen=True)
class NoiseRateEstimate:
    """Estimated flip rates per source, with intervals; ``print`` shows a table.

    Attributes
    ----------
    rates : dict
        {source: NoiseRates}, as the `noise_rates` of a classifier accept it.
    intervals : dict
        {source: {"flip_pos": (low, high), "flip_neg": (low, high)}}; empty if none were requested.
    level : float
        Nominal probability that an interval contains the true rate.
    class_prior : float
        P(Y=1) of the clean distribution, computed from the rates and the label shares.
    method : str
        The method of estimation.
    covariance : ndarray of shape (2·n_sources, 2·n_sources) or None
        Covariance of the rates over the resamples, in the order flip_pos, flip_neg of the first
        source, then of the second and so on. None without resamples.
    left_out : str
        Description of the error that intervals and covariance do not include; empty if none.
    """

    rates: dict[Any, NoiseRates]
    intervals: Intervals
    level: float
    class_prior: float
    method: str
    covariance: FloatArray | None = field(default=None, kw_only=True, repr=False, compare=False)
    left_out: str = field(default="", kw_only=True, repr=False)

    @property
    def mixtures(self) -> dict[Any, SourceMixture]:
        """{source: share of true positives among its positive and among its negative labels}."""
        return {
            source: SourceMixture.of_rates(self.class_prior, rates)
            for source, rates in self.rates.items()
        }

    def __str__(self) -> str:
        head = f"{'source':<16}{'flip_pos':>24}{'flip_neg':>24}"
        rows = [f"{source!s:<16}" + self._cells(source) for source in self.rates]
        foot = f"class prior {self.class_prior:.3f}; {self.level:.0%} intervals; {self.method}"
        return "\n".join([head, *rows, foot, *[self.left_out] * bool(self.left_out)])

    def _cells(self, source: Any) -> str:
        cells = []
        for name, rate in zip(FLIPS, self.rates[source], strict=True):
            interval = self.intervals.get(source, {}).get(name)
            span = "" if interval is None else f" ({interval[0]:.3f} to {interval[1]:.3f})"
            cells.append(f"{f'{rate:.3f}{span}':>24}")
        return "".join(cells)


def check_level(level: float) -> float:
    """Return `level`; raise ValueError unless 0 < level < 1."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie strictly between 0 and 1, such as 0.9")
    return float(level)


def informative(flips: FloatArray) -> FloatArray:
    """Return flip rates clipped to [0, 1], scaled down to a sum of at most 1 − `MIN_SIGNAL`."""
    flips = np.clip(flips, 0.0, 1.0)
    total = np.maximum(flips.sum(axis=-1, keepdims=True), 1 - MIN_SIGNAL)
    return np.asarray(flips * (1 - MIN_SIGNAL) / total)


def bootstrap_intervals(
    ids: Sequence[Any], flips: FloatArray, draws: FloatArray, level: float
) -> Intervals:
    """Return the union of the percentile interval of the draws and ρ̂ ± z·sd(draws).

    The resamples do not repeat every step, such as training the score, so that percentile intervals
    alone contain the true rate slightly too rarely. Empty without draws.

    Parameters
    ----------
    ids : sequence
        Source ids.
    flips : ndarray of shape (n_sources, 2)
        The estimated rates.
    draws : ndarray of shape (n_draws, n_sources, 2)
        The rates estimated from resamples.
    level : float
        Confidence level of the intervals.
    """
    if not len(draws):
        return {}
    low, high = interval_ends(flips, draws, level)
    return {
        source: dict(zip(FLIPS, zip(*ends, strict=True), strict=True))
        for source, *ends in zip(ids, low.tolist(), high.tolist(), strict=True)
    }


def interval_ends(
    rates: FloatArray, draws: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the union of the percentile interval and ρ̂ ± z·sd(draws)."""
    tail = (1 - level) / 2
    reach = norm.ppf(1 - tail) * draws.std(axis=0)
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return (
        np.clip(np.minimum(low, rates - reach), 0.0, 1.0),
        np.clip(np.maximum(high, rates + reach), 0.0, 1.0),
    )


def bootstrap_covariance(draws: FloatArray) -> FloatArray | None:
    """Return the covariance of all rates over draws of shape (n_draws, n_sources, 2)."""
    if len(draws) < 2:
        return None
    return np.atleast_2d(np.cov(informative(draws).reshape(len(draws), -1), rowvar=False))


def checked_rates(
    ids: Sequence[Any], flips: FloatArray, intervals: Intervals, word: str
) -> dict[Any, NoiseRates]:
    """Return {source: NoiseRates}; warn about each source whose labels may be uninformative.

    Must be called directly from the public functions, so that warnings point to their caller.
    """
    for source, total in zip(ids, flips.sum(axis=1).tolist(), strict=True):
        highest = sum(high for _, high in intervals.get(source, {}).values())
        if total > 1 - MIN_SIGNAL:
            _warn(
                f"{word} {source!r}: flip_pos + flip_neg was estimated at {total:.3g}. Its labels "
                "contain no information about the class, or are swapped; the rates were scaled "
                f"down to a sum of {1 - MIN_SIGNAL:g}. Remove the {word}, or swap its labels"
            )
        elif highest >= 1:
            _warn(
                f"{word} {source!r}: the intervals reach flip_pos + flip_neg = {highest:.3g}, and "
                "at 1 its labels contain no information. Get more rows or an audit of this "
                f"{word}, or remove it"
            )
    pairs = informative(flips).tolist()
    return {source: NoiseRates(*pair) for source, pair in zip(ids, pairs, strict=True)}


def _warn(message: str) -> None:
    warnings.warn(message, UninformativeRatesWarning, stacklevel=4)
