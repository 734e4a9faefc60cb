"""Groups of bags with two classes, by how the probability of their counts is computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.observed import ClassCounts, GaussianNoise, by_noise
from decorrupt.risks.bag_rows import BagRows, PureBags
from decorrupt.risks.poisson_binomial import poisson_binomial
from decorrupt.risks.segments import Segments
from decorrupt.risks.tilted_normal import tilted_normal
from decorrupt.risks.tilted_weights import WeightedCounts, tilted_weights
from decorrupt.risks.weighted_counts import weighted_counts

# Up to this size the exact O(n²) sums cost less than computing the features of these rows.
LARGE_BAG = 256
# The fixed cost of one pass of the product tree, in multiply-adds (a pass has n² of them per bag):
# about 0.1 ms of calls, and about 1.2 ns per multiply-add.
PASS_COST = 80_000


@dataclass(frozen=True)
class SmallBags:
    """Bags computed exactly, in one pass; `rows` has one column per bag, padded with row −1.

    A row of weight m is listed m times.
    """

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    counts: NDArray[np.intp]

    def log_prob_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :func:`poisson_binomial`."""
        return poisson_binomial(scores[self.rows], self.counts)


@dataclass(frozen=True)
class WeightedBags:
    """Small bags whose count is not known exactly, in one pass; `rows` as in SmallBags."""

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    log_weights: FloatArray

    def log_prob_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :func:`weighted_counts`."""
        return weighted_counts(scores[self.rows], self.log_weights)


@dataclass(frozen=True)
class ApproximateBags:
    """Large bags with a known count, or with Gaussian noise."""

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    segments: Segments
    counts: FloatArray
    noise_variance: FloatArray

    def log_prob_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :func:`tilted_normal`."""
        return tilted_normal(scores[self.rows], self.segments, self.counts, self.noise_variance)


@dataclass(frozen=True)
class ApproximateWeightedBags:
    """Large bags with a range of counts, or with Laplace or geometric noise."""

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    segments: Segments
    observed: WeightedCounts

    def log_prob_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See :func:`tilted_weights`."""
        return tilted_weights(scores[self.rows], self.segments, self.observed)


TwoClassGroup = PureBags | SmallBags | WeightedBags | ApproximateBags | ApproximateWeightedBags


def two_class_groups(
    bags_of: BagRows, counts: ClassCounts, *, large_bags: float | str
) -> Iterator[TwoClassGroup]:
    """Yield groups that contain every bag about which something is known once.

    Small bags of similar sizes are padded to a common size and computed together.

    Parameters
    ----------
    bags_of : BagRows
        The rows of each bag.
    counts : ClassCounts
        What is known about the counts; those of the positive class are used.
    large_bags : float or "auto"
        Bags with more rows are approximated; "auto" is 256.
    """
    select, sizes = bags_of.select, bags_of.sizes
    lower, upper = counts.lower[:, 1], counts.upper[:, 1]
    exact, noisy = counts.is_exact, counts.is_noisy
    is_large = sizes > _size_threshold(large_bags)
    pure = exact & ((lower == 0) | (lower == sizes))
    if pure.any():
        bags, rows, segments = select(pure)
        yield PureBags(bags, rows, segments, segments.spread((lower[bags] > 0).astype(np.intp)))
    gaussian = np.array([isinstance(one, GaussianNoise) for one in counts.noise], dtype=bool)
    approximate = is_large & (gaussian | (exact & ~pure))
    if approximate.any():
        bags, rows, segments = select(approximate)
        yield ApproximateBags(bags, rows, segments, lower[bags], counts.noise_variance[bags])
    silent = ~noisy & (lower == 0) & (upper == sizes)
    weighted = ~exact & ~silent
    spread = weighted & is_large & ~gaussian
    if spread.any():
        bags, rows, segments = select(spread)
        yield ApproximateWeightedBags(bags, rows, segments, _listed(counts, bags, sizes[bags]))
    for chosen in (exact & ~pure & ~is_large, weighted & ~is_large):
        filled = np.zeros_like(sizes)
        filled[chosen] = _filled_sizes(sizes[chosen])
        for size in np.unique(filled[chosen]):
            bags, rows, segments = bags_of.select_repeated(filled == size)
            columns = _columns(rows, segments, size)
            if exact[bags[0]]:
                yield SmallBags(bags, columns, lower[bags].astype(np.intp))
            else:
                yield WeightedBags(bags, columns, _log_weights(counts, bags, size))


def _log_weights(known: ClassCounts, bags: NDArray[np.intp], size: int) -> FloatArray:
    """Return log ν_k of each bag as a column, k = 0 … size."""
    counts, lower = np.arange(size + 1.0)[:, None], known.lower[bags, 1]
    inside = (counts >= lower) & (counts <= known.upper[bags, 1])
    logs = np.where(inside, 0.0, -np.inf)
    for noise, some in by_noise(known.noise, bags):
        logs[:, some] = noise.log_density(lower[some] - counts)
    return logs


def _listed(known: ClassCounts, bags: NDArray[np.intp], sizes: NDArray[np.intp]) -> WeightedCounts:
    """Return the counts of large bags: those of a range, all counts if there is noise."""
    noisy, lower, upper = known.is_noisy[bags], known.lower[bags, 1], known.upper[bags, 1]
    first = np.where(noisy, 0, lower).astype(np.intp)
    last = np.where(noisy, sizes, upper).astype(np.intp)
    segments = Segments(last - first + 1)
    counts = np.arange(segments.lengths.sum()) + segments.spread(first - segments.starts)
    logs, decay = np.zeros(len(counts)), np.full(len(bags), np.inf)
    for noise, some in by_noise(known.noise, bags):
        chosen = segments.spread(np.isin(np.arange(len(bags)), some))
        reported = segments.spread(lower)
        logs[chosen] = noise.log_density((reported - counts)[chosen])
        decay[some] = getattr(noise, "decay", np.inf)
    return WeightedCounts(segments, counts.astype(float), logs, lower, upper, decay)


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
    columns = np.full((len(segments.lengths), size), -1, dtype=np.intp)
    columns[np.arange(size) < segments.lengths[:, None]] = rows
    return np.ascontiguousarray(columns.T)


def _size_threshold(large_bags: float | str) -> float:
    if large_bags == "auto":
        return LARGE_BAG
    if isinstance(large_bags, str) or not large_bags >= 1:
        raise ValueError(
            f"large_bags={large_bags!r}: give 'auto' or the largest bag size to compute exactly, a "
            "number of at least 1 (numpy.inf for all bags)"
        )
    return float(large_bags)
