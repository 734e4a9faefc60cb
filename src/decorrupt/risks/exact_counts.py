"""Exact probability of the class counts of a bag: dynamic programming over count vectors.

Let F(s) be the probability that the first |s| rows of a bag have the class counts s, and B(s) that
its other rows have the counts k − s, with k the counts of the whole bag. Then F(0) = B(k) = 1,

    F(s) = Σ_c F(s − e_c)·p_jc with j = |s|,    B(s) = Σ_c p_jc·B(s + e_c) with j = |s| + 1,

P(k) = F(k), and row j has class c with probability Σ_{|s|=j−1} F(s)·p_jc·B(s + e_c)/P(k).

If several vectors k of n rows are possible, each has a weight ν_k: 1 inside the ranges of counts,
the probability of the noise of reported counts. Then B(k) = ν_k for |k| = n, and
B(0) = Σ_k ν_k·P(k) is the probability of what is observed.

A bag has Π_c(k_c + 1) vectors s ≤ k, with k its largest possible counts. The steps s → s + e_c of
all bags are listed level by level (|s| = 0, 1, …), so that a level is a few numpy calls for bags of
all sizes. All sums are taken in logarithms: no score is too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.risks.class_group import ClassGroup
from decorrupt.risks.segments import Segments


@dataclass(frozen=True)
class Steps:
    """Steps of one level, in the order of the vectors `target` they lead to.

    Attributes
    ----------
    source : ndarray of int, shape (n_steps,)
        The vector each step comes from.
    entry : ndarray of int, shape (n_steps,)
        The index of p_jc among the probabilities of all rows and classes.
    target : ndarray of int
        The vectors that are reached.
    segments : Segments
        How many steps lead to each of them.
    """

    source: NDArray[np.intp]
    entry: NDArray[np.intp]
    target: NDArray[np.intp]
    segments: Segments


@dataclass(frozen=True, eq=False)
class ExactBags(ClassGroup):
    """Bags with few possible count vectors.

    Parameters
    ----------
    bags : ndarray of int, shape (n_bags,)
        Which bags these are.
    rows : ndarray of int, shape (n_rows,)
        Their rows, bag by bag.
    bag_of_vector : ndarray of int, shape (n_vectors,)
        The bag of each count vector, in ascending order.
    forward, backward : sequence of Steps
        The steps s − e_c → s from |s| = 1 up, and s + e_c → s from the largest |s| down.
    log_weights : ndarray of shape (n_vectors,)
        log ν_k of the vectors of all rows; the others are not used.
    """

    bags: NDArray[np.intp]
    rows: NDArray[np.intp]
    bag_of_vector: NDArray[np.intp]
    forward: Sequence[Steps]
    backward: Sequence[Steps]
    log_weights: FloatArray

    @classmethod
    def of_ranges(
        cls,
        bags: NDArray[np.intp],
        rows: NDArray[np.intp],
        sizes: NDArray[np.intp],
        lower: NDArray[np.intp],
        upper: NDArray[np.intp],
    ) -> ExactBags:
        """List the steps of bags whose class counts are between two vectors, or known if equal.

        Parameters
        ----------
        bags, rows : ndarray of int
            As in the class.
        sizes : ndarray of int, shape (n_bags,)
            The rows of each bag.
        lower, upper : ndarray of int, shape (n_bags, n_classes)
            The smallest and the largest counts; there are counts between them that sum to `sizes`.
        """
        lengths = upper + 1
        n_vectors = lengths.prod(axis=1)
        strides = lengths.cumprod(axis=1) // lengths
        bag = np.repeat(np.arange(len(bags)), n_vectors)
        index = np.arange(len(bag)) - (np.cumsum(n_vectors) - n_vectors)[bag]
        vectors = index[:, None] // strides[bag] % lengths[bag]
        levels = vectors.sum(axis=1)
        start, added = np.nonzero((vectors < upper[bag]) & (levels < sizes[bag])[:, None])
        end = start + strides[bag[start], added]
        row = (np.cumsum(sizes) - sizes)[bag[start]] + levels[start]
        entry = row * upper.shape[1] + added
        forward, backward = _both_ways(levels[start], start, entry, end)
        log_weights = np.where((vectors >= lower[bag]).all(axis=1), 0.0, -np.inf)
        return cls(bags, rows, bag, forward, backward, log_weights)

    @classmethod
    def of_weights(
        cls,
        bags: NDArray[np.intp],
        rows: NDArray[np.intp],
        lattice: CountLattice,
        log_weights: FloatArray,
    ) -> ExactBags:
        """List the steps of bags of one size with any weights of their count vectors.

        Parameters
        ----------
        bags, rows : ndarray of int
            As in the class.
        lattice : CountLattice
            The count vectors of a bag.
        log_weights : ndarray of shape (n_bags, n_vectors)
            log ν of the vectors of the lattice, −∞ excludes one; only those of all rows are used.
        """
        n_bags, (n_vectors, n_classes) = len(bags), lattice.vectors.shape
        level = lattice.vectors.sum(axis=1)[lattice.start]
        own = np.arange(n_bags)[:, None]
        entry = (own * lattice.size + level) * n_classes + lattice.added
        start, end = own * n_vectors + lattice.start, own * n_vectors + lattice.end
        forward, backward = _both_ways(
            np.tile(level, n_bags), start.ravel(), entry.ravel(), end.ravel()
        )
        bag = np.repeat(np.arange(n_bags), n_vectors)
        return cls(bags, rows, bag, forward, backward, log_weights.ravel())

    def of_log_prob(self, log_prob: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log Σ_k ν_k·P(k) of every bag, and its slope in the log-probabilities.

        The slope is P(Y_j=c | what is observed).
        """
        entries = log_prob.ravel()
        before = _propagate(self.forward, entries, np.zeros(len(self.bag_of_vector)))
        after = _propagate(self.backward, entries, self.log_weights)
        log_count = after[self._first]
        before -= log_count[self.bag_of_vector]
        joint = [
            before[step.source] + entries[step.entry] + step.segments.spread(after[step.target])
            for step in self.forward
        ]
        posterior = np.bincount(self._entries, np.exp(np.concatenate(joint)), len(entries))
        return log_count, posterior.astype(float, copy=False).reshape(len(self.rows), -1)

    @cached_property
    def _first(self) -> NDArray[np.intp]:
        """The vector 0 of each bag."""
        n_vectors = np.bincount(self.bag_of_vector)
        return np.cumsum(n_vectors) - n_vectors

    @cached_property
    def _entries(self) -> NDArray[np.intp]:
        return np.concatenate([step.entry for step in self.forward])


