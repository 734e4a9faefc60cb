"""Count likelihood: the probability of the known number of positives in each bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.risks.bag_counts import BagGroup, PureBags, group_bags
from decorrupt.risks.score_risk import Operator


@dataclass(frozen=True)
class CountRisk:
    """−(1/n)·Σ_k log P(Σ_{j∈k} Y_j = c_k), P(Y_j=1) = σ(f_j), as a function of the n scores.

    Its slope is (σ(f_j) − E[Y_j | ΣY = c_k])/n. If every bag has one class only, it is the logistic
    loss, which is convex; otherwise it is not convex. See :func:`count_risk`.
    """

    n_rows: int
    n_bags: int
    groups: tuple[BagGroup, ...]

    @property
    def is_convex(self) -> bool:
        """Whether every bag has one class only."""
        return all(isinstance(group, PureBags) for group in self.groups)

    def log_probs_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(c_k) of every bag, and the slope of their sum in the scores."""
        # Row −1 pads the bags: it is never positive.
        padded = np.append(scores.astype(float, copy=False), -np.inf)
        log_prob, slope = np.zeros(self.n_bags), np.empty(len(padded))
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
        diagonal = expit(scores) * expit(-scores) / self.n_rows
        return lambda v: (diagonal * v.T).T


def count_risk(
    strata: Strata, *, large_bags: float | str = "auto", proportion_noise: Any = 0.0
) -> CountRisk:
    """Return −(1/n)·Σ_k log P(count_k) for bags with counts c_k = p_k·n_k.

    Parameters
    ----------
    strata : Strata
        The bags and their proportions.
    large_bags : "auto" or float
        Bags above this size use a normal approximation of cost O(n_k) instead of the exact sums,
        see :func:`tilted_normal`; ``inf`` for never. "auto" is 256. For bags of any size, the
        error is at most 0.01 in a bag's log-likelihood and 0.001 in a row's slope, because the
        approximation depends on the variance of the count, not on the size.
    proportion_noise : float or mapping
        The standard deviation of the noise in the proportions, for all bags or by bag id. Bags
        with noise use the normal approximation, with unrounded counts and n_k²·sd² added to the
        variance. For bags without noise, c_k is rounded to the nearest whole number;
        :func:`describe_rounded` names the bags this changes.
    """
    groups = group_bags(strata, large_bags=large_bags, proportion_noise=proportion_noise)
    return CountRisk(len(strata.row_stratum), len(strata.ids), tuple(groups))


def count_log_likelihood(
    probabilities: ArrayLike,
    strata: Strata,
    *,
    large_bags: float | str = "auto",
    proportion_noise: Any = 0.0,
) -> FloatArray:
    """Return log P(Σ_{j∈k} Y_j = c_k) of every bag, given P(Y_j=1) of every row.

    A proper scoring rule that needs no labels: on average over held-out bags, it is largest for
    the true probabilities.

    Parameters
    ----------
    probabilities : array-like of shape (n_rows,)
        P(Y=1|x). They are clipped to [ε, 1−ε], ε = 2.2e-16 for float64, so that every
        log-likelihood is finite.
    strata, large_bags, proportion_noise
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
    probabilities = np.asarray(probabilities)
    if probabilities.dtype.kind != "f":
        probabilities = probabilities.astype(float)
    if probabilities.shape != strata.row_stratum.shape:
        raise ValueError(
            f"probabilities have shape {probabilities.shape}: give one P(Y=1|x) for each of the "
            f"{len(strata.row_stratum)} rows"
        )
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        row = int(np.flatnonzero(~((probabilities >= 0) & (probabilities <= 1)))[0])
        raise ValueError(f"probabilities[{row}] = {probabilities[row]:g} is not in [0, 1]")
    precision = np.finfo(probabilities.dtype).eps
    scores = logit(np.clip(probabilities, precision, 1 - precision))
    risk = count_risk(strata, large_bags=large_bags, proportion_noise=proportion_noise)
    return risk.log_probs_and_slope(scores)[0]
