"""The label posterior: P(Y_j = c | what is observed about the labels of its bag)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.risks.bag_observations import observe_bags
from decorrupt.risks.count import CountRisk, count_risk, log_odds
from decorrupt.risks.multiclass import ClassCountRisk, class_log_probabilities, class_posterior
from decorrupt.risks.observations import CountObservations


@dataclass(frozen=True)
class LabelPosterior:
    """Posterior probabilities and the log-likelihood of the observations.

    Attributes
    ----------
    posterior : ndarray of shape (n_rows,) or (n_rows, n_classes)
        P(Y_j=1 | observation of its bag), or P(Y_j=c | …) with one column per class.
    log_likelihood : ndarray of shape (n_bags,)
        log P(observation) of every bag, in the sorted order of the bag ids; their sum is the
        log-likelihood.
    """

    posterior: FloatArray
    log_likelihood: FloatArray


def label_posterior(
    probabilities: ArrayLike,
    y: ArrayLike,
    *,
    bags: Any,
    upper: ArrayLike | None = None,
    count_noise: Any = None,
) -> LabelPosterior:
    """Return w_j = P(Y_j=1 | observation) and log L = log Σ_k ν_k·P(ΣY = k) of every bag.

    ν_k is the weight that the observation gives to k positives: 1 for the known count, 1 inside a
    range, the probability of the noise. The negative log-likelihood has the slope p_j − w_j in
    the log-odds of row j, and its Hessian is at most diag(p(1−p)); so w serves EM with any
    classifier, boosting and gradient methods alike. Bags of up to 256 rows are exact, larger ones
    use a normal approximation.

    Parameters
    ----------
    probabilities : array-like of shape (n_rows,) or (n_rows, n_classes)
        P(Y_j=1) of every row before the observation, or P(Y_j=c) of several classes.
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        The proportion of positives in each row's bag, or the share of each class. A row with a
        known label is a bag of one row. A proportion that is not a multiple of 1/n was rounded:
        all counts that round to it are possible. The digits are inferred, see
        ``decorrupt.risks.observations``.
    bags : array-like of shape (n_rows,)
        The bag of each row; any hashable ids.
    upper : array-like of shape (n_rows,) or (n_rows, n_classes), optional
        The upper end of the range of each row's bag, or of each class; y is then the lower end.
        Equal values are a known proportion; 0 and 1 are no observation. The ends of several
        classes need not sum to 1: the counts of a bag sum to its rows.
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float, mapping or None
        The noise in the counts n·y, for all bags or by bag id (None for a bag without noise). A
        number is the standard deviation of Gaussian noise. Noisy proportions can be below 0 or
        above 1. With several classes, independent noise in the count of each class, and the noisy
        shares of a bag need not sum to 1. Not together with ranges of several classes.

    Raises
    ------
    ValueError
        If y, bags or upper is invalid, the lower end of a range is above the upper end, no count
        is possible in a bag, or the scale of the noise is not positive; the message names the bag.

    Notes
    -----
    Bags of several classes are exact if at most 512 count vectors have to be considered: those
    below the counts or the upper ends of their ranges, or with ranges and noise all of at most n
    rows (12 rows of 3 classes, 8 of 4). In larger bags counts are approximately normal, Laplace and
    geometric noise is treated as Gaussian noise of its variance, and ranges are a sum over all
    possible count vectors, of which there must be at most 4096. The posterior is then p_jc·u_c with
    factors u such that its sums over the bag are the expected class counts (iterative proportional
    fitting).

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import label_posterior
    >>> found = label_posterior([0.5, 0.5, 0.2], [0.5, 0.5, 0.0], bags=["a", "a", "b"])
    >>> found.posterior.round(3).tolist()
    [0.5, 0.5, 0.0]
    >>> np.exp(found.log_likelihood).round(3).tolist()
    [0.5, 0.8]
    >>> some = label_posterior([0.2, 0.4], [0.5, 0.5], bags=["a", "a"], upper=[1.0, 1.0])
    >>> np.exp(some.log_likelihood).round(3).tolist()   # at least one positive: 1 − 0.8·0.6
    [0.52]

    Two rows of three classes, none of the first class and at most one of the second:

    >>> some = label_posterior(
    ...     [[0.5, 0.25, 0.25]] * 2, [[0, 0, 0]] * 2, bags=["a", "a"], upper=[[0, 0.5, 1]] * 2
    ... )
    >>> some.posterior.round(3).tolist()
    [[0.0, 0.333, 0.667], [0.0, 0.333, 0.667]]
    """
    strata, observed = observe_bags(y, bags, upper=upper, count_noise=count_noise)
    return posterior_of(probabilities, strata, observed)


def posterior_of(
    probabilities: ArrayLike, strata: Strata, observed: CountObservations | None
) -> LabelPosterior:
    """Return the label posterior for bags that :func:`observe_bags` has read."""
    risk = count_risk(strata, observations=observed)
    if isinstance(risk, ClassCountRisk):
        logs = class_log_probabilities(probabilities, strata)
        return LabelPosterior(class_posterior(risk, logs), risk.log_probs_and_slope(logs)[0])
    return binary_posterior(risk, log_odds(probabilities, len(strata.row_stratum)))


def binary_posterior(risk: CountRisk, scores: FloatArray) -> LabelPosterior:
    """Return the label posterior at log-odds f_j: σ(f_j) plus the slope of the log-likelihood."""
    log_prob, slope = risk.log_probs_and_slope(scores)
    return LabelPosterior(np.clip(expit(scores) + slope, 0.0, 1.0), log_prob)
