"""Dawid & Skene's EM algorithm for two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from decorrupt._typing import FloatArray

RATE_MARGIN = 1e-10  # keeps rates away from 0 and 1, so that log-odds stay finite


@dataclass(frozen=True)
class Votes:
    """Labels in long form: one item, annotator and label per entry."""

    item: NDArray[np.intp]
    annotator: NDArray[np.intp]
    is_pos: NDArray[np.bool_]
    n_items: int
    n_annotators: int

    def by_item(self, values: FloatArray) -> FloatArray:
        """Return the sum of the labels' values per item."""
        return np.bincount(self.item, values, self.n_items).astype(float)

    def by_annotator(self, values: FloatArray) -> FloatArray:
        """Return the sum of the labels' values per annotator."""
        return np.bincount(self.annotator, values, self.n_annotators).astype(float)


def dawid_skene(
    votes: Votes, posterior: FloatArray, item_weight: FloatArray, max_iter: int, tol: float
) -> tuple[FloatArray, FloatArray, int]:
    """Return (flip_pos, flip_neg) per annotator, P(Y=1) per item, and the number of iterations."""
    n_iter, step = 0, np.inf
    while n_iter < max_iter and step > tol:
        flips = _maximise(votes, posterior, item_weight)
        prior = float(np.average(posterior, weights=item_weight))
        previous, posterior = posterior, expit(_item_log_odds(votes, flips, prior))
        n_iter, step = n_iter + 1, np.max(np.abs(posterior - previous))
    return _maximise(votes, posterior, item_weight), posterior, n_iter


def _maximise(votes: Votes, posterior: FloatArray, item_weight: FloatArray) -> FloatArray:
    columns = []
    for share, is_flip in ((posterior, ~votes.is_pos), (1 - posterior, votes.is_pos)):
        mass = (item_weight * share)[votes.item]
        # The rate is ½ for an annotator without items of the class.
        flipped = votes.by_annotator(mass * is_flip) + RATE_MARGIN / 2
        columns.append(flipped / (votes.by_annotator(mass) + RATE_MARGIN))
    return np.asarray(np.clip(np.column_stack(columns), RATE_MARGIN, 1 - RATE_MARGIN))


def _vote_logs(votes: Votes, flips: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log P(ỹ|Y=1) and log P(ỹ|Y=−1) of each label."""
    flip_pos, flip_neg = flips[votes.annotator].T
    return (
        np.log(np.where(votes.is_pos, 1 - flip_pos, flip_pos)),
        np.log(np.where(votes.is_pos, flip_neg, 1 - flip_neg)),
    )


def _item_log_odds(votes: Votes, flips: FloatArray, prior: float) -> FloatArray:
    log_pos, log_neg = _vote_logs(votes, flips)
    prior = float(np.clip(prior, RATE_MARGIN, 1 - RATE_MARGIN))
    return np.asarray(logit(prior) + votes.by_item(log_pos - log_neg))


def log_likelihood(votes: Votes, flips: FloatArray, prior: float) -> float:
    """Return Σ_items log Σ_y π(y)·Π P(ỹ|y)."""
    log_pos, log_neg = (votes.by_item(logs) for logs in _vote_logs(votes, flips))
    prior = float(np.clip(prior, RATE_MARGIN, 1 - RATE_MARGIN))
    return float(np.logaddexp(np.log(prior) + log_pos, np.log1p(-prior) + log_neg).sum())
