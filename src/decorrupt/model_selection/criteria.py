"""Criteria without labels: the quality of predictions for held-out bags.

Every criterion takes the rows' proportions y and bags instead of labels. Risks are better when
smaller, the others when greater. The bags must be held out: on training bags the criteria are too
optimistic and their standard errors are invalid.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from decorrupt._typing import FloatArray
from decorrupt.corruption import Combination, Strata, check_strata, combine_strata, strata_from_bags
from decorrupt.losses import MarginLoss, get_loss
from decorrupt.risks.count import count_log_likelihood


class Estimate(NamedTuple):
    """An estimate and its standard error."""

    value: float
    std_error: float


def corrected_accuracy(y: ArrayLike, scores: ArrayLike, *, bags: Any) -> Estimate:
    """Return 1 − Σ_k [a_k·P̂_k(f ≤ 0) + b_k·P̂_k(f > 0)], unbiased for the balanced accuracy.

    For held-out bags. (a_k, b_k) is the superbag combination, which has the smallest worst-case
    variance. The standard error treats the rows of a bag as independent; it is too large rather
    than too small if the bag's share of positives is known exactly. With few bags the estimate can
    be outside [0, 1].

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The proportion of each row's bag.
    scores : array-like of shape (n_rows,)
        Decision values, positive for the positive class.
    bags : array-like of shape (n_rows,)
        The bag of each row.

    Raises
    ------
    ValueError
        If all bags have the same proportion: then nothing can be estimated.
    """
    strata, combination, sizes = _strata_to_combine(y, bags)
    share_pos = _bag_means(np.asarray(scores) > 0, strata)
    error = combination.pos @ (1 - share_pos) + combination.neg @ share_pos
    lever = combination.pos - combination.neg
    variance = np.sum(lever**2 * share_pos * (1 - share_pos) / sizes)
    return Estimate(float(1 - error), float(np.sqrt(variance)))


def corrected_risk(
    y: ArrayLike, scores: ArrayLike, *, bags: Any, loss: str | MarginLoss = "sigmoid"
) -> Estimate:
    """Return Σ_k a_k·mean_k ℓ(f,1) + b_k·mean_k ℓ(f,−1), unbiased for the balanced risk.

    For held-out bags. The default loss is bounded on purpose: with an unbounded loss the estimated
    risk of a bad model can be arbitrarily low, and it would be selected. The parameters are those
    of :func:`corrected_accuracy`.
    """
    strata, combination, sizes = _strata_to_combine(y, bags)
    loss = get_loss(loss)
    scores = np.asarray(scores, dtype=float)
    rows = (
        combination.pos[strata.row_stratum] * loss.value(scores)
        + combination.neg[strata.row_stratum] * loss.value(-scores)
    )  # fmt: skip
    means = _bag_means(rows, strata)
    spread = _bag_means(rows**2, strata) - means**2
    return Estimate(float(means.sum()), float(np.sqrt(np.sum(np.maximum(spread, 0) / sizes))))


def proportion_risk(y: ArrayLike, scores: ArrayLike, *, bags: Any) -> Estimate:
    """Return Σ_k (n_k/n)·|p̂_k − p_k|, with p̂_k the share of positive scores in bag k.

    For held-out bags. The criterion of InvCal and ∝SVM (Yu et al. 2015). It does not detect a
    model that predicts every bag's proportion but labels the wrong rows positive.
    """
    strata = bag_strata(y, bags)
    share_pos = _bag_means(np.asarray(scores) > 0, strata)
    return weighted_mean(np.abs(share_pos - strata.proportions), strata.sizes)


def count_score(y: ArrayLike, probabilities: ArrayLike, *, bags: Any) -> Estimate:
    """Return (1/n)·Σ_k log P(count_k | probabilities), a proper scoring rule.

    For held-out bags. `probabilities` are P(Y=1|x) per row, or the two columns of `predict_proba`.
    """
    probabilities = np.asarray(probabilities, dtype=float)
    if probabilities.ndim == 2:
        probabilities = probabilities[:, 1]
    strata = bag_strata(y, bags)
    return weighted_mean(count_score_by_bag(probabilities, strata), strata.sizes)


def count_score_by_bag(probabilities: FloatArray, strata: Strata) -> FloatArray:
    """Return (1/n_k)·log P(count_k | probabilities) of every bag."""
    return np.asarray(count_log_likelihood(probabilities, strata) / strata.sizes)


def bag_strata(y: ArrayLike, bags: Any) -> Strata:
    """Return the bags of rows with one proportion per row.

    Raises
    ------
    ValueError
        If y has one column per class: the criteria are for two classes.
    """
    if np.ndim(y) != 1:
        raise ValueError(
            f"y must have one proportion of positives per row, got shape {np.shape(y)}: criteria "
            "for more than two classes are not available"
        )
    return strata_from_bags(bags, y)


def _strata_to_combine(y: ArrayLike, bags: Any) -> tuple[Strata, Combination, FloatArray]:
    strata = bag_strata(y, bags)
    sizes, proportions = check_strata(strata.sizes, strata.proportions)
    return strata, combine_strata(sizes, proportions), sizes


def _bag_means(rows: ArrayLike, strata: Strata) -> FloatArray:
    return np.bincount(strata.row_stratum, np.asarray(rows, dtype=float)) / strata.sizes


def weighted_mean(by_bag: FloatArray, sizes: ArrayLike) -> Estimate:
    """Return the mean over bags weighted by bag size, and its standard error."""
    weights = np.asarray(sizes) / np.sum(sizes)
    mean = float(weights @ by_bag)
    n_bags = len(by_bag)
    variance = np.sum(weights**2 * (by_bag - mean) ** 2) * n_bags / max(n_bags - 1, 1)
    return Estimate(mean, float(np.sqrt(variance)))
