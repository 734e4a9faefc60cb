"""Dawid & Skene's EM algorithm for any number of classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from decorrupt._typing import FloatArray

RATE_MARGIN = 1e-10  # keeps rates away from 0 and 1, so that their logarithms stay finite


@dataclass(frozen=True)
class Votes:
    """Labels in long form: one item, annotator and class number per entry."""

    item: NDArray[np.intp]
    annotator: NDArray[np.intp]
    label: NDArray[np.intp]
    n_items: int
    n_annotators: int
    n_classes: int

    @property
    def shares(self) -> FloatArray:
        """The share of each class among the labels of each item, (n_items, n_classes)."""
        counts = self.by_item(np.eye(self.n_classes)[self.label])
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def by_item(self, values: FloatArray) -> FloatArray:
        """Return the sums of the labels' values per item, column by column."""
        sums = [np.bincount(self.item, column, self.n_items) for column in values.T]
        return np.column_stack(sums).astype(float)

    def by_annotator_and_label(self, values: FloatArray) -> FloatArray:
        """Return the sums of the labels' values, (n_annotators, n_columns, n_classes)."""
        key = self.n_classes * self.annotator + self.label
        size = self.n_annotators * self.n_classes
        sums = np.stack([np.bincount(key, column, size) for column in values.T]).astype(float)
        return sums.reshape(-1, self.n_annotators, self.n_classes).swapaxes(0, 1)


def dawid_skene(
    votes: Votes, posterior: FloatArray, item_weight: FloatArray, max_iter: int, tol: float
) -> tuple[FloatArray, FloatArray, int]:
    """Return T[y, ỹ] per annotator, P(Y=y) per item, and the number of iterations.

    Parameters
    ----------
    votes : Votes
        The labels.
    posterior : ndarray of shape (n_items, n_classes)
        Where EM starts.
    item_weight : ndarray of shape (n_items,)
        How often each item counts.
    max_iter, tol
        EM stops when no posterior changes by more than `tol`.
    """
    n_iter, step = 0, np.inf
    while n_iter < max_iter and step > tol:
        rates = _maximise(votes, posterior, item_weight)
        prior = np.average(posterior, axis=0, weights=item_weight)
        previous, posterior = posterior, softmax(_item_logs(votes, rates, prior), axis=1)
        n_iter, step = n_iter + 1, np.max(np.abs(posterior - previous))
    return _maximise(votes, posterior, item_weight), posterior, n_iter


def _maximise(votes: Votes, posterior: FloatArray, item_weight: FloatArray) -> FloatArray:
    mass = (item_weight[:, None] * posterior)[votes.item]
    # All labels are equally likely for an annotator without items of the class.
    counts = votes.by_annotator_and_label(mass) + RATE_MARGIN / votes.n_classes
    rates = counts / counts.sum(axis=2, keepdims=True)
    return np.asarray(np.clip(rates, RATE_MARGIN, 1 - RATE_MARGIN))


def _item_logs(votes: Votes, rates: FloatArray, prior: FloatArray) -> FloatArray:
    """Return log π(y)·Π P(ỹ|y) of each item and class y."""
    logs = np.log(rates)[votes.annotator, :, votes.label]
    prior = np.clip(prior, RATE_MARGIN, 1 - RATE_MARGIN)
    return np.asarray(np.log(prior) + votes.by_item(logs))


def log_likelihood(votes: Votes, rates: FloatArray, prior: FloatArray) -> float:
    """Return Σ_items log Σ_y π(y)·Π P(ỹ|y)."""
    return float(logsumexp(_item_logs(votes, rates, prior), axis=1).sum())
