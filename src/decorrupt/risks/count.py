"""Count likelihood: the probability of what is known about the class counts of each bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import (
    only_two_classes,
    posterior_of_slope,
    probabilities,
    refuse_curvature,
    scores_of_probabilities,
    with_padding,
)
from decorrupt.observed import Observed, class_columns, is_share_row
from decorrupt.risks.bag_rows import BagRows, PureBags
from decorrupt.risks.class_groups import class_groups
from decorrupt.risks.score_risk import Operator
from decorrupt.risks.two_class_groups import two_class_groups


@dataclass(frozen=True, eq=False)
class CountRisk:
    """−(1/n)·Σ_b log Σ_k ν_bk·P(Σ_{j∈b} e_{Y_j} = k), as a function of the scores of the n rows.

    ν_bk says which class counts k of bag b are possible, or how probable they make what was
    reported. The slope in the scores is [P(Y_j=c) − P(Y_j=c | observation)]/n.

    Parameters
    ----------
    n_rows : int
        n; of a part of the rows, that of all.
    n_bags : int
        Number of bags.
    groups : tuple
        The bags, by how their probability is computed. Bags without information are in none. The
        slope of a group is that of one of the rows that a row represents.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents; their labels are independent.
    """

    n_rows: float
    n_bags: int
    groups: tuple[Any, ...]
    weights: NDArray[Any] | None = None

    @property
    def is_convex(self) -> bool:
        """Whether every bag has one class only, or nothing is known about it."""
        return all(isinstance(group, PureBags) for group in self.groups)

    @property
    def has_curvature(self) -> bool:
        """Whether `curvature` is implemented."""
        return self.is_convex

    def log_probs_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(observation) of every bag, and the slope of their sum in the scores."""
        log_prob, slope = self._slope_of_one(scores)
        return log_prob, slope if self.weights is None else (slope.T * self.weights).T

    def _slope_of_one(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the same with the slope divided by the weights: P(Y_j=c | observation) − p_jc."""
        padded = with_padding(scores)
        log_prob, slope = np.zeros(self.n_bags), np.zeros(padded.shape)
        for group in self.groups:
            log_prob[group.bags], slope[group.rows] = group.log_prob_and_slope(padded)
        return log_prob, slope[: len(scores)]

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        log_prob, slope = self.log_probs_and_slope(scores)
        return -float(log_prob.sum()) / self.n_rows, slope / -self.n_rows

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y_j=c | observation) of every row, shape (n_rows, n_classes).

        Of a row that represents several, it is the expected share of them.
        """
        found = posterior_of_slope(scores, self._slope_of_one(scores)[1])
        for group in self.groups:
            if hasattr(group, "posterior"):
                found[group.rows] = group.posterior(scores)
        return found

    def curvature(self, scores: FloatArray) -> Operator:
        """Return the diagonal P(Y=1|x)·P(Y=0|x)/n if every bag has one class only."""
        refuse_curvature(scores)
        if not self.has_curvature:
            raise ValueError(
                "the count likelihood is not compatible with solver='newton', which needs its "
                "curvature; use solver='lbfgs' or 'auto'"
            )
        diagonal = np.zeros(len(scores))
        for group in self.groups:
            prob = probabilities(scores[group.rows].astype(float, copy=False))
            diagonal[group.rows] = prob[:, 0] * prob[:, 1] / self.n_rows
        if self.weights is not None:
            diagonal *= self.weights
        return lambda v: (diagonal * v.T).T


def count_risk(observed: Observed, *, large_bags: float | str = "auto") -> CountRisk:
    """Return −(1/n)·Σ_b log P(what is known about the class counts of bag b).

    Parameters
    ----------
    observed : Observed
        The bags.
    large_bags : float or "auto"
        Bags of two classes with more rows are approximated; "auto" is 256.
    """
    rows, counts = BagRows(observed), observed.counts
    if observed.n_classes == 2:
        groups: tuple[Any, ...] = tuple(two_class_groups(rows, counts, large_bags=large_bags))
    else:
        if large_bags != "auto":
            only_two_classes(observed.n_classes, f"large_bags={large_bags!r}", "leave it at 'auto'")
        groups = tuple(class_groups(rows, counts))
    return CountRisk(observed.n_rows, observed.n_bags, groups, observed.weights)


def count_log_likelihood(prob: ArrayLike, observed: Observed) -> FloatArray:
    """Return log P(observation) of every bag, given P(Y_j=c) of every row: a proper scoring rule.

    Parameters
    ----------
    prob : array-like of shape (n_rows,) or (n_rows, n_classes)
        P(Y=1|x), or the probabilities of all classes; zeros are replaced by the float precision.
    observed : Observed
        The bags.

    Raises
    ------
    ValueError
        If probabilities are out of range or of another shape.
    """
    scores = scores_of_probabilities(read_probabilities(prob, observed))
    return count_risk(observed).log_probs_and_slope(scores)[0]


def read_probabilities(prob: ArrayLike, observed: Observed) -> FloatArray:
    """Return probabilities with one column per class; raise a ValueError if they are none."""
    given = np.asarray(prob)
    given = given if given.dtype.kind == "f" else given.astype(float)
    expected = (len(observed.row_bag), observed.n_classes)
    by_class = given if given.ndim == 2 else class_columns(given).astype(given.dtype)
    if given.ndim not in (1, 2) or by_class.shape != expected:
        raise ValueError(
            f"probabilities have shape {given.shape}: give P(Y=c|x) for each of the {expected[0]} "
            f"rows and {expected[1]} classes, or P(Y=1|x) of two classes"
        )
    for row in np.flatnonzero(~is_share_row(by_class.astype(float)))[:1]:
        shown = f"{given[row]:g} is not" if given.ndim == 1 else f"{given[row].tolist()} are not"
        raise ValueError(f"probabilities[{row}] = {shown} in [0, 1] with a sum of 1")
    return np.asarray(by_class)
