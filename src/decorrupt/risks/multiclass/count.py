"""Count likelihood of several classes: the probability of the class counts in each bag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb
from scipy.stats import norm

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.corruption.class_shares import is_share_row
from decorrupt.risks.bag_observations import counts_of_sum, observe_class_counts
from decorrupt.risks.count_noise import by_noise, noise_variances, read_count_noise
from decorrupt.risks.multiclass.exact_counts import CountLattice, ExactBags
from decorrupt.risks.multiclass.normal_counts import NormalBags
from decorrupt.risks.multiclass.range_counts import (
    MOST_VECTORS,
    NormalRangeBags,
    possible_vectors,
)
from decorrupt.risks.multiclass.softmax import SoftmaxRisk, log_softmax, slope_in_scores
from decorrupt.risks.observations import CountObservations, describe_rounded
from decorrupt.risks.segments import Segments

# A bag with at most this many count vectors below its own is exact: all bags of up to 9 rows, and
# bags of 3 classes of up to 21 rows.
EXACT_VECTORS = 512
# Rounding error of an n·p that is a whole number in exact arithmetic.
WHOLE = 1e-6
# Half a unit in the last digit of a share printed with two digits: 0.33 of 9 rows is 3.
# The 1e-9 allows for rounding of the difference.
PRINTED_TOL = 0.005 + 1e-9


@dataclass(frozen=True)
class PureBags:
    """Bags with one class only, such as bags of one row: Σ log p_jc, softmax cross-entropy."""

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    segments: Segments
    labels: NDArray[np.intp]

    def log_prob_and_slope(self, log_prob: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ_j log p_jc, and its slope in the log-probabilities: 1 for class c."""
        slope = np.zeros((len(self.rows), log_prob.shape[1]))
        slope[np.arange(len(self.rows)), self.labels] = 1.0
        return self.segments.sum(log_prob[self.rows, self.labels]), slope


BagGroup = PureBags | ExactBags | NormalBags | NormalRangeBags


