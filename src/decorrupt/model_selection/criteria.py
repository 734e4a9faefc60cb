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
from decorrupt.corruption import combine_bags
from decorrupt.losses import MarginLoss, chosen_classes, class_loss, get_loss, probabilities
from decorrupt.observed import Observed, as_observed
from decorrupt.risks import count_log_likelihood, with_bag_effect


class Estimate(NamedTuple):
    """An estimate and its standard error."""

    value: float
    std_error: float


def corrected_accuracy(
    y: Any, scores: ArrayLike, *, bags: Any = None, sample_weight: Any = None
) -> Estimate:
    """Return an unbiased estimate of the balanced accuracy, from proportions.

    1 − Σ_k [a_k·P̂_k(f ≤ 0) + b_k·P̂_k(f > 0)], unbiased for the balanced accuracy.

    For held-out bags. (a_k, b_k) is the superbag combination, which has the smallest worst-case
    variance. For several classes it is Σ_k Σ_c a_kc·P̂_k(predicted c), unbiased for the mean of the
    classes' recalls, with the least-squares combination. The standard error treats the rows of a
    bag as independent; it is too large rather than too small if the bag's share of positives is
    known exactly. With few bags the estimate can be outside [0, 1].

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes), or Observed
        The proportion of each row's bag, or its class shares; an Observed contains the bags.
    scores : array-like of shape (n_rows,) or (n_rows, n_classes)
        Decision values: positive for the positive class; of several classes the largest decides.
    bags : array-like of shape (n_rows,)
        The bag of each row.
    sample_weight : array-like of shape (n_rows,), optional
        How many rows each row represents, more than 0.

    Raises
    ------
    ValueError
        If the proportions do not distinguish the classes: then nothing can be estimated.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.model_selection import corrected_accuracy
    >>> labels = np.repeat([1, 0, 1, 0], [8, 2, 2, 8])  # bags of 10 rows: 8 and 2 positives
    >>> bags = np.repeat([0, 1], 10)
    >>> scores = np.where(labels, 1.0, -1.0)  # a perfect classifier
    >>> round(corrected_accuracy(np.repeat([0.8, 0.2], 10), scores, bags=bags).value, 2)
    1.0
    """
    observed = as_observed(y, bags=bags, sample_weight=sample_weight, check=False)
    return _combined(observed, np.eye(observed.n_classes)[chosen_classes(np.asarray(scores))])


def corrected_risk(
    y: Any,
    scores: ArrayLike,
    *,
    bags: Any = None,
    loss: str | MarginLoss = "sigmoid",
    sample_weight: Any = None,
) -> Estimate:
    """Return an unbiased estimate of the balanced risk, from proportions.

    Σ_k a_k·mean_k ℓ(f,1) + b_k·mean_k ℓ(f,−1), unbiased for the balanced risk.

    For held-out bags. The default loss is bounded on purpose: with an unbounded loss the estimated
    risk of a bad model can be arbitrarily low, and it would be selected. For several classes,
    "sigmoid" is 1 − softmax(f)_c, and "logistic" −log softmax(f)_c. The parameters are those of
    :func:`corrected_accuracy`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.model_selection import corrected_risk
    >>> y, bags = np.repeat([0.8, 0.2], 10), np.repeat([0, 1], 10)
    >>> scores = np.repeat([1.0, -1.0, 1.0, -1.0], [8, 2, 2, 8])
    >>> round(corrected_risk(y, scores, bags=bags).value, 3)  # the sigmoid loss at the margin 1
    0.269
    """
    observed = as_observed(y, bags=bags, sample_weight=sample_weight, check=False)
    scores = np.asarray(scores, dtype=float)
    if observed.n_classes > 2 and get_loss(loss).name == "sigmoid":
        return _combined(observed, 1 - probabilities(scores))
    return _combined(observed, class_loss(loss, observed.n_classes).class_values(scores))


