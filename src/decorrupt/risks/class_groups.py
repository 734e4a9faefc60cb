"""Groups of bags with several classes, by how the probability of their counts is computed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb
from scipy.stats import norm

from decorrupt._typing import FloatArray
from decorrupt.observed import ClassCounts, by_noise, counts_of_sum
from decorrupt.risks.bag_rows import BagRows, PureBags
from decorrupt.risks.class_group import ClassGroup
from decorrupt.risks.exact_counts import CountLattice, ExactBags
from decorrupt.risks.normal_counts import NormalBags
from decorrupt.risks.range_counts import MOST_VECTORS, NormalRangeBags, possible_vectors
from decorrupt.risks.segments import Segments

# A bag with at most this many count vectors below its own is exact: all bags of up to 9 rows, and
# bags of 3 classes of up to 21 rows.
EXACT_VECTORS = 512


def class_groups(bags_of: BagRows, counts: ClassCounts) -> Iterator[ClassGroup | PureBags]:
    """Yield groups that contain every bag about which something is known once."""
    sizes, n_classes = bags_of.sizes, counts.lower.shape[1]
    select = bags_of.select
    is_noisy = counts.is_noisy
    is_range = ~is_noisy & ~counts.is_exact
    low, high = (
        np.where(is_noisy[:, None], 0, ends).astype(np.intp)
        for ends in (counts.lower, counts.upper)
    )
    pure = ~is_noisy & (low.max(axis=1) == sizes)
    silent = ~is_noisy & (low == 0).all(axis=1) & (high == sizes[:, None]).all(axis=1)
    rest = ~pure & ~silent
    # As floats: the product can exceed any integer type.
    small = rest & ~is_noisy & (np.prod(high + 1.0, axis=1) <= EXACT_VECTORS)
    few_vectors = np.asarray(comb(sizes + n_classes, n_classes) <= EXACT_VECTORS)
    weighted = rest & ~small & (is_noisy | is_range) & few_vectors
    normal = rest & ~small & ~weighted
    if pure.any():
        bags, rows, segments = select(pure)
        yield PureBags(bags, rows, segments, segments.spread(low[bags].argmax(axis=1)))
    if small.any():
        bags, rows, segments = bags_of.select_repeated(small)
        yield ExactBags.of_ranges(bags, rows, segments.sizes, low[bags], high[bags])
    for size in np.unique(sizes[weighted]).tolist():
        bags, rows, _ = bags_of.select_repeated(weighted & (sizes == size))
        lattice = CountLattice.of(size, n_classes)
        yield ExactBags.of_weights(bags, rows, lattice, _log_weights(counts, bags, lattice))
    if (normal & is_range).any():
        bags, rows, segments = select(normal & is_range)
        vectors = [_vectors_of(bags_of, low, high, bag) for bag in bags.tolist()]
        choices = Segments(np.array([len(some) for some in vectors]))
        yield NormalRangeBags(bags, rows, segments, np.vstack(vectors), choices)
    if (normal & ~is_range).any():
        bags, rows, segments = select(normal & ~is_range)
        given = np.where(is_noisy[:, None], counts_of_sum(counts.lower, sizes), low)
        variance = counts.noise_variance[bags]
        excess = counts.lower[bags].sum(axis=1) - sizes[bags]
        density = norm.logpdf(excess, scale=np.sqrt(np.where(variance, n_classes * variance, 1)))
        density[variance == 0] = 0.0
        yield NormalBags(bags, rows, segments, given[bags], variance, density)


def _vectors_of(
    bags_of: BagRows, lower: NDArray[np.intp], upper: NDArray[np.intp], bag: int
) -> NDArray[np.intp]:
    size = int(bags_of.sizes[bag])
    vectors = possible_vectors(lower[bag], upper[bag], size)
    if vectors is None:
        raise ValueError(
            f"the ranges of bag {bags_of.ids.tolist()[bag]!r} of {size} rows allow more than "
            f"{MOST_VECTORS} vectors of {lower.shape[1]} class counts: give narrower ranges, or "
            "leave the bag out"
        )
    return vectors


def _log_weights(counts: ClassCounts, bags: NDArray[np.intp], lattice: CountLattice) -> FloatArray:
    """Return log ν_k of each bag and vector: 0 inside a range, Σ_c log P(noise) if noisy."""
    vectors = lattice.vectors
    low, high = counts.lower[bags, None], counts.upper[bags, None]
    inside = ((vectors >= low) & (vectors <= high)).all(axis=2)
    logs = np.where(inside, 0.0, -np.inf)
    for noise, some in by_noise(counts.noise, bags):
        logs[some] = noise.log_density(low[some] - vectors).sum(axis=2)
    return logs
