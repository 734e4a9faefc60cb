"""Noise rates from several annotators' labels of the same items (Dawid & Skene's EM)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, column_or_1d

from decorrupt.corruption import factorize
from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.noise_rates.audit import two_classes
from decorrupt.noise_rates.dawid_skene import Votes, dawid_skene, log_likelihood
from decorrupt.noise_rates.result import (
    NoiseRateEstimate,
    bootstrap_covariance,
    bootstrap_intervals,
    check_level,
    checked_rates,
)

RESAMPLE_TOL = (
    1e-4  # of a resample: the error this leaves is far below the variation between resamples
)
IDENTIFYING_ANNOTATORS = 3  # per item: with two, many rates fit the labels equally well


@dataclass(frozen=True)
class AnnotatorEstimate(NoiseRateEstimate):
    """Noise rates per annotator, and the posterior of each item given all its labels.

    Attributes
    ----------
    item_posteriors : dict
        {item: P(Y=1 | all its labels)}.
    log_likelihood : float
        Log-likelihood of all labels at the estimated rates.
    n_iter : int
        Number of EM iterations.
    """

    item_posteriors: dict[Any, float]
    log_likelihood: float
    n_iter: int


def estimate_noise_rates_from_annotators(
    labels: ArrayLike,
    annotators: Any,
    items: Any,
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    n_bootstrap: int = 200,
    level: float = 0.9,
    random_state: Any = None,
) -> AnnotatorEstimate:
    """Maximise Π_items Σ_y π(y)·Π_labels P_annotator(ỹ|y) over π and each annotator's rates.

    Dawid & Skene (1979) for two classes. EM starts from each item's share of positive labels, which
    assumes that the majority of labels is more often right than wrong. Annotators are assumed to be
    independent given the true class.

    Parameters
    ----------
    labels : array-like of shape (n_labels,)
        Labels of two values; the larger is the positive class.
    annotators, items : array-like of shape (n_labels,)
        The annotator and the item of each label; any hashable ids. Not every annotator needs to
        label every item.
    max_iter : int, default=1000
        Maximum number of EM iterations.
    tol : float, default=1e-6
        EM stops when no item's posterior changes by more than this.
    n_bootstrap : int, default=200
        Number of resamples of the items for the intervals; 0 for no intervals.
    level : float in (0, 1), default=0.9
        Confidence level of the intervals.
    random_state : int, RandomState or None
        Source of the resamples.

    Returns
    -------
    AnnotatorEstimate
        Also contains the class prior and each item's posterior.

    Raises
    ------
    ValueError
        If the labels do not have two values, lengths differ, an annotator has no items, or no item
        has labels from two annotators.

    Warns
    -----
    UninformativeRatesWarning, ConvergenceWarning

    Examples
    --------
    >>> from decorrupt.noise_rates import estimate_noise_rates_from_annotators
    >>> labels = [1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0]
    >>> found = estimate_noise_rates_from_annotators(
    ...     labels, ["a", "b", "c"] * 4, [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4], n_bootstrap=0)
    >>> {item: round(posterior) for item, posterior in found.item_posteriors.items()}
    {1: 1, 2: 0, 3: 1, 4: 0}
    """
    check_level(level)
    check_consistent_length(labels, annotators, items)
    votes, annotator_ids, item_ids = _read_votes(labels, annotators, items)
    _check_overlap(votes)
    start = votes.by_item(votes.is_pos.astype(float)) / votes.by_item(np.ones(len(votes.item)))
    everyone = np.ones(votes.n_items)
    flips, posterior, n_iter = dawid_skene(votes, start, everyone, max_iter, tol)
    if n_iter >= max_iter:
        warnings.warn(
            f"EM did not converge in max_iter={max_iter} iterations: increase max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    rng = check_random_state(random_state)
    chance = everyone / votes.n_items
    loose = max(tol, RESAMPLE_TOL)
    draws = [
        dawid_skene(votes, posterior, rng.multinomial(votes.n_items, chance), max_iter, loose)[0]
        for _ in range(n_bootstrap)
    ]
    intervals = bootstrap_intervals(annotator_ids, flips, np.array(draws), level)
    prior = float(posterior.mean())
    return AnnotatorEstimate(
        checked_rates(annotator_ids, flips, intervals, "annotator"),
        intervals,
        level,
        prior,
        "annotators",
        dict(zip(item_ids, posterior.tolist(), strict=True)),
        log_likelihood(votes, flips, prior),
        n_iter,
        covariance=bootstrap_covariance(np.array(draws)),
    )


def _read_votes(
    labels: ArrayLike, annotators: Any, items: Any
) -> tuple[Votes, list[Any], list[Any]]:
    values = column_or_1d(labels)
    _, positive = two_classes(values, "labels")
    annotator_ids, annotator = factorize(annotators, "annotators")
    item_ids, item = factorize(items, "items")
    _check_categories(annotators, annotator_ids.tolist())
    votes = Votes(item, annotator, values == positive, len(item_ids), len(annotator_ids))
    return votes, annotator_ids.tolist(), item_ids.tolist()


def _check_categories(annotators: Any, present: list[Any]) -> None:
    """Raise ValueError if a categorical has a category without labels."""
    declared = getattr(getattr(annotators, "cat", annotators), "categories", ())
    idle = [annotator for annotator in declared if annotator not in set(present)]
    if idle:
        raise ValueError(
            f"annotator {idle[0]!r} has no items, so its rates cannot be estimated: remove the "
            "category"
        )


def _check_overlap(votes: Votes) -> None:
    pairs = np.unique(np.column_stack([votes.item, votes.annotator]), axis=0)
    most = int(np.bincount(pairs[:, 0]).max())
    if most < 2:
        raise ValueError(
            "every item has labels from one annotator only: at least two annotators must label the "
            "same items. If there are features, use estimate_noise_rates"
        )
    if most < IDENTIFYING_ANNOTATORS:
        warnings.warn(
            "no item has labels from three annotators: with two, many rates fit the labels "
            "equally well, and the result is only the one closest to the majority vote",
            UninformativeRatesWarning,
            stacklevel=3,
        )
