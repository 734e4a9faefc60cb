"""Count likelihood and label posterior, given what was observed about the labels of each bag."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import (
    only_two_classes,
    posterior_of_slope,
    prior_scores,
    refuse_curvature,
    score_shape,
    scores_of_probabilities,
    with_padding,
)
from decorrupt.observed import Observed, as_targets, class_columns, inside, is_share_row
from decorrupt.risks.class_counts import NormalCounts
from decorrupt.risks.groups import Group, class_groups, group_bags, noisy_rows, two_class_groups
from decorrupt.risks.risk import Operator
from decorrupt.risks.segments import Segments, ValueAndSlope

PRIOR_TOL = 1e-6
MAX_PRIOR_STEPS = 100


@dataclass(frozen=True, eq=False)
class CountRisk:
    """−(1/n)·Σ_b log Σ_k ν_bk·P(Σ_{j∈b} e_{Y_j} = k), as a function of the scores of the n rows.

    ν_bk says which class counts k of bag b are possible, or how probable they make what was
    reported. Rows with noisy labels add −(1/n)·log Σ_c P(noisy label | c)·P(Y_j=c). The slope in
    the scores is [P(Y_j=c) − P(Y_j=c | observation)]/n.

    Parameters
    ----------
    n_rows : float
        n; of a part of the rows, that of all.
    n_bags : int
        Number of bags.
    groups : tuple
        The bags, by how their probability is computed. Bags without information are in none. The
        slope of a group is that of one of the rows that a row represents.
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents; their labels are independent.
    shift : float or ndarray
        Added to the scores, which moves them to the class prior of each row's population.
    observed : Observed, optional
        From what the risk was made; needed for `take` and `class_prior`.
    """

    n_rows: float
    n_bags: int
    groups: tuple[Group, ...]
    weights: NDArray[Any] | None = None
    shift: FloatArray | float = 0.0
    observed: Any = None

    @property
    def is_convex(self) -> bool:
        """Whether the class of every row is known, or nothing is known about it."""
        return all(group.is_convex for group in self.groups)

    @property
    def has_curvature(self) -> bool:
        """Whether `curvature` is implemented: every row has an observation of its own, or none."""
        return all(group.curvature is not None for group in self.groups)

    def take(self, rows: NDArray[np.intp]) -> CountRisk:
        """Return the risk of some rows; bags must be whole."""
        return count_risk(self.observed.take(rows))

    def log_probs_and_slope(self, scores: FloatArray) -> ValueAndSlope:
        """Return log P(observation) of every bag, and the slope of their sum in the scores."""
        log_prob, slope = self._slope_of_one(scores)
        return log_prob, slope if self.weights is None else (slope.T * self.weights).T

    def _slope_of_one(self, scores: FloatArray) -> ValueAndSlope:
        """Return the same with the slope divided by the weights: P(Y_j=c | observation) − p_jc."""
        padded = with_padding(scores + self.shift)
        log_prob, slope = np.zeros(self.n_bags), np.zeros(padded.shape)
        for group in self.groups:
            rows = group.rows
            log_prob[group.bags], slope[rows] = group.log_prob_and_slope(padded[rows])
        return log_prob, slope[: len(scores)]

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient in the scores."""
        log_prob, slope = self.log_probs_and_slope(scores)
        return -float(log_prob.sum()) / self.n_rows, slope / -self.n_rows

    def log_likelihood(self, scores: FloatArray) -> float:
        """Return Σ log P(observation)."""
        return float(self._slope_of_one(scores)[0].sum())

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y_j=c | observation) of every row, shape (n_rows, n_classes).

        Of a row that represents several, it is the expected share of them.
        """
        moved = scores + self.shift
        posterior = posterior_of_slope(moved, self._slope_of_one(scores)[1])
        for group in self.groups:
            if group.posterior is not None:
                posterior[group.rows] = group.posterior(moved[group.rows])
        return posterior

    def curvature(self, scores: FloatArray) -> Operator:
        """Return the diagonal curvature if every row has an observation of its own, or none."""
        refuse_curvature(scores)
        moved, diagonal = scores + self.shift, np.zeros(len(scores))
        for group in self.groups:
            if group.curvature is None:
                raise ValueError(
                    "the count likelihood is not compatible with solver='newton', which needs its "
                    "curvature; use solver='lbfgs' or 'auto'"
                )
            curvature = group.curvature(moved[group.rows].astype(float, copy=False))
            diagonal[group.rows] = curvature / self.n_rows
        if self.weights is not None:
            diagonal *= self.weights
        return lambda v: (diagonal * v.T).T

    @cached_property
    def class_prior(self) -> FloatArray:
        """The class shares of maximum likelihood if no column is used: π = mean posterior at π."""
        observed = self.observed
        prior = inside(observed.mean(observed.row_proportions), self.n_rows)
        shape = (len(observed.row_bag), *score_shape(observed.n_classes))
        for _ in range(MAX_PRIOR_STEPS):
            before = prior
            scores = np.array(np.broadcast_to(prior_scores(before), shape))
            prior = inside(observed.mean(self.posterior(scores)), self.n_rows)
            if np.abs(prior - before).max() < PRIOR_TOL:
                break
        return prior


def count_risk(observed: Observed, *, large_bags: float | str = "auto") -> CountRisk:
    """Return −(1/n)·Σ_b log P(what is known about the labels of bag b).

    Parameters
    ----------
    observed : Observed
        Bags, noisy labels, labels, rows without any, or several of them.
    large_bags : float or "auto"
        Bags of two classes with more rows are approximated; "auto" is 256.
    """
    if large_bags != "auto":
        only_two_classes(observed.n_classes, f"large_bags={large_bags!r}", "leave it at 'auto'")
        if isinstance(large_bags, str) or not large_bags >= 1:
            raise ValueError(
                f"large_bags={large_bags!r}: give 'auto' or the largest bag size to compute "
                "exactly, a number of at least 1 (numpy.inf for all bags)"
            )
    by_size = partial(two_class_groups, large_bags=large_bags)
    groups = tuple(group_bags(observed, by_size if observed.n_classes == 2 else class_groups))
    weights = observed.weights
    return CountRisk(observed.n_rows, observed.n_bags, groups, weights, observed=observed)


def noisy_label_risk(observed: Observed, score_prior: FloatArray | None = None) -> CountRisk:
    """Return −(1/n)·Σ_j log Σ_y T_s[y, ỹ_j]·P_s(y|x_j), s the source of row j.

    Parameters
    ----------
    observed : Observed
        Rows with noisy labels of sources.
    score_prior : ndarray of shape (n_classes,), optional
        The class shares in the population that the scores describe; None for equal shares.
    """
    by_source = np.array([prior_scores(prior) for prior in observed.source_priors])
    if score_prior is not None:
        by_source = by_source - prior_scores(score_prior)
    given: Any = observed.given
    rows, weights = np.arange(len(given)), observed.weights
    groups = (noisy_rows(rows, rows, given, weights),)
    shift = by_source[observed.only_sources().row_source]
    return CountRisk(observed.n_rows, len(rows), groups, weights, shift)


def normal_count_risk(
    observed: Observed, counts: FloatArray, weights: FloatArray, noise_variance: FloatArray
) -> CountRisk:
    """Return the risk of rows sorted by bag, with the normal approximation for every bag.

    The counts, of shape (n_bags, n_classes), and the weights of the rows need not be whole.
    """
    segments = Segments(np.bincount(observed.row_bag), weights)
    rows, bags = np.arange(len(weights)), np.arange(observed.n_bags)
    normal = NormalCounts(segments, counts, noise_variance)
    group = Group(bags, rows, normal.log_prob_and_slope, normal.posterior)
    return CountRisk(observed.n_rows, observed.n_bags, (group,), weights)


def count_log_likelihood(prob: ArrayLike, observed: Observed) -> FloatArray:
    """Return log P(observation) of every bag, given P(Y_j=c) of every row: a proper scoring rule.

    Of two classes P(Y_j=1) suffices. Zeros are replaced by the float precision.
    """
    return count_risk(observed).log_probs_and_slope(read_scores(prob, observed))[0]


def read_scores(prob: ArrayLike, observed: Observed) -> FloatArray:
    """Return the scores of probabilities; raise a ValueError if they are none."""
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
    return scores_of_probabilities(by_class)


@dataclass(frozen=True)
class LabelPosterior:
    """Posterior probabilities and the log-likelihood of the observations.

    Attributes
    ----------
    posterior : ndarray of shape (n_rows,) or (n_rows, n_classes)
        P(Y_j=1 | observation of its bag), or P(Y_j=c | …) with one column per class.
    log_likelihood : ndarray of shape (n_bags,)
        log P(observation) of every bag, in the sorted order of the bag ids.
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
    sample_weight: ArrayLike | None = None,
) -> LabelPosterior:
    """Return the probability of every row's label, given what is known about its bag.

    w_j = P(Y_j=1 | observation) and log L = log Σ_k ν_k·P(ΣY = k) of every bag.

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
        all counts that round to it are possible.
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
    sample_weight : array-like of shape (n_rows,), optional
        How many rows each row represents, a whole number of at least 1. Their labels are
        independent, and the posterior is the expected share of them in each class.

    Raises
    ------
    ValueError
        If an argument is invalid or no count is possible in a bag; the message names the bag.

    Notes
    -----
    Bags of several classes are exact if at most 512 count vectors have to be considered: those
    below the counts or the upper ends of their ranges, or with ranges and noise all of at most n
    rows (12 rows of 3 classes, 8 of 4). In larger bags counts are approximately normal, noise is
    treated as Gaussian, and ranges are a sum over all possible count vectors, at most 4096. The
    posterior is then p_jc·u_c with factors u such that its sums over the bag are the expected class
    counts (iterative proportional fitting).

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import label_posterior
    >>> found = label_posterior([0.5, 0.5, 0.2], [0.5, 0.5, 0.0], bags=["a", "a", "b"])
    >>> found.posterior.round(3).tolist()
    [0.5, 0.5, 0.0]
    >>> np.exp(found.log_likelihood).round(3).tolist()
    [0.5, 0.8]

    Two rows of three classes, none of the first class and at most one of the second:

    >>> some = label_posterior(
    ...     [[0.5, 0.25, 0.25]] * 2, [[0, 0, 0]] * 2, bags=["a", "a"], upper=[[0, 0.5, 1]] * 2
    ... )
    >>> some.posterior.round(3).tolist()
    [[0.0, 0.333, 0.667], [0.0, 0.333, 0.667]]
    """
    observed = Observed.from_bags(
        y, bags, upper=upper, count_noise=count_noise, sample_weight=sample_weight
    )
    risk, scores = count_risk(observed), read_scores(probabilities, observed)
    posterior, by_bag = risk.posterior(scores), risk.log_probs_and_slope(scores)[0]
    return LabelPosterior(
        as_targets(posterior) if np.ndim(probabilities) == 1 else posterior, by_bag
    )
