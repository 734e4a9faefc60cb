"""Noise rates from several annotators' labels of the same items (Dawid & Skene's EM)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.exceptions import UninformativeRatesWarning, warn
from decorrupt.noise_rates.audit import at_least_two_classes
from decorrupt.noise_rates.dawid_skene import Votes, dawid_skene, log_likelihood
from decorrupt.noise_rates.result import (
    NoiseRateEstimate,
    bootstrap_ends,
    check_level,
    informative,
    warn_if_uninformative,
)
from decorrupt.observed import as_targets, factorize
from decorrupt.progress import track

RESAMPLE_TOL = (
    1e-4  # of a resample: the error this leaves is far below the variation between resamples
)
IDENTIFYING_ANNOTATORS = 3  # per item: with two, many rates fit the labels equally well


@dataclass(frozen=True, eq=False)
class AnnotatorEstimate(NoiseRateEstimate):
    """Noise rates per annotator, and the posterior of each item given all its labels.

    Attributes
    ----------
    item_posteriors : dict
        {item: P(Y=1 | all its labels)}, or for several classes {item: P(Y=y | …) of every class}.
    items : list
        The item ids.
    posteriors : ndarray of shape (n_items, n_classes)
        P(Y=y | all labels of the item), for any number of classes.
    log_likelihood : float
        Log-likelihood of all labels at the estimated rates.
    n_iter : int
        Number of EM iterations.
    """

    items: list[Any]
    posteriors: FloatArray
    log_likelihood: float
    n_iter: int

    @cached_property
    def item_posteriors(self) -> dict[Any, Any]:
        """{item: P(Y=1 | all its labels)}, or for several classes {item: one per class}."""
        return dict(zip(self.items, as_targets(self.posteriors).tolist(), strict=True))


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
    """Estimate the noise rates of annotators who labelled the same items.

    Maximise Π_items Σ_y π(y)·Π_labels P_annotator(ỹ|y) over π and each annotator's rates.

    Dawid & Skene (1979) for two or more classes. EM starts from the shares of each item's labels,
    which assumes that the majority of labels is more often right than wrong. Annotators are assumed
    to be independent given the true class.

    Parameters
    ----------
    labels : array-like of shape (n_labels,)
        Labels; of two values the larger is the positive class.
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
        If the labels have only one value, lengths differ, an annotator has no items, or no item has
        labels from two annotators.

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
    votes, classes, annotator_ids, item_ids = _read_votes(labels, annotators, items)
    _check_overlap(votes)
    everyone = np.ones(votes.n_items)
    matrices, posterior, n_iter = dawid_skene(votes, votes.shares, everyone, max_iter, tol)
    if n_iter >= max_iter:
        text = f"EM did not converge in max_iter={max_iter} iterations: increase max_iter or tol"
        warn(text, ConvergenceWarning)
    rng = check_random_state(random_state)
    chance = everyone / votes.n_items
    loose = max(tol, RESAMPLE_TOL)
    weights = (rng.multinomial(votes.n_items, chance) for _ in range(n_bootstrap))
    draws = np.array(
        [
            dawid_skene(votes, posterior, weight, max_iter, loose)[0]
            for weight in track(weights, "resampling items", n_bootstrap)
        ]
    )
    prior = posterior.mean(axis=0)
    ends, names = bootstrap_ends(matrices, draws, level), classes.tolist()
    warn_if_uninformative(annotator_ids, matrices, ends, names, "annotator")
    return AnnotatorEstimate(
        annotator_ids,
        informative(matrices),
        ends,
        level,
        prior,
        "annotators",
        names,
        item_ids,
        posterior,
        log_likelihood(votes, matrices, prior),
        n_iter,
    )


def _read_votes(
    labels: ArrayLike, annotators: Any, items: Any
) -> tuple[Votes, NDArray[Any], list[Any], list[Any]]:
    values = column_or_1d(labels)
    classes = at_least_two_classes(values, "labels")
    annotator_ids, annotator = factorize(annotators, "annotators")
    item_ids, item = factorize(items, "items")
    _check_categories(annotators, annotator_ids.tolist())
    label = np.searchsorted(classes, values)
    votes = Votes(item, annotator, label, len(item_ids), len(annotator_ids), len(classes))
    return votes, classes, annotator_ids.tolist(), item_ids.tolist()


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
    """Warn if no item has three annotators; raise a ValueError if none has two."""
    pairs = np.unique(np.column_stack([votes.item, votes.annotator]), axis=0)
    most = int(np.bincount(pairs[:, 0]).max())
    if most < 2:
        raise ValueError(
            "every item has labels from one annotator only: at least two annotators must label the "
            "same items. If there are features, use estimate_noise_rates"
        )
    if most < IDENTIFYING_ANNOTATORS:
        warn(
            "no item has labels from three annotators: with two, many rates fit the labels equally "
            "well, and the result is only the one closest to the majority vote",
            UninformativeRatesWarning,
        )
