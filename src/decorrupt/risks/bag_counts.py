"""Groups of bags by how the probability of their count is computed: pure, exact, approximate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.risks.poisson_binomial import poisson_binomial
from decorrupt.risks.segments import Segments
from decorrupt.risks.tilted_normal import tilted_normal

# Up to this size the exact O(n²) sums cost less than computing the features of these rows.
LARGE_BAG = 256
# The fixed cost of one pass of the product tree, in multiply-adds (a pass has n² of them per bag):
# about 0.1 ms of calls, and about 1.2 ns per multiply-add.
PASS_COST = 80_000
# Half a unit in the last digit of a proportion printed with two digits: 0.33 of 9 rows is 3.
# The 1e-9 allows for rounding of the difference.
PRINTED_TOL = 0.005 + 1e-9
SHOWN_BAGS = 5


@dataclass(frozen=True)
class PureBags:
    """Bags with one class only, such as bags of one row: Σ log σ(±f), the logistic loss."""

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    segments: Segments
    sign: FloatArray

    def log_prob_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ_j log σ(±f_j) and ±σ(∓f_j)."""
        margin = self.sign * scores[self.rows]
        return self.segments.sum(log_expit(margin)), self.sign * expit(-margin)


@dataclass(frozen=True)
class SmallBags:
    """Bags computed exactly, in one pass; `rows` has one column per bag, padded with row −1."""

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    counts: NDArray[np.intp]

    def log_prob_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :func:`poisson_binomial`."""
        return poisson_binomial(scores[self.rows], self.counts)


@dataclass(frozen=True)
class ApproximateBags:
    """Large bags, and bags whose proportion is noisy."""

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    segments: Segments
    counts: FloatArray
    noise_variance: FloatArray

    def log_prob_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :func:`tilted_normal`."""
        return tilted_normal(scores[self.rows], self.segments, self.counts, self.noise_variance)


BagGroup = PureBags | SmallBags | ApproximateBags


def group_bags(
    strata: Strata, *, large_bags: float | str, proportion_noise: Any
) -> Iterator[BagGroup]:
    """Yield groups that contain every bag once; the parameters are those of :func:`count_risk`."""
    noise_variance = (strata.sizes * read_noise(strata, proportion_noise)) ** 2
    counts = read_counts(strata, noise_variance > 0)
    threshold = _size_threshold(large_bags)
    by_bag = np.argsort(strata.row_stratum, kind="stable")
    sizes = strata.sizes
    all_rows = Segments(sizes)

    def select(chosen: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp], Segments]:
        bags = np.flatnonzero(chosen)
        return bags, by_bag[all_rows.spread(chosen)], Segments(sizes[bags])

    noisy = noise_variance > 0
    pure = ~noisy & ((counts == 0) | (counts == sizes))
    if pure.any():
        bags, rows, segments = select(pure)
        yield PureBags(bags, rows, segments, segments.spread(np.where(counts[bags] > 0, 1.0, -1.0)))
    approximate = noisy | (~pure & (sizes > threshold))
    if approximate.any():
        bags, rows, segments = select(approximate)
        yield ApproximateBags(bags, rows, segments, counts[bags], noise_variance[bags])
    small = ~pure & ~approximate
    filled = np.zeros_like(sizes)
    filled[small] = _filled_sizes(sizes[small])
    for size in np.unique(filled[small]):
        bags, rows, segments = select(filled == size)
        yield SmallBags(bags, _columns(rows, segments, size), counts[bags].astype(np.intp))


def _filled_sizes(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the size to which each bag is padded, with the least total cost of all passes.

    Bags padded to the same size share a pass, which costs PASS_COST + Σ size². Bags of similar
    size share a pass, so dynamic programming over the sorted sizes finds the best cuts.
    """
    distinct, n_bags = np.unique(sizes, return_counts=True)
    n_up_to = np.append(0, np.cumsum(n_bags))
    least, cut = np.zeros(len(distinct) + 1), np.zeros(len(distinct) + 1, dtype=int)
    for end, size in enumerate(distinct.astype(float), start=1):
        costs = least[:end] + PASS_COST + (n_up_to[end] - n_up_to[:end]) * size**2
        cut[end] = costs.argmin()
        least[end] = costs[cut[end]]
    filled, end = distinct.copy(), len(distinct)
    while end:
        filled[cut[end] : end] = distinct[end - 1]
        end = cut[end]
    return np.asarray(filled[np.searchsorted(distinct, sizes)])


def _columns(rows: NDArray[np.intp], segments: Segments, size: int) -> NDArray[np.intp]:
    """Return the rows of each bag as a column of length `size`, padded with −1."""
    columns = np.full((len(segments.sizes), size), -1, dtype=np.intp)
    columns[np.arange(size) < segments.sizes[:, None]] = rows
    return np.ascontiguousarray(columns.T)


def read_noise(strata: Strata, proportion_noise: Any) -> FloatArray:
    """Return the standard deviation of every bag's proportion, from a number or a mapping."""
    ids = strata.ids.tolist()
    if isinstance(proportion_noise, Mapping):
        missing = [bag for bag in ids if bag not in proportion_noise]
        if missing:
            raise ValueError(
                f"proportion_noise has no entry for bag {missing[0]!r}: give one per bag"
            )
        noise = np.array([proportion_noise[bag] for bag in ids], dtype=float)
    else:
        noise = np.full(len(ids), proportion_noise, dtype=float)
    bad = np.flatnonzero(~((noise >= 0) & np.isfinite(noise)))
    if len(bad):
        raise ValueError(
            f"proportion_noise of bag {ids[bad[0]]!r} is {noise[bad[0]]:g}: it must be a "
            "standard deviation, a finite number of at least 0"
        )
    return noise


def read_counts(strata: Strata, is_noisy: NDArray[np.bool_]) -> FloatArray:
    """Return c_k = p_k·n_k, rounded to a whole number where the bag has no noise."""
    given = strata.proportions * strata.sizes
    return np.where(is_noisy, given, np.rint(given))


def describe_rounded(strata: Strata, proportion_noise: Any) -> str:
    """Return a message naming the bags whose p_k·n_k is not a whole number; "" if there is none.

    The tolerance allows for proportions printed with two digits.
    """
    given = strata.proportions * strata.sizes
    shift = np.abs(strata.proportions - np.rint(given) / strata.sizes)
    is_noisy = read_noise(strata, proportion_noise) > 0
    rounded = np.flatnonzero((shift > PRINTED_TOL) & ~is_noisy)
    if not len(rounded):
        return ""
    shown = ", ".join(
        f"{strata.ids.tolist()[k]!r} ({given[k]:.4g} of {strata.sizes[k]})"
        for k in rounded[:SHOWN_BAGS]
    )
    more = f" and {len(rounded) - SHOWN_BAGS} more" if len(rounded) > SHOWN_BAGS else ""
    return (
        f"the proportions of {len(rounded)} bags are not a whole number of positive rows; the "
        f"nearest count is used: {shown}{more}. If the proportions are noisy, give their "
        "standard deviation as proportion_noise"
    )


def _size_threshold(large_bags: float | str) -> float:
    if large_bags == "auto":
        return LARGE_BAG
    if isinstance(large_bags, str) or not large_bags >= 1:
        raise ValueError(
            f"large_bags={large_bags!r}: give 'auto' or the largest bag size to compute exactly, a "
            "number of at least 1 (numpy.inf for all bags)"
        )
    return float(large_bags)
