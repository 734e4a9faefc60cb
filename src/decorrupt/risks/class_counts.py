"""The class counts of bags with several classes: exact, or in large bags normal.

The exact probability is computed by dynamic programming over count vectors.

Let F(s) be the probability that the first |s| rows of a bag have the class counts s, and B(s) that
its other rows have the counts k − s, with k the counts of the whole bag. Then F(0) = B(k) = 1,

    F(s) = Σ_c F(s − e_c)·p_jc with j = |s|,    B(s) = Σ_c p_jc·B(s + e_c) with j = |s| + 1,

P(k) = F(k), and row j has class c with probability Σ_{|s|=j−1} F(s)·p_jc·B(s + e_c)/P(k).

If several vectors k of n rows are possible, each has a weight ν_k: 1 inside the ranges of counts,
the probability of the noise of reported counts. Then B(k) = ν_k for |k| = n, and
B(0) = Σ_k ν_k·P(k) is the probability of what is observed.

The steps s → s + e_c of all bags are listed level by level (|s| = 0, 1, …), so that a level is a
few numpy calls for bags of all sizes. All sums are taken in logarithms: no score is too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import log_probabilities, slope_in_scores
from decorrupt.risks.segments import Segments, ValueAndSlope

# A bag with more possible count vectors is refused: their sum is taken in every evaluation.
MAX_VECTORS = 4096
# Of proportional fitting: the largest difference between a class's sum over a bag and its count,
# per row of the bag.
FIT_TOL = 1e-9
MAX_SWEEPS = 1000


class Lattice(NamedTuple):
    """Count vectors s of some bags, bag by bag from s = 0, and the steps s → s + e_c."""

    bag: NDArray[np.intp]  # of each vector
    vectors: NDArray[np.intp]  # s, shape (n_vectors, n_classes)
    start: NDArray[np.intp]  # the number of s
    added: NDArray[np.intp]  # c
    end: NDArray[np.intp]  # the number of s + e_c


def box_lattice(sizes: NDArray[np.intp], upper: NDArray[np.intp]) -> Lattice:
    """Return the Π_c(k_c + 1) vectors s ≤ k of each bag, with k its largest possible counts."""
    lengths = upper + 1
    n_vectors = lengths.prod(axis=1)
    strides = lengths.cumprod(axis=1) // lengths
    bag = np.repeat(np.arange(len(sizes)), n_vectors)
    index = np.arange(len(bag)) - (np.cumsum(n_vectors) - n_vectors)[bag]
    vectors = index[:, None] // strides[bag] % lengths[bag]
    has_more_rows = vectors.sum(axis=1) < sizes[bag]
    start, added = np.nonzero((vectors < upper[bag]) & has_more_rows[:, None])
    return Lattice(bag, vectors, start, added, start + strides[bag[start], added])


def simplex_lattice(n_bags: int, size: int, n_classes: int) -> Lattice:
    """Return the comb(size + n_classes, n_classes) vectors with |s| ≤ size, for every bag."""
    no_rows, all_rows = np.zeros(n_classes + 1, np.intp), np.full(n_classes + 1, size)
    vectors = possible_vectors(no_rows, all_rows, size)[:, :-1]  # without the rows left over
    vectors = vectors[np.argsort(vectors.sum(axis=1), kind="stable")]
    numbers = {tuple(vector): number for number, vector in enumerate(vectors.tolist())}
    has_more_rows = vectors.sum(axis=1) < size
    start, added = np.nonzero(np.repeat(has_more_rows[:, None], n_classes, axis=1))
    ends = vectors[start] + np.eye(n_classes, dtype=np.intp)[added]
    end = np.array([numbers[tuple(vector)] for vector in ends.tolist()])
    bag, step_bag = (np.repeat(np.arange(n_bags), len(each)) for each in (vectors, start))
    start, end = (np.tile(each, n_bags) + len(vectors) * step_bag for each in (start, end))
    return Lattice(bag, np.tile(vectors, (n_bags, 1)), start, np.tile(added, n_bags), end)


def possible_vectors(
    lower: NDArray[np.intp], upper: NDArray[np.intp], size: int, bag: Any = None
) -> NDArray[np.intp]:
    """Return all k with lower ≤ k ≤ upper and Σ_c k_c = size, in lexicographic order.

    The vectors are extended class by class. Those whose rest cannot be reached with the other
    classes are dropped, so that every part that is kept leads to at least one vector. If they are
    too many, a ValueError names the bag.
    """
    parts = np.zeros((1, 0), dtype=np.intp)
    for c in range(len(lower)):
        counts = np.arange(lower[c], upper[c] + 1)
        before = np.repeat(parts, len(counts), axis=0)
        parts = np.column_stack([before, np.tile(counts, len(parts))])
        rest = size - parts.sum(axis=1)
        parts = parts[(rest >= lower[c + 1 :].sum()) & (rest <= upper[c + 1 :].sum())]
        if len(parts) > MAX_VECTORS:
            raise ValueError(
                f"the ranges of bag {bag!r} of {size} rows allow more than {MAX_VECTORS} vectors "
                f"of {len(lower)} class counts: give narrower ranges, or leave the bag out"
            )
    return parts


class Steps(NamedTuple):
    """Steps of one level, in the order of the vectors `target` they lead to."""

    source: NDArray[np.intp]  # the vector each step comes from
    entry: NDArray[np.intp]  # the index of p_jc among the probabilities of all rows and classes
    target: NDArray[np.intp]  # the vectors that are reached
    segments: Segments  # how many steps lead to each of them


@dataclass(frozen=True, eq=False)
class ExactCounts:
    """Bags with few possible count vectors."""

    bag_of_vector: NDArray[np.intp]  # in ascending order; the first vector of a bag is 0
    forward: Sequence[Steps]  # s − e_c → s from |s| = 1 up
    backward: Sequence[Steps]  # s + e_c → s from the largest |s| down
    log_weights: FloatArray  # log ν_k of the vectors of all rows; the others are not used

    @classmethod
    def of(cls, sizes: NDArray[np.intp], lattice: Lattice, log_weights: FloatArray) -> ExactCounts:
        """List the steps of bags with these numbers of rows, level by level."""
        bag, vectors, start, added, end = lattice
        level = vectors.sum(axis=1)[start]
        row = (np.cumsum(sizes) - sizes)[bag[start]] + level
        entry = row * vectors.shape[1] + added
        forward = _by_level(level, start, entry, end)
        return cls(bag, forward, _by_level(level, end, entry, start)[::-1], log_weights)

    def log_prob_and_slope(self, scores: FloatArray) -> ValueAndSlope:
        """Return log Σ_k ν_k·P(k) of every bag, and its slope in the scores, sorted by bag."""
        log_prob = log_probabilities(scores)
        log_count, posterior = self._log_count_and_posterior(log_prob)
        return log_count, slope_in_scores(posterior, np.exp(log_prob))

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y_j=c | observation): exactly 0 where a class is impossible."""
        return self._log_count_and_posterior(log_probabilities(scores))[1]

    def _log_count_and_posterior(self, log_prob: FloatArray) -> ValueAndSlope:
        entries, bag = log_prob.ravel(), self.bag_of_vector
        before = _propagate(self.forward, entries, np.zeros(len(bag)))
        after = _propagate(self.backward, entries, self.log_weights)
        log_count = after[np.flatnonzero(np.diff(bag, prepend=-1))]
        before -= log_count[bag]
        joint = [
            before[step.source] + entries[step.entry] + step.segments.spread(after[step.target])
            for step in self.forward
        ]
        sums = np.bincount(self._entries, np.exp(np.concatenate(joint)), len(entries))
        return log_count, sums.astype(float, copy=False).reshape(log_prob.shape)

    @cached_property
    def _entries(self) -> NDArray[np.intp]:
        return np.concatenate([step.entry for step in self.forward])


