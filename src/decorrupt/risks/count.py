"""Count likelihood: the probability of what is known about the number of positives in each bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.risks.bag_counts import BagGroup, PureBags, group_bags
from decorrupt.risks.multiclass import (
    ClassCountRisk,
    class_count_log_likelihood,
    class_count_risk,
)
from decorrupt.risks.observations import CountObservations, observe_counts
from decorrupt.risks.score_risk import Operator


@dataclass(frozen=True)
class CountRisk:
    """−(1/n)·Σ_k log Σ_s ν_ks·P(Σ_{j∈k} Y_j = s), P(Y_j=1) = σ(f_j), as a function of the n scores.

    ν_ks is the weight that the observation of bag k gives to the count s; for a known count c_k
    it is 1 for s = c_k only. The slope is (σ(f_j) − P(Y_j=1 | observation))/n. If every bag has one
    class only, it is the logistic loss, which is convex; otherwise it is not convex. See
    :func:`count_risk`. Bags in no group add nothing: all their counts are possible.
    """

    n_rows: int
    n_bags: int
    groups: tuple[BagGroup, ...]

    @property
    def is_convex(self) -> bool:
        """Whether every bag has one class only, or nothing is known about it."""
        return all(isinstance(group, PureBags) for group in self.groups)

    def log_probs_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(observation) of every bag, and the slope of their sum in the scores.

        The slope is the posterior minus the prior probability of the row.
        """
        # Row −1 pads the bags: it is never positive.
        padded = np.append(scores.astype(float, copy=False), -np.inf)
        log_prob, slope = np.zeros(self.n_bags), np.zeros(len(padded))
        for group in self.groups:
            log_prob[group.bags], slope[group.rows] = group.log_prob_and_slope(padded)
        return log_prob, slope[:-1]

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        log_prob, slope = self.log_probs_and_slope(scores)
        return -float(log_prob.sum()) / self.n_rows, slope / -self.n_rows

    def curvature(self, scores: FloatArray) -> Operator:
        """Return the diagonal σ(f)σ(−f)/n if every bag has one class only.

        Raises
        ------
        ValueError
            Otherwise: the curvature couples all rows of a bag and is not implemented.
        """
        if not self.is_convex:
            raise ValueError(
                "the count likelihood is not compatible with solver='newton', which needs its "
                "curvature; use solver='lbfgs' or 'auto'"
            )
        diagonal = np.zeros(len(scores))
        for group in self.groups:
            some = scores[group.rows].astype(float, copy=False)
            diagonal[group.rows] = expit(some) * expit(-some) / self.n_rows
        return lambda v: (diagonal * v.T).T


def count_risk(
    strata: Strata,
    *,
    large_bags: float | str = "auto",
    count_noise: Any = None,
    observations: CountObservations | None = None,
) -> CountRisk | ClassCountRisk:
    """Return −(1/n)·Σ_k log P(observation of bag k).

    Parameters
    ----------
    strata : Strata
        The bags and their proportions; :mod:`decorrupt.risks.observations` describes how a
        proportion that is not a multiple of 1/n_k is read. With the shares of several classes, the
        risk is :func:`decorrupt.risks.multiclass.class_count_risk`, which takes no `large_bags`.
    large_bags : "auto" or float
        Bags above this size use a normal approximation of cost O(n_k) instead of the exact sums,
        see :func:`tilted_normal` and :func:`tilted_weights`; ``inf`` for never. "auto" is 256. For
        a known count and bags of any size, the error is at most 0.01 in a bag's log-likelihood and
        0.001 in a row's slope, because the approximation depends on the variance of the count, not
        on the size.
    count_noise : GaussianNoise, LaplaceNoise, GeometricNoise, float, mapping or None
        The noise in the counts, see :func:`decorrupt.risks.count_noise.read_count_noise`.
    observations : CountObservations, optional
        What is known about the counts; replaces the proportions and `count_noise`. By default,
        without `count_noise`, those of the strata.
    """
    if observations is None and count_noise is None:
        observations = strata.observed
    if strata.n_classes is not None:
        if large_bags != "auto":
            raise ValueError(
                f"large_bags={large_bags!r} is for two classes: for several, leave it at 'auto'"
            )
        return class_count_risk(strata, count_noise=count_noise, observations=observations)
    if observations is None:
        observations = observe_counts(strata, count_noise=count_noise)
    groups = group_bags(strata, observations, large_bags=large_bags)
    return CountRisk(len(strata.row_stratum), len(strata.ids), tuple(groups))


def count_log_likelihood(
    probabilities: ArrayLike,
    strata: Strata,
    *,
    large_bags: float | str = "auto",
    count_noise: Any = None,
) -> FloatArray:
    """Return log P(observation of bag k) of every bag, given P(Y_j=1) of every row.

    A proper scoring rule that needs no labels: on average over held-out bags, it is largest for
    the true probabilities.

    Parameters
    ----------
    probabilities : array-like of shape (n_rows,) or (n_rows, n_classes)
        P(Y=1|x), or P(Y=c|x) if the strata have shares of several classes. They are clipped to
        [ε, 1−ε], ε = 2.2e-16 for float64, so that every log-likelihood is finite.
    strata, large_bags, count_noise
        As in :func:`count_risk`.

    Returns
    -------
    ndarray of shape (n_bags,)
        In the order of ``strata.ids``.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt.corruption import strata_from_bags
    >>> from decorrupt.risks.count import count_log_likelihood
    >>> bags = strata_from_bags(["a", "a", "b"], [0.5, 0.5, 0.0])
    >>> np.exp(count_log_likelihood([0.5, 0.5, 0.1], bags)).round(3).tolist()
    [0.5, 0.9]
    """
    if strata.n_classes is not None:
        return class_count_log_likelihood(probabilities, strata, count_noise=count_noise)
    risk: Any = count_risk(strata, large_bags=large_bags, count_noise=count_noise)
    scores = log_odds(probabilities, len(strata.row_stratum))
    return np.asarray(risk.log_probs_and_slope(scores)[0])


def log_odds(probabilities: ArrayLike, n_rows: int) -> FloatArray:
    """Return log p/(1−p), finite for every p in [0, 1]: p is clipped at the float precision.

    Raises
    ------
    ValueError
        If there is not one probability per row.
    """
    probabilities = np.asarray(probabilities)
    if probabilities.dtype.kind != "f":
        probabilities = probabilities.astype(float)
    if probabilities.shape != (n_rows,):
        raise ValueError(
            f"probabilities have shape {probabilities.shape}: give one P(Y=1|x) for each of the "
            f"{n_rows} rows"
        )
    for row in np.flatnonzero(~((probabilities >= 0) & (probabilities <= 1)))[:1]:
        raise ValueError(f"probabilities[{row}] = {probabilities[row]:g} is not in [0, 1]")
    precision = np.finfo(probabilities.dtype).eps
    return np.asarray(logit(np.clip(probabilities, precision, 1 - precision)))
