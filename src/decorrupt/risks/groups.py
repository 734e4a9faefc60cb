"""Groups of bags, by how the probability of what was observed about them is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb

from decorrupt._typing import FloatArray
from decorrupt.losses import (
    label_likelihood_and_slope,
    likelihood_and_slope,
    likelihood_curvature,
    probabilities,
)
from decorrupt.observed import ClassCounts, CountNoise, GaussianNoise, Observed, counts_of_sum
from decorrupt.risks.class_counts import (
    ExactCounts,
    NormalCounts,
    box_lattice,
    possible_vectors,
    simplex_lattice,
)
from decorrupt.risks.poisson_binomial import poisson_binomial, weighted_counts
from decorrupt.risks.segments import BagRows, Segments, ValueAndSlope
from decorrupt.risks.tilted_normal import PossibleCounts, tilted_normal, tilted_weights

# Up to this size the exact O(n²) sums of two classes cost less than computing the features of
# these rows.
LARGE_BAG = 256
# The fixed cost of one pass of the product tree, in multiply-adds (a pass has n² of them per bag):
# about 0.1 ms of calls, and about 1.2 ns per multiply-add.
PASS_COST = 80_000
# A bag of several classes with at most this many count vectors below its own is exact: all bags of
# up to 9 rows, and bags of 3 classes of up to 21 rows.
EXACT_VECTORS = 512


Kernel = Callable[[FloatArray], ValueAndSlope]


@dataclass(frozen=True, eq=False)
class Group:
    """Some bags, and functions of the scores of their rows.

    Parameters
    ----------
    bags : ndarray of int, shape (n_bags,)
        Which bags these are.
    rows : ndarray of int
        Their rows, bag by bag; or of small bags of two classes one column per bag, padded with row
        −1. For exact sums a row of weight m is listed m times.
    log_prob_and_slope : callable
        Returns log P(observation) of every bag, and its slope in the scores of these rows.
    posterior : callable, optional
        Returns P(Y_j=c | observation), where it is more accurate than from the slope.
    curvature : callable, optional
        Returns minus the second derivative, where every row has its own observation.
    is_convex : bool
        Whether −log P(observation) is known to be convex.
    """

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    log_prob_and_slope: Kernel
    posterior: Callable[[FloatArray], FloatArray] | None = None
    curvature: Callable[[FloatArray], FloatArray] | None = None
    is_convex: bool = False


Kernels = Callable[[Observed, BagRows, NDArray[np.bool_]], Iterator[Group]]


def group_bags(observed: Observed, kernels: Kernels) -> Iterator[Group]:
    """Yield groups that contain every bag about which something is known once.

    `kernels` makes the groups of bags whose counts allow several labellings.
    """
    rows, counts, sizes = BagRows(observed), observed.counts, observed.sizes
    if observed.given is not None:
        noisy = rows.order[np.ptp(observed.given[rows.order], axis=1) > 0]
        weights = None if observed.weights is None else observed.weights[noisy]
        yield noisy_rows(noisy, observed.row_bag[noisy], observed.given[noisy], weights)
    pure = ~counts.is_noisy & (counts.lower.max(axis=1) == sizes)
    if pure.any():
        bags, members, segments = rows.select(pure)
        labels = segments.spread(counts.lower[bags].argmax(axis=1))
        label_likelihood = partial(label_likelihood_and_slope, labels=labels)
        kernel = partial(sum_rows, kernel=label_likelihood, segments=segments)
        yield Group(bags, members, kernel, curvature=label_curvature, is_convex=True)
    is_any = ((counts.lower == 0) & (counts.upper == sizes[:, None])).all(axis=1)
    rest = ~pure & (counts.is_noisy | ~is_any)
    if rest.any():
        yield from kernels(observed, rows, rest)


def sum_rows(scores: FloatArray, kernel: Kernel, segments: Segments) -> ValueAndSlope:
    """Return the sum of a kernel of rows over each bag, and its slope."""
    value, slope = kernel(scores)
    return segments.sum(value), slope


def label_curvature(scores: FloatArray) -> FloatArray:
    """Return P(Y=1|x)·P(Y=0|x)."""
    return np.asarray(probabilities(scores).prod(axis=1))


def noisy_rows(
    rows: NDArray[np.intp],
    row_bag: NDArray[np.intp],
    given: FloatArray,
    weights: NDArray[Any] | None,
) -> Group:
    """Return rows with their own observations, such as noisy labels: Σ_j log Σ_c given_jc·P(Y_j=c).

    The rows are sorted by bag; usually every row is a bag. `given` has shape (n_rows, n_classes):
    P(observation of row j | Y=c), up to a factor per row.
    """
    bags, lengths = np.unique(row_bag, return_counts=True)
    with np.errstate(divide="ignore"):  # −∞ is right: that class is excluded
        log_given = np.log(given)
    likelihood = partial(likelihood_and_slope, log_given=log_given)
    kernel = partial(sum_rows, kernel=likelihood, segments=Segments(lengths, weights))
    curvature = partial(likelihood_curvature, log_given=log_given)
    # Convex where every observation determines its row's class or has no information about it.
    is_label, says_nothing = (given > 0).sum(axis=1) == 1, np.ptp(given, axis=1) == 0
    is_convex = bool((is_label | says_nothing).all())
    return Group(bags, rows, kernel, curvature=curvature, is_convex=is_convex)


def two_class_groups(
    observed: Observed, rows: BagRows, chosen: NDArray[np.bool_], *, large_bags: float | str
) -> Iterator[Group]:
    """Yield groups of the chosen bags, those with more rows than `large_bags` approximated.

    Small bags of similar sizes are padded to a common size and computed together.
    """
    counts, sizes = observed.counts, observed.sizes
    lower, upper, is_exact = counts.lower[:, 1], counts.upper[:, 1], counts.is_exact
    is_large = sizes > (LARGE_BAG if large_bags == "auto" else large_bags)
    gaussian = np.array([isinstance(noise, GaussianNoise) for noise in counts.noise])
    normal = chosen & is_large & (gaussian | is_exact)
    if normal.any():
        bags, members, segments = rows.select(normal)
        known = {"counts": lower[bags], "noise_variance": counts.noise_variance[bags]}
        yield Group(bags, members, partial(tilted_normal, bags=segments, **known))
    listed = chosen & is_large & ~normal
    if listed.any():
        bags, members, segments = rows.select(listed)
        noisy, ends = counts.is_noisy[bags], (lower[bags], upper[bags])
        first = np.where(noisy, 0, ends[0]).astype(np.intp)
        choices = Segments(np.where(noisy, sizes[bags], ends[1]).astype(np.intp) - first + 1)
        values = np.arange(choices.lengths.sum()) + choices.spread(first - choices.starts)
        place = choices.spread(np.arange(len(bags)))
        logs = log_weights(counts, bags, place, values[:, None])
        decay = np.array([getattr(counts.noise[bag], "decay", np.inf) for bag in bags])
        possible = PossibleCounts(choices, values.astype(float), logs, *ends, decay)
        yield Group(bags, members, partial(tilted_weights, bags=segments, possible=possible))
    for some in (chosen & ~is_large & is_exact, chosen & ~is_large & ~is_exact):
        padded = np.zeros_like(sizes)
        padded[some] = np.maximum(padded_sizes(sizes[some]), 2)  # the tree has two halves
        for size in np.unique(padded[some]).tolist():
            bags, members, segments = rows.select(padded == size, repeated=True)
            columns = np.full((len(bags), size), -1, dtype=np.intp)
            columns[np.arange(size) < segments.lengths[:, None]] = members
            if is_exact[bags[0]]:
                kernel = partial(poisson_binomial, counts=lower[bags].astype(np.intp))
            else:
                bag, values = np.divmod(np.arange(len(bags) * (size + 1)), size + 1)
                logs = log_weights(counts, bags, bag, values[:, None]).reshape(len(bags), -1)
                kernel = partial(weighted_counts, log_weights=np.ascontiguousarray(logs.T))
            yield Group(bags, np.ascontiguousarray(columns.T), kernel)


def padded_sizes(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
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
    padded, end = distinct.copy(), len(distinct)
    while end:
        padded[cut[end] : end] = distinct[end - 1]
        end = cut[end]
    return np.asarray(padded[np.searchsorted(distinct, sizes)])


def class_groups(observed: Observed, rows: BagRows, chosen: NDArray[np.bool_]) -> Iterator[Group]:
    """Yield groups of the chosen bags, for any number of classes."""
    counts, sizes, n_classes = observed.counts, observed.sizes, observed.n_classes
    is_noisy, is_exact = counts.is_noisy, counts.is_exact
    low, high = (
        np.where(is_noisy[:, None], 0, ends).astype(np.intp)
        for ends in (counts.lower, counts.upper)
    )
    # As floats: the product can exceed any integer type.
    boxed = chosen & ~is_noisy & (np.prod(high + 1.0, axis=1) <= EXACT_VECTORS)
    few_vectors = np.asarray(comb(sizes + n_classes, n_classes) <= EXACT_VECTORS)
    weighted = chosen & ~boxed & ~is_exact & few_vectors
    for some in [boxed, *(weighted & (sizes == size) for size in np.unique(sizes[weighted]))]:
        bags, members, segments = rows.select(some, repeated=True)
        if not len(bags):
            continue
        if some is boxed:
            lattice = box_lattice(segments.sizes, high[bags])
        else:
            lattice = simplex_lattice(len(bags), int(sizes[bags[0]]), n_classes)
        logs = log_weights(counts, bags, lattice.bag, lattice.vectors)
        exact = ExactCounts.of(segments.sizes, lattice, logs)
        yield Group(bags, members, exact.log_prob_and_slope, exact.posterior)
    rest = chosen & ~boxed & ~weighted
    ranges = rest & ~is_noisy & ~is_exact
    if ranges.any():
        bags, members, segments = rows.select(ranges)
        names = observed.ids.tolist()
        vectors = [possible_vectors(low[b], high[b], sizes[b], names[b]) for b in bags.tolist()]
        choices = Segments(np.array([len(some) for some in vectors]))
        near = NormalCounts(segments, np.vstack(vectors), np.zeros(len(bags)), choices=choices)
        yield Group(bags, members, near.log_prob_and_slope, near.posterior)
    single = rest & ~ranges
    if single.any():
        bags, members, segments = rows.select(single)
        reported, variance = counts.lower[bags], counts.noise_variance[bags]
        # Of the reported sum of noisy counts, n + N(0, K·s²); 0 without noise.
        excess = reported.sum(axis=1) - sizes[bags]
        spread = np.where(variance > 0, n_classes * variance, 1 / (2 * np.pi))
        density = -0.5 * (excess**2 / spread + np.log(2 * np.pi * spread))
        near = NormalCounts(segments, counts_of_sum(reported, sizes[bags]), variance, density)
        yield Group(bags, members, near.log_prob_and_slope, near.posterior)


def log_weights(
    counts: ClassCounts,
    bags: NDArray[np.intp],
    place: NDArray[np.intp],
    vectors: NDArray[np.intp],
) -> FloatArray:
    """Return log ν of count vectors: 0 inside the ranges, Σ_c log P(noise) of noisy counts.

    The vectors, of shape (n_vectors, n_classes), belong to the bags ``bags[place]``. Of two classes
    they are the counts of the second.
    """
    low, high = (ends[bags, -vectors.shape[1] :][place] for ends in (counts.lower, counts.upper))
    logs = np.where(((vectors >= low) & (vectors <= high)).all(axis=1), 0.0, -np.inf)
    number: dict[CountNoise | None, int] = {}
    noise = [number.setdefault(counts.noise[bag], len(number)) for bag in bags.tolist()]
    by_noise = np.array(noise)[place]
    parts: list[Any] = [slice(None)]  # much faster for one noise of all bags
    if len(number) > 1:
        cuts = np.cumsum(np.bincount(by_noise, minlength=len(number)))[:-1]
        parts = np.split(np.argsort(by_noise, kind="stable"), cuts)
    for distribution, some in zip(number, parts, strict=True):
        if distribution is not None:
            logs[some] = distribution.log_density(low[some] - vectors[some]).sum(axis=1)
    return logs