def _by_level(
    level: NDArray[np.intp],
    source: NDArray[np.intp],
    entry: NDArray[np.intp],
    target: NDArray[np.intp],
) -> list[Steps]:
    order = np.lexsort((target, level))
    cuts = np.flatnonzero(np.diff(level[order])) + 1
    steps = []
    for some in np.split(order, cuts):
        reached, n_steps = np.unique(target[some], return_counts=True)
        steps.append(Steps(source[some], entry[some], reached, Segments(n_steps)))
    return steps


def _propagate(levels: Sequence[Steps], entries: FloatArray, logs: FloatArray) -> FloatArray:
    """Return log F or log B of every vector, from their values where no step leads."""
    logs = logs.copy()
    for step in levels:
        logs[step.target] = step.segments.log_sum(logs[step.source] + entries[step.entry])
    return logs


@dataclass(frozen=True, eq=False)
class NormalCounts:
    """Bags with too many possible count vectors for an exact sum: log Σ_k P(k) over those observed.

    Counts have the mean μ = Σp_j and the covariance Σ_j(diag p_j − p_j·p_jᵀ), which is singular:
    they sum to n. With the centring matrix C = I − 11ᵀ/K,

        log P(k) ≈ ½·log K − ½(K−1)·log 2π − ½·log det S − ½(k−μ)ᵀS⁻¹(k−μ),
        S = Σ_j(diag p_j − p_j·p_jᵀ) + v·C + 11ᵀ/K,  v = 1/12 + 1/(6K).

    The last term of S makes it regular and changes nothing, as k−μ sums to 0. v·C is the covariance
    of what is lost by rounding to the nearest count vector (the second moment of the lattice
    A_{K−1}); for K = 2 the count of one class has the variance Σp(1−p) + 1/12. All classes are
    treated alike. A density can exceed 1: by up to ½·log K − ½(K−1)·log 2πv where all rows are
    certain and right. Independent noise of variance s² in the count of each class adds s² to v, if
    the noisy counts are corrected to sum to n by equal amounts: n is known, so Gaussian counts
    contain nothing about k in their sum. Of other noise only the variance is used.

    Parameters
    ----------
    segments : Segments
        The rows of each bag.
    vectors : ndarray of shape (n_vectors, n_classes)
        k, bag by bag: one per bag, or all that are within its ranges.
    noise_variance : ndarray of shape (n_bags,)
        s².
    log_sum_density : ndarray of shape (n_bags,) or float
        Added to log P(k): the log-density of the reported sum, n + N(0, K·s²), of noisy counts.
    choices : Segments, optional
        The vectors of each bag; one if not given.
    """

    segments: Segments
    vectors: FloatArray
    noise_variance: FloatArray
    log_sum_density: FloatArray | float = 0.0
    choices: Segments | None = None

    def log_prob_and_slope(self, scores: FloatArray) -> ValueAndSlope:
        """Return log Σ_k P(k) of every bag, and its slope in the scores, sorted by bag."""
        prob = np.exp(log_probabilities(scores))
        log_prob, share, tilts, inverse = self._by_vector(prob)
        # The slope of log P(k) in p_j is r − ½·diag(G) + G·p_j, r = S⁻¹(k−μ) and G = S⁻¹ − rrᵀ.
        tilt, bend = self._mean(share, tilts), inverse.copy()
        for c in range(prob.shape[1]):  # here and below no array of n_rows × n_classes × n_classes
            bend[:, c] -= self._mean(share, tilts * tilts[:, c, None])
        slope = self.segments.spread(tilt - 0.5 * np.einsum("bcc->bc", bend))
        for c in range(prob.shape[1]):
            slope += self.segments.spread(bend[:, c]) * prob[:, c, None]
        return log_prob + self.log_sum_density, slope_in_scores(prob * slope, prob)

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y_j=c | observation), fitted to the expected counts.

        These are Σ_k k·P(k)/Σ_k P(k), and with noise μ + Σ_p·S⁻¹(k−μ), with Σ_p the covariance of
        the counts without noise; limited to counts of at least 0 that sum to n.
        """
        prob = np.exp(log_probabilities(scores))
        _, share, tilts, _ = self._by_vector(prob)
        # S − Σ_p is the noise's part of v·C; C leaves k−μ, which sums to 0, as it is.
        pull = self.noise_variance[:, None] * self._mean(share, tilts)
        expected = np.maximum(self._mean(share, self.vectors) - pull, 0.0)
        expected *= (self.segments.sizes / expected.sum(axis=1))[:, None]
        return fit_counts(prob, self.segments, expected)

    def _by_vector(self, prob: FloatArray) -> tuple[FloatArray, ...]:
        """Return log Σ_k P(k) per bag, P(k)/Σ_k P(k) and r per vector, and S⁻¹ per bag."""
        mean, outer = count_moments(prob, self.segments)
        inverse, log_scale = count_precision(mean, outer, self.noise_variance)
        away = self.vectors - self._spread(mean)
        tilts = np.zeros(away.shape)
        for c in range(away.shape[1]):
            tilts += self._spread(inverse[:, c]) * away[:, c, None]
        logs = self._spread(log_scale) - 0.5 * np.sum(away * tilts, axis=1)
        if self.choices is None:
            return logs, np.ones_like(logs), tilts, inverse
        log_prob = self.choices.log_sum(logs)
        return log_prob, np.exp(logs - self.choices.spread(log_prob)), tilts, inverse

    def _spread(self, by_bag: FloatArray) -> FloatArray:
        return by_bag if self.choices is None else self.choices.spread(by_bag)

    def _mean(self, share: FloatArray, values: FloatArray) -> FloatArray:
        """Return the mean over the vectors of each bag, weighted by their shares."""
        return values if self.choices is None else self.choices.sum(share[:, None] * values)


def count_moments(prob: FloatArray, segments: Segments) -> ValueAndSlope:
    """Return Σ_j p_j and Σ_j p_j·p_jᵀ of every bag."""
    columns = [segments.sum(prob * prob[:, c, None]) for c in range(prob.shape[1])]
    return segments.sum(prob), np.stack(columns, axis=1)


def count_precision(
    mean: FloatArray, outer: FloatArray, noise_variance: FloatArray
) -> ValueAndSlope:
    """Return S⁻¹ and ½·log K − ½(K−1)·log 2π − ½·log det S of every bag, see :class:`NormalCounts`.

    `mean` and `outer` are Σ_j p_j and Σ_j p_j·p_jᵀ, and `noise_variance` is s².
    """
    n_classes = mean.shape[1]
    covariance = -outer
    np.einsum("bcc->bc", covariance)[:] += mean
    spread = 1 / 12 + 1 / (6 * n_classes) + noise_variance[:, None, None]
    covariance += spread * np.eye(n_classes) + (1 - spread) / n_classes
    log_scale = 0.5 * (np.log(n_classes) - (n_classes - 1) * np.log(2 * np.pi))
    log_scale = log_scale - 0.5 * np.linalg.slogdet(covariance)[1]
    return np.linalg.inv(covariance), log_scale


def fit_counts(prob: FloatArray, bags: Segments, counts: FloatArray) -> FloatArray:
    """Return w_jc ∝ p_jc·u_bc with Σ_c w_jc = 1 and Σ_{j∈b} w_jc = k_bc, by proportional fitting.

    Rows and bags are scaled in turn until the sums agree (Deming & Stephan 1940). It is the
    distribution closest to p, in relative entropy, whose expected counts are k; those of a bag are
    at least 0 and sum to its number of rows.
    """
    factor = np.ones(counts.shape)
    for _ in range(MAX_SWEEPS):
        fitted = prob * bags.spread(factor)
        fitted /= fitted.sum(axis=1, keepdims=True)
        sums = bags.sum(fitted)
        if (np.abs(sums - counts) <= FIT_TOL * bags.sizes[:, None]).all():
            break
        factor *= np.divide(counts, sums, out=np.zeros(counts.shape), where=sums > 0)
        factor /= factor.max(axis=1, keepdims=True)
    return fitted
