"""Refit plans of a sensitivity analysis: a box of noise rates or bag proportions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.losses import only_two_classes
from decorrupt.noise_rates.result import NoiseRateEstimate, informative
from decorrupt.notices import Notice, train_quietly
from decorrupt.observed import (
    FLIPS,
    NoiseRates,
    factorize,
    matrix_of_rates,
    rates_of_matrix,
    read_bags,
)

FLIP_CORNERS = (
    (0, 0),
    (1, 1),
    (0, 1),
    (1, 0),
)  # 0 low, 1 high; (flip_pos, flip_neg) of all sources
BAG_CORNERS = ((0,), (1,))
ONE_CLASS = "examine one class against all others"


@dataclass(frozen=True)
class RefitPlan:
    """A box of parameter values, its corners, and a function that trains at a point of it.

    `point`, `low` and `high` have shape (n_sources, 2) or (n_bags, 1).
    """

    names: list[str]
    point: FloatArray
    low: FloatArray
    high: FloatArray
    corners: tuple[tuple[int, ...], ...]
    train: Callable[[Any, FloatArray], list[Notice]]

    def settings(self, n_draws: int, rng: np.random.RandomState) -> Iterator[FloatArray]:
        """Yield the corners, then `n_draws` uniform random points of the box."""
        for corner in self.corners:
            yield np.where(np.array(corner, dtype=bool), self.high, self.low)
        for _ in range(n_draws):
            yield self.low + rng.uniform(size=self.low.shape) * (self.high - self.low)


def source_plan(X: Any, y: ArrayLike, sources: Any, noise_rates: Any, intervals: Any) -> RefitPlan:
    """Return the plan that varies every source's rates within their intervals."""
    if isinstance(noise_rates, NoiseRateEstimate):
        only_two_classes(len(noise_rates.classes), "sensitivity", ONE_CLASS)
        intervals = noise_rates.intervals if intervals is None else intervals
        noise_rates = noise_rates.rates
    if not isinstance(noise_rates, Mapping) or not isinstance(intervals, Mapping):
        raise ValueError(
            "give noise_rates and intervals, both as mappings by source, or a NoiseRateEstimate as "
            "noise_rates; or give bags and their intervals"
        )
    ids = list(noise_rates) if sources is None else factorize(sources, "sources")[0].tolist()
    if sources is None and len(ids) != 1:
        raise ValueError(f"noise_rates contain {len(ids)} sources: give sources=, one per row")
    for name, given in (("noise_rates", noise_rates), ("intervals", intervals)):
        missing = [source for source in ids if source not in given]
        if missing:
            raise ValueError(f"{name} have no entry for source {missing[0]!r}")
    ends = [
        [_interval(intervals[source][flip], f"source {source!r}, {flip}") for flip in FLIPS]
        for source in ids
    ]

    def train(model: Any, flips: FloatArray) -> list[Notice]:
        pairs = [rates_of_matrix(one) for one in informative(matrix_of_rates(*flips.T))]
        rates = pairs[0] if sources is None else dict(zip(ids, pairs, strict=True))
        return train_quietly(model, X, y, sources=sources, noise_rates=rates)

    point = np.array([list(NoiseRates.of(noise_rates[source])) for source in ids])
    low, high = np.moveaxis(np.array(ends), -1, 0)
    names = [f"{flip} of source {source!r}" for source in ids for flip in FLIPS]
    return RefitPlan(names, point, low, high, FLIP_CORNERS, train)


def bag_plan(X: Any, y: ArrayLike, bags: Any, intervals: Any) -> RefitPlan:
    """Return the plan that varies every bag's proportion within its interval."""
    observed = read_bags(y, bags)
    only_two_classes(observed.n_classes, "sensitivity", ONE_CLASS)
    ids, point = observed.ids.tolist(), observed.proportions[:, 1:]
    if isinstance(intervals, Mapping):
        missing = [bag for bag in ids if bag not in intervals]
        if missing:
            raise ValueError(f"intervals have no entry for bag {missing[0]!r}")
        ends = np.array([_interval(intervals[bag], f"bag {bag!r}") for bag in ids])
        low, high = ends[:, :1], ends[:, 1:]
    elif intervals is not None and np.ndim(intervals) == 0 and 0 <= intervals <= 1:
        low, high = np.maximum(point - intervals, 0.0), np.minimum(point + intervals, 1.0)
    else:
        raise ValueError(
            f"intervals={intervals!r}: for bags give {{bag: (low, high)}}, or one number in "
            "[0, 1], the largest error of each proportion"
        )

    def train(model: Any, proportions: FloatArray) -> list[Notice]:
        return train_quietly(model, X, proportions[observed.row_bag, 0], bags=bags)

    names = [f"proportion of bag {bag!r}" for bag in ids]
    return RefitPlan(names, point, low, high, BAG_CORNERS, train)


def _interval(ends: Any, name: str) -> tuple[float, float]:
    low, high = (float(end) for end in ends)
    if not 0 <= low <= high <= 1:
        raise ValueError(
            f"intervals of {name} are ({low:g}, {high:g}): they must satisfy 0 ≤ low ≤ high ≤ 1"
        )
    return low, high
