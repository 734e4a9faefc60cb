"""Noise rates from several annotators' labels of the same items (Dawid & Skene's EM)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, column_or_1d

from decorrupt._typing import FloatArray
from decorrupt.corruption import factorize
from decorrupt.exceptions import UninformativeRatesWarning
from decorrupt.noise_rates.audit import at_least_two_classes
from decorrupt.noise_rates.class_result import (
    ClassNoiseEstimate,
    checked_matrices,
    class_covariance,
    class_intervals,
)
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


@dataclass(frozen=True, eq=False)
class ClassAnnotatorEstimate(ClassNoiseEstimate):
    """Noise between several classes per annotator, and the posterior of each item.

    Attributes
    ----------
    item_posteriors : dict
        {item: ndarray with P(Y=y | all its labels)}.
    log_likelihood, n_iter
        As in :class:`AnnotatorEstimate`.
    """

    item_posteriors: dict[Any, FloatArray]
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
) -> AnnotatorEstimate | ClassAnnotatorEstimate:
    """Maximise Π_items Σ_y π(y)·Π_labels P_annotator(ỹ|y) over π and each annotator's rates.

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
    AnnotatorEstimate, or ClassAnnotatorEstimate for several classes
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
        warnings.warn(
            f"EM did not converge in max_iter={max_iter} iterations: increase max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    rng = check_random_state(random_state)
    chance = everyone / votes.n_items
    loose = max(tol, RESAMPLE_TOL)
    draws = np.array(
        [
            dawid_skene(votes, posterior, rng.multinomial(votes.n_items, chance), max_iter, loose)[
                0
            ]
            for _ in range(n_bootstrap)
        ]
    )
    prior = posterior.mean(axis=0)
    likelihood = log_likelihood(votes, matrices, prior)
    if len(classes) > 2:
        return ClassAnnotatorEstimate(
            checked_matrices(annotator_ids, matrices, classes.tolist(), "annotator"),
            class_intervals(annotator_ids, matrices, draws, level),
            level,
            prior,
            "annotators",
            classes.tolist(),
            dict(zip(item_ids, posterior, strict=True)),
            likelihood,
            n_iter,
            covariance=class_covariance(draws),
        )
    flips, flip_draws = _flips(matrices), _flips(draws) if n_bootstrap else draws
    intervals = bootstrap_intervals(annotator_ids, flips, flip_draws, level)
    return AnnotatorEstimate(
        checked_rates(annotator_ids, flips, intervals, "annotator"),
        intervals,
        level,
        float(prior[1]),
        "annotators",
        dict(zip(item_ids, posterior[:, 1].tolist(), strict=True)),
        likelihood,
        n_iter,
        covariance=bootstrap_covariance(flip_draws),
    )


def _flips(matrices: FloatArray) -> FloatArray:
    """Return (flip_pos, flip_neg) from matrices of two classes."""
    return np.stack([matrices[..., 1, 0], matrices[..., 0, 1]], axis=-1)


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
