"""Likelihoods of counts and of noisy labels, for many draws of P(y|x) at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, xlogy

from decorrupt._typing import FloatArray
from decorrupt.observed import Observed, noise_covariance
from decorrupt.risks import effect_covariance

# Larger bags are approximated; their exact sums would cost more.
LARGE_BAG = 32
SMALLEST = 1e-12
SMALLEST_PROBABILITY = 1e-300


class Likelihood(Protocol):
    """The likelihood of what is observed about labels."""

    @property
    def log_prior(self) -> float:
        """The logarithm of its prior density, up to a constant."""

    def log_likelihood(self, prob: FloatArray) -> FloatArray:
        """Return log P(observations) of every draw; `prob` is (n_classes, n_rows, n_draws)."""

    def slope_and_information(
        self, matrix: FloatArray, prob: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return slope and expected information in θ (classes but the first, flattened)."""


@dataclass(frozen=True, eq=False)
class CountLikelihood:
    """Counts of bags; exact for small bags of two classes with known counts and no bag effect.

    Otherwise Efron's (1986) double binomial: √φ^(K−1)·exp(−φ·D/2), with the deviance D of the
    shares from the mean probabilities, times the largest possible probability; φ is the
    binomial variance over Σp(1−p)/n² + noise + effect².

    Parameters
    ----------
    observed : Observed
        The bags; a part of a bag has the bag's share, and `sizes` are those of the whole bags.
    sizes : ndarray of int, shape (n_bags,)
        Rows of each bag.
    bag_effect : float
        Standard deviation of what the bags add to their shares.
    log_prior : float
        The logarithm of its prior density, up to a constant.
    """

    observed: Observed
    sizes: NDArray[np.intp]
    bag_effect: float = 0.0
    log_prior: float = 0.0

    @cached_property
    def _mean(self) -> Any:
        """The matrix that averages over the rows of each bag."""
        bags, n_rows = self.observed.row_bag, len(self.observed.row_bag)
        share = 1 / np.bincount(bags, minlength=self.observed.n_bags)[bags]
        shape = (self.observed.n_bags, n_rows)
        return sparse.csr_matrix((share, (bags, np.arange(n_rows))), shape=shape)

    @cached_property
    def _extra(self) -> FloatArray:
        """The variance that noise, ranges and the bag effect add to the shares of each bag."""
        counts, n_classes = self.observed.counts, self.observed.n_classes
        width = np.where(counts.is_noisy, 0.0, np.max(counts.upper - counts.lower, axis=1))
        own = noise_covariance((counts.noise_variance + width**2 / 12) / self.sizes**2, n_classes)
        effect = np.where(self.sizes >= 2, self.bag_effect**2, 0.0)
        return np.asarray(own + effect[:, None, None] * effect_covariance(n_classes))

    @cached_property
    def _small(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
        """Bags that are computed exactly, by size: their rows as columns, and their counts."""
        known, bags = self.observed.counts, self.observed.row_bag
        here = np.bincount(bags, minlength=self.observed.n_bags)
        usable = known.is_exact & (self.sizes <= LARGE_BAG) & (here == self.sizes)
        usable &= (self.observed.n_classes == 2) & ((self.bag_effect == 0) | (self.sizes == 1))
        order, first = np.argsort(bags, kind="stable"), np.append(0, np.cumsum(here))
        groups = []
        for size in np.unique(self.sizes[usable]):
            own = np.flatnonzero(usable & (self.sizes == size))
            rows = order[first[own] + np.arange(size)[:, None]]
            groups.append((own, rows, known.lower[own, 1].astype(np.intp)))
        return groups

    @cached_property
    def _other(self) -> NDArray[np.intp]:
        exact = [bags for bags, _, _ in self._small]
        return np.setdiff1d(np.arange(self.observed.n_bags), np.concatenate([[], *exact]))

    @cached_property
    def _other_mean(self) -> Any:
        return self._mean[self._other]

    def log_likelihood(self, prob: FloatArray) -> FloatArray:
        """See :class:`Likelihood`."""
        value = np.zeros(prob.shape[2])
        for _, rows, counts in self._small:
            value += _log_exact(prob[1], rows, counts).sum(axis=0)
        if len(self._other):
            value += self._log_approximate(prob).sum(axis=0)
        return value

    def _log_approximate(self, prob: FloatArray) -> FloatArray:
        bags = self._other
        mean_of, sizes = self._other_mean, self.sizes[bags].astype(float)[:, None]
        shares = np.clip(self.observed.proportions[bags], 0, 1)
        deviance, binomial, variance = (np.zeros((len(bags), prob.shape[2])) for _ in range(3))
        for own, share in zip(prob, shares.T, strict=True):
            mean = np.clip(mean_of @ own, SMALLEST, 1)
            known = share[:, None]
            deviance += known * np.log(np.maximum(known, SMALLEST) / mean)
            binomial += mean * (1 - mean) / sizes
            variance += (mean - mean_of @ own**2) / sizes
        variance += _trace_of_all(self._extra[bags])[:, None]
        ratio = (binomial + SMALLEST) / (np.maximum(variance, 0) + SMALLEST)
        log_ratio = 0.5 * (len(prob) - 1) * np.log(ratio)
        return np.asarray(self._saturated[bags, None] + log_ratio - ratio * sizes * deviance)

    @cached_property
    def _saturated(self) -> FloatArray:
        """The log-probability of the counts if their shares are those of the bag."""
        shares, sizes = np.clip(self.observed.proportions, 0, 1), self.sizes[:, None]
        own = xlogy(sizes * shares, shares) - gammaln(sizes * shares + 1)
        return np.asarray(gammaln(self.sizes + 1.0) + own.sum(axis=1))

    def slope_and_information(
        self, matrix: FloatArray, prob: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """See :class:`Likelihood`; those of normal counts."""
        free = prob[1:].T
        n_free, sizes = free.shape[1], self.sizes.astype(float)
        mean = self._mean @ free
        covariance = np.empty((len(sizes), n_free, n_free))
        slopes = np.empty((len(sizes), n_free, matrix.shape[1], n_free))
        for c in range(n_free):
            for d in range(c, n_free):
                weight = free[:, c] * ((c == d) - free[:, d])
                covariance[:, c, d] = covariance[:, d, c] = (self._mean @ weight) / sizes
                slopes[:, c, :, d] = slopes[:, d, :, c] = self._mean @ (matrix * weight[:, None])
        covariance += self._extra + 1e-9 * np.eye(n_free)
        flat = slopes.reshape(len(sizes), n_free, -1)
        weighted = np.linalg.solve(covariance, flat).reshape(-1, flat.shape[2])
        away = self.observed.proportions[:, 1:] - mean
        return weighted.T @ away.reshape(-1), weighted.T @ flat.reshape(-1, flat.shape[2])


def _trace_of_all(covariance: FloatArray) -> FloatArray:
    """Return the sum of the variances of all classes, from the covariance of all but the first."""
    return np.asarray(np.trace(covariance, axis1=1, axis2=2) + covariance.sum(axis=(1, 2)))


def _log_exact(prob: FloatArray, rows: NDArray[np.intp], counts: NDArray[np.intp]) -> FloatArray:
    """Return log P(ΣY = count) of bags of one size, for every draw."""
    size = len(rows)
    sums = np.zeros((size + 1, rows.shape[1], prob.shape[1]))
    sums[0] = 1.0
    for place, row in enumerate(rows):
        own = prob[row]
        upper = sums[: place + 1] * own
        sums[: place + 1] -= upper
        sums[1 : place + 2] += upper
    chosen = sums[counts, np.arange(rows.shape[1])]
    return np.log(np.maximum(chosen, SMALLEST_PROBABILITY))


@dataclass(frozen=True, eq=False)
class RowLikelihood:
    """What is observed of each row depends on its class: Σ_j log Σ_c P(seen_j|c)·P_j(c|x_j).

    Parameters
    ----------
    transitions : ndarray of shape (n_kinds, n_classes, n_outcomes)
        P(outcome | class).
    kind, seen : ndarray of int, shape (n_rows,)
        Which transition applies to each row, and its outcome.
    odds : ndarray of shape (n_classes, n_rows)
        P_j(c)/P(c): the class shares of the row's population over those of all rows.
    """

    transitions: FloatArray
    kind: NDArray[np.intp]
    seen: NDArray[np.intp]
    odds: FloatArray
    log_prior: float = 0.0

    @classmethod
    def of_sources(cls, observed: Observed) -> RowLikelihood:
        """Return the likelihood of noisy labels."""
        sources = observed.only_sources()
        odds = (observed.source_priors / observed.class_prior)[sources.row_source].T
        return cls(sources.matrices, sources.row_source, sources.noisy_class, odds)

    @classmethod
    def of_labels(cls, observed: Observed) -> RowLikelihood:
        """Return the likelihood of bags of one row: labels without noise."""
        seen = observed.row_proportions.argmax(axis=1)
        odds = np.ones((observed.n_classes, len(seen)))
        return cls(np.eye(observed.n_classes)[None], np.zeros_like(seen), seen, odds)

    @classmethod
    def of_mixtures(cls, observed: Observed) -> RowLikelihood:
        """Return the likelihood of each row's bag, for bags with common class distributions."""
        kind = np.zeros(len(observed.row_bag), dtype=np.intp)
        rows = observed.sizes[:, None] * observed.proportions
        shares = (rows / rows.sum(axis=0)).T[None]  # P(bag | Y=c)
        return cls(shares, kind, observed.row_bag, np.ones((observed.n_classes, len(kind))))

    def log_likelihood(self, prob: FloatArray) -> FloatArray:
        """See :class:`Likelihood`."""
        given = self.transitions[self.kind, :, self.seen].T
        joint = np.einsum("cn,cns->ns", self.odds * given, prob)
        total = np.einsum("cn,cns->ns", self.odds, prob)
        return np.asarray(np.sum(np.log(np.maximum(joint / total, SMALLEST_PROBABILITY)), axis=0))

    def slope_and_information(
        self, matrix: FloatArray, prob: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """See :class:`Likelihood`: Σ_j (w − p)zᵀ, and its variance over the outcomes."""
        own = self.odds * prob
        own /= own.sum(axis=0)
        joint = own.T[:, :, None] * self.transitions[self.kind]
        chance = np.maximum(joint.sum(axis=1), SMALLEST)
        away = (joint / chance[:, None, :] - own.T[:, :, None])[:, 1:]
        slope = away[np.arange(len(matrix)), :, self.seen]
        variance = np.einsum("nal,nbl,nl->nab", away, away, chance, optimize=True)
        n_free, n_features = len(prob) - 1, matrix.shape[1]
        information = np.empty((n_features, n_free, n_features, n_free))
        for c in range(n_free):
            for d in range(n_free):
                information[:, c, :, d] = matrix.T @ (matrix * variance[:, c, d, None])
        n_coef = n_features * n_free
        return (matrix.T @ slope).reshape(-1), information.reshape(n_coef, n_coef)