@dataclass(frozen=True)
class ClassCountRisk(SoftmaxRisk):
    """−(1/n)·Σ_b log P(Σ_{j∈b} e_{Y_j} = k_b), P(Y_j=c) = softmax(f_j)_c, in the scores.

    See :func:`class_count_risk`. For exact bags its slope is [p_jc − P(Y_j=c | k_b)]/n. Bags in no
    group add nothing: all their counts are possible.
    """

    n_rows: int
    n_bags: int
    groups: tuple[BagGroup, ...]

    @property
    def is_convex(self) -> bool:
        """Whether every bag has one class only."""
        return all(isinstance(group, PureBags) for group in self.groups)

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        log_prob = log_softmax(scores)
        by_bag, slope = self.log_probs_and_slope(log_prob)
        slope = slope_in_scores(slope, np.exp(log_prob)) / -self.n_rows
        return -float(by_bag.sum()) / self.n_rows, slope

    def log_probs_and_slope(self, log_prob: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(k_b) of every bag, and the slope of their sum in the log p_jc."""
        by_bag, slope = np.zeros(self.n_bags), np.exp(log_prob)
        for group in self.groups:
            by_bag[group.bags], slope[group.rows] = group.log_prob_and_slope(log_prob)
        return by_bag, slope


def class_count_risk(
    strata: Strata, *, count_noise: Any = None, observations: CountObservations | None = None
) -> ClassCountRisk:
    """Return −(1/n)·Σ_b log P(k_b) for bags with the class counts k_b = n_b·Γ_b.

    Bags with at most 512 count vectors below k_b are exact (all bags of up to 9 rows); others use
    a normal approximation, see :class:`NormalBags`. Counts that are not whole are rounded, see
    :func:`whole_counts`. Ranges of counts are exact up to 512 count vectors below the upper ends
    or of that many rows; others are the sum of the approximation over all possible vectors.

    Parameters
    ----------
    strata : Strata
        The bags and the shares of their classes, shape (n_bags, n_classes).
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float, mapping or None
        Independent noise in the count of each class, see
        :func:`decorrupt.risks.count_noise.read_count_noise`. Bags with noise have
        comb(n_b + K, K) count vectors, and are exact up to 512 of them (12 rows of 3 classes);
        others use the normal approximation, with a variance larger by that of the noise.
    observations : CountObservations, optional
        Ranges, or reported counts and their noise; replaces the shares and `count_noise`.

    Raises
    ------
    ValueError
        If more than 4096 count vectors are possible in a large bag with ranges.
    """
    observed = observations or observe_class_counts(strata, count_noise)
    groups = tuple(_group_bags(strata, observed))
    return ClassCountRisk(len(strata.row_stratum), len(strata.ids), groups)


def class_count_log_likelihood(
    probabilities: ArrayLike, strata: Strata, *, count_noise: Any = None
) -> FloatArray:
    """Return log P(k_b) of every bag, given P(Y_j=c) of every row: a proper scoring rule.

    Parameters
    ----------
    probabilities : array-like of shape (n_rows, n_classes)
        P(Y=c|x); rows sum to 1. Zeros are replaced by the precision (2.2e-16 for float64), so that
        every log-likelihood is finite.
    strata, count_noise
        As in :func:`class_count_risk`.

    Returns
    -------
    ndarray of shape (n_bags,)
        In the order of ``strata.ids``.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.corruption import strata_from_bags
    >>> from decorrupt.risks.multiclass import class_count_log_likelihood
    >>> bags = strata_from_bags(["a", "a"], [[0.5, 0.5, 0.0]] * 2)
    >>> np.exp(class_count_log_likelihood([[0.5, 0.3, 0.2], [0.6, 0.4, 0]], bags)).round(3).tolist()
    [0.38]
    """
    log_prob = class_log_probabilities(probabilities, strata)
    observed = strata.observed if count_noise is None else None
    risk = class_count_risk(strata, count_noise=count_noise, observations=observed)
    return risk.log_probs_and_slope(log_prob)[0]


def class_log_probabilities(probabilities: ArrayLike, strata: Strata) -> FloatArray:
    """Return log P(Y=c|x), finite: zeros are replaced by the float precision.

    Raises
    ------
    ValueError
        If there is not one row of probabilities per row of the strata.
    """
    probabilities = np.asarray(probabilities)
    if probabilities.dtype.kind != "f":
        probabilities = probabilities.astype(float)
    expected = strata.row_proportions.shape
    if probabilities.shape != expected:
        raise ValueError(
            f"probabilities have shape {probabilities.shape}: give one P(Y=c|x) for each of the "
            f"{expected[0]} rows and {expected[1]} classes"
        )
    for row in np.flatnonzero(~is_share_row(probabilities.astype(float)))[:1]:
        raise ValueError(
            f"probabilities[{row}] = {probabilities[row].tolist()} must lie in [0, 1] and sum to 1"
        )
    precision = np.finfo(probabilities.dtype).eps
    return log_softmax(np.log(np.maximum(probabilities, precision)))


def describe_rounded_classes(strata: Strata, count_noise: Any) -> str:
    """Return a message naming bags whose class counts are changed by rounding; "" if none is.

    The tolerance allows for shares printed with two digits. The count of the class that changes
    most is shown.
    """
    sizes, shares = strata.sizes, strata.proportions
    shift = np.abs(shares - whole_counts(strata) / sizes[:, None])
    given = shares[np.arange(len(sizes)), shift.argmax(axis=1)] * sizes
    is_noisy = noise_variances(read_count_noise(strata.ids, count_noise)) > 0
    bags = np.flatnonzero((shift.max(axis=1) > PRINTED_TOL) & ~is_noisy)
    return describe_rounded(strata, bags, given, "rows of each class; the nearest counts are used")


def whole_counts(strata: Strata) -> NDArray[np.intp]:
    """Return k_b = n_b·Γ_b rounded to whole numbers that sum to n_b, by the largest remainders."""
    given = strata.sizes[:, None] * strata.proportions
    counts = np.floor(given + WHOLE)
    missing = strata.sizes - counts.sum(axis=1)
    by_remainder = np.argsort(counts - given, axis=1, kind="stable")
    rank = np.argsort(by_remainder, axis=1)
    return np.asarray(counts + (rank < missing[:, None]), dtype=np.intp)


def _group_bags(strata: Strata, observed: CountObservations) -> Iterator[BagGroup]:
    """Yield groups that contain every bag about which something is observed once."""
    sizes, n_classes = strata.sizes, strata.proportions.shape[1]
    by_bag, all_rows = np.argsort(strata.row_stratum, kind="stable"), Segments(sizes)

    def select(chosen: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp], Segments]:
        bags = np.flatnonzero(chosen)
        return bags, by_bag[all_rows.spread(chosen)], Segments(sizes[bags])

    is_noisy = observed.is_noisy
    is_range = ~is_noisy & ~observed.is_exact
    counts = whole_counts(strata)  # without ranges, the observed counts can be rounded ones
    low, high = (
        np.where(is_range[:, None], ends, counts).astype(np.intp)
        for ends in (observed.lower, observed.upper)
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
        bags, rows, segments = select(small)
        yield ExactBags.of_ranges(bags, rows, segments.sizes, low[bags], high[bags])
    for size in np.unique(sizes[weighted]).tolist():
        bags, rows, _ = select(weighted & (sizes == size))
        lattice = CountLattice.of(size, n_classes)
        yield ExactBags.of_weights(bags, rows, lattice, _log_weights(observed, bags, lattice))
    if (normal & is_range).any():
        bags, rows, segments = select(normal & is_range)
        vectors = [_vectors_of(strata, low, high, bag) for bag in bags.tolist()]
        choices = Segments(np.array([len(some) for some in vectors]))
        yield NormalRangeBags(bags, rows, segments, np.vstack(vectors), choices)
    if (normal & ~is_range).any():
        bags, rows, segments = select(normal & ~is_range)
        given = np.where(is_noisy[:, None], counts_of_sum(observed.lower, sizes), counts)
        variance = noise_variances([observed.noise[bag] for bag in bags.tolist()])
        excess = observed.lower[bags].sum(axis=1) - sizes[bags]
        density = norm.logpdf(excess, scale=np.sqrt(np.where(variance, n_classes * variance, 1)))
        density[variance == 0] = 0.0
        yield NormalBags(bags, rows, segments, given[bags], variance, density)


def _vectors_of(
    strata: Strata, lower: NDArray[np.intp], upper: NDArray[np.intp], bag: int
) -> NDArray[np.intp]:
    size = int(strata.sizes[bag])
    vectors = possible_vectors(lower[bag], upper[bag], size)
    if vectors is None:
        raise ValueError(
            f"the ranges of bag {strata.ids.tolist()[bag]!r} of {size} rows allow more than "
            f"{MOST_VECTORS} vectors of {lower.shape[1]} class counts: give narrower ranges, or "
            "leave the bag out"
        )
    return vectors


def _log_weights(
    observed: CountObservations, bags: NDArray[np.intp], lattice: CountLattice
) -> FloatArray:
    """Return log ν_k of each bag and vector: 0 inside a range, Σ_c log P(noise) if noisy."""
    vectors = lattice.vectors
    low, high = observed.lower[bags, None], observed.upper[bags, None]
    inside = ((vectors >= low) & (vectors <= high)).all(axis=2)
    logs = np.where(inside, 0.0, -np.inf)
    for noise, some in by_noise(observed.noise, bags):
        logs[some] = noise.log_density(low[some] - vectors).sum(axis=2)
    return logs
