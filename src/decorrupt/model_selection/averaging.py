"""Pseudo-Bayesian model averaging: weights of configurations by held-out counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils import check_random_state

from decorrupt._typing import FloatArray
from decorrupt.losses import mix_scores, prior_scores
from decorrupt.model_selection.results import Result

N_DRAWS = 300
# Prediction takes as many times as long as with one model.
MOST_MEMBERS = 8
# Members that together have less weight change no probability by more than it.
LEAST_WEIGHT = 0.05


def bootstrap_weights(log_likelihoods: FloatArray, random_state: Any = None) -> FloatArray:
    """Return the mean over draws u of softmax_c(Σ_b u_b·ℓ_cb), u ~ n_bags·Dirichlet(1, …, 1).

    This is pseudo-Bayesian model averaging with a Bayesian bootstrap over bags (Yao et al. 2018):
    a configuration that is better on a few bags only has little weight over the others.

    Parameters
    ----------
    log_likelihoods : ndarray of shape (n_configurations, n_bags)
        ℓ_cb = log P(count of the held-out bag b) under configuration c; −∞ for one that failed.
    random_state : int, RandomState or None
        Source of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> bootstrap_weights(np.zeros((4, 10)), random_state=0)
    array([0.25, 0.25, 0.25, 0.25])
    """
    rng = check_random_state(random_state)
    n_bags = log_likelihoods.shape[1]
    total = np.zeros(len(log_likelihoods))
    failed = np.logical_not(np.isfinite(log_likelihoods).all(axis=1))
    log_likelihoods = np.where(np.isfinite(log_likelihoods), log_likelihoods, 0.0)
    for _ in range(N_DRAWS):
        draw = rng.standard_exponential(n_bags)
        sums = log_likelihoods @ (draw * (n_bags / draw.sum()))
        total += softmax(np.where(failed, -np.inf, sums))
    return np.asarray(total / N_DRAWS)


def result_weights(results: Sequence[Result], random_state: Any = None) -> FloatArray:
    """Return the weights of results scored by the count likelihood of held-out bags."""
    n_bags = max(len(result.bag_sizes) for result in results)
    log_likelihoods = np.full((len(results), n_bags), -np.inf)
    for row, result in zip(log_likelihoods, results, strict=True):
        if result.by_bag is not None:
            row[:] = result.by_bag * result.bag_sizes
    return bootstrap_weights(log_likelihoods, random_state)


def heaviest(weights: FloatArray) -> NDArray[np.intp]:
    """Return the places of at most MOST_MEMBERS weights, the largest first.

    The first that together have all weight but LEAST_WEIGHT are enough.
    """
    order = np.argsort(-weights, kind="stable")[:MOST_MEMBERS]
    before = np.cumsum(weights[order]) - weights[order]
    return order[before < 1 - LEAST_WEIGHT]


def mixed_held_out(
    results: Sequence[Result], weights: FloatArray, class_prior: FloatArray
) -> FloatArray:
    """Return the held-out scores of the mixture at the class shares `class_prior`."""
    # The scores of results are those of a balanced population.
    shift = prior_scores(class_prior)
    return mix_scores([result.scores + shift for result in results], weights)