def proportion_risk(
    y: Any, scores: ArrayLike, *, bags: Any = None, sample_weight: Any = None
) -> Estimate:
    """Return the mean difference between predicted and known shares of bags.

    Σ_k (n_k/n)·½Σ_c|p̂_kc − p_kc|, with p̂_kc the share of predictions c in bag k.

    For held-out bags. For two classes this is Σ_k (n_k/n)·|p̂_k − p_k|, the criterion of InvCal
    and ∝SVM (Yu et al. 2015). It does not detect a model that predicts every bag's proportion but
    labels the wrong rows positive.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.model_selection import proportion_risk
    >>> y, bags = np.repeat([0.8, 0.2], 10), np.repeat([0, 1], 10)
    >>> round(proportion_risk(y, np.ones(20), bags=bags).value, 3)  # all rows: positive
    0.5
    """
    observed = as_observed(y, bags=bags, sample_weight=sample_weight, check=False)
    shares = observed.mean_by_bag(np.eye(observed.n_classes)[chosen_classes(np.asarray(scores))])
    return weighted_mean(np.abs(shares - observed.proportions).sum(axis=1) / 2, observed.sizes)


def count_score(
    y: Any,
    probabilities: ArrayLike,
    *,
    bags: Any = None,
    bag_effect: float = 0.0,
    sample_weight: Any = None,
) -> Estimate:
    """Return how well probabilities explain the counts of bags; greater is better.

    (1/n)·Σ_k log P(count_k | probabilities), a proper scoring rule.

    For held-out bags. `probabilities` are P(Y=1|x) per row, or the columns of `predict_proba`.
    For several classes and bags of more than a few rows the counts' distribution is approximated
    by a normal density, which can exceed 1. `bag_effect` is the standard deviation of what bags add
    to the shares that their rows explain, see :class:`decorrupt.CountLikelihoodClassifier`.

    Examples
    --------
    >>> from decorrupt.model_selection import count_score
    >>> y, bags = [0.5, 0.5, 0.0, 0.0], ["a", "a", "b", "b"]
    >>> good = count_score(y, [0.9, 0.1, 0.1, 0.1], bags=bags)
    >>> guess = count_score(y, [0.25] * 4, bags=bags)
    >>> good.value > guess.value
    True
    """
    observed = as_observed(y, bags=bags, sample_weight=sample_weight, check=False)
    by_bag = count_score_by_bag(np.asarray(probabilities), observed, bag_effect)
    return weighted_mean(by_bag, observed.sizes)


def count_score_by_bag(
    probabilities: FloatArray, observed: Observed, bag_effect: float = 0.0
) -> FloatArray:
    """Return (1/n_k)·log P(count_k | probabilities) of every bag."""
    found = count_log_likelihood(probabilities, with_bag_effect(observed, bag_effect))
    return np.asarray(found / observed.sizes)


def _combined(observed: Observed, losses: FloatArray) -> Estimate:
    """Return the balanced combination of the bags' mean losses.

    `losses` has one column per class. The standard error is that of rows drawn at random within
    their bags.
    """
    coef = combine_bags(observed.sizes, observed.proportions)
    rows = np.sum(coef[observed.row_bag] * losses, axis=1)
    means = observed.mean_by_bag(rows)
    spread = np.maximum(observed.mean_by_bag(rows**2) - means**2, 0)
    return Estimate(float(means.sum()), float(np.sqrt(np.sum(spread / observed.sizes))))


def weighted_mean(by_bag: FloatArray, sizes: ArrayLike) -> Estimate:
    """Return the mean over bags weighted by bag size, and its standard error."""
    weights = np.asarray(sizes) / np.sum(sizes)
    mean = float(weights @ by_bag)
    n_bags = len(by_bag)
    variance = np.sum(weights**2 * (by_bag - mean) ** 2) * n_bags / max(n_bags - 1, 1)
    return Estimate(mean, float(np.sqrt(variance)))