class CountLattice(NamedTuple):
    """All count vectors s of at most `size` rows, by |s|, and the steps s → s + e_c.

    Attributes
    ----------
    size : int
        Rows per bag.
    vectors : ndarray of int, shape (n_vectors, n_classes)
        s.
    start, added, end : ndarray of int, shape (n_steps,)
        The places of s and s + e_c in `vectors`, and c.
    """

    size: int
    vectors: NDArray[np.intp]
    start: NDArray[np.intp]
    added: NDArray[np.intp]
    end: NDArray[np.intp]

    @classmethod
    def of(cls, size: int, n_classes: int) -> CountLattice:
        """List the comb(size + n_classes, n_classes) vectors."""
        vectors = [
            tuple(classes.count(c) for c in range(n_classes))
            for level in range(size + 1)
            for classes in combinations_with_replacement(range(n_classes), level)
        ]
        place = {vector: k for k, vector in enumerate(vectors)}
        steps = [
            (k, c, place[*vector[:c], vector[c] + 1, *vector[c + 1 :]])
            for k, vector in enumerate(vectors)
            if sum(vector) < size
            for c in range(n_classes)
        ]
        return cls(size, np.array(vectors), *np.array(steps).T)


def _propagate(levels: Sequence[Steps], entries: FloatArray, logs: FloatArray) -> FloatArray:
    """Return log F or log B of every vector, from their values where no step leads."""
    logs = logs.copy()
    for step in levels:
        logs[step.target] = step.segments.log_sum(logs[step.source] + entries[step.entry])
    return logs


def _both_ways(
    level: NDArray[np.intp],
    start: NDArray[np.intp],
    entry: NDArray[np.intp],
    end: NDArray[np.intp],
) -> tuple[list[Steps], list[Steps]]:
    """Return the steps s → s + e_c level by level, and those back from the last level."""
    backward = _by_level(level, end, entry, start)[::-1]
    return _by_level(level, start, entry, end), backward


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
