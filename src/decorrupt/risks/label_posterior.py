"""The label posterior: P(Y_j = c | what is observed about the labels of its bag)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import (
    likelihood_and_slope,
    posterior_of_slope,
    prior_scores,
    score_shape,
    scores_of_probabilities,
)
from decorrupt.observed import Observed, as_targets, inside
from decorrupt.risks.count import CountRisk, count_risk, read_probabilities
from decorrupt.risks.score_risk import Operator

PRIOR_TOL = 1e-6
MAX_PRIOR_STEPS = 100


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
        all counts that round to it are possible. The digits are inferred, see
        ``decorrupt.observed.counts``.
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
        If y, bags, upper or sample_weight is invalid, the lower end of a range is above the upper
        end, no count is possible in a bag, or the scale of the noise is not positive; the message
        names the bag.

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
    known = {"upper": upper, "count_noise": count_noise, "sample_weight": sample_weight}
    observed = Observed.from_bags(y, bags, **known)
    given = read_probabilities(probabilities, observed)
    risk, scores = count_risk(observed), scores_of_probabilities(given)
    posterior = risk.posterior(scores)
    log_likelihood = risk.log_probs_and_slope(scores)[0]
    if np.ndim(probabilities) == 1:
        posterior = as_targets(posterior)
    return LabelPosterior(posterior, log_likelihood)


@dataclass(frozen=True, eq=False)
class LabelLikelihood:
    """−(1/n)·Σ log P(observation), as a function of the scores, and the label posterior.

    The observations of disjoint bags, and of rows with noisy labels, are independent, so that
    their log-likelihoods add. The slope in the scores is [P(Y=c|x) − P(Y=c|x, observed)]/n.

    Parameters
    ----------
    observed : Observed
        Bags, noisy labels, labels, rows without any, or several of them.
    """

    observed: Observed

    @property
    def is_convex(self) -> bool:
        """Whether it is known to be convex: every row has its own label."""
        return self.observed.given is None and self._counts.is_convex

    @property
    def has_curvature(self) -> bool:
        """Whether `curvature` is implemented."""
        return self.is_convex

    def take(self, rows: NDArray[np.intp]) -> LabelLikelihood:
        """Return the likelihood of some rows; bags must be whole."""
        return LabelLikelihood(self.observed.take(rows))

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log-likelihood per row, and its slope in the scores."""
        by_bag, slope = self.log_probs_and_slope(scores)
        n_rows = self.observed.n_rows
        return -float(by_bag.sum()) / n_rows, slope / -n_rows

    def curvature(self, scores: FloatArray) -> Operator:
        """Return the curvature of labelled rows; raise a ValueError for others."""
        return self._counts.curvature(scores)

    def log_probs_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(observation) of every bag, and the slope of their sum in the scores."""
        by_bag, slope = self._counts.log_probs_and_slope(scores)
        if self.observed.given is not None:
            rows = self._noisy_rows
            value, own = likelihood_and_slope(scores[rows].astype(float), self._log_given)
            weights = self.observed.weights
            if weights is not None:
                value, own = value * weights[rows], (own.T * weights[rows]).T
            np.add.at(by_bag, self.observed.row_bag[rows], value)
            slope[rows] += own
        return by_bag, slope

    def log_likelihood(self, scores: FloatArray) -> float:
        """Return Σ log P(observation)."""
        return float(self.log_probs_and_slope(scores)[0].sum())

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y=c | observation) of every row, shape (n_rows, n_classes)."""
        found = self._counts.posterior(scores)
        if self.observed.given is not None:
            rows = self._noisy_rows
            some = scores[rows].astype(float)
            slope = likelihood_and_slope(some, self._log_given)[1]
            found[rows] = posterior_of_slope(some, slope)
        return found

    @cached_property
    def class_prior(self) -> FloatArray:
        """The class shares of maximum likelihood if no column is used: π = mean posterior at π."""
        observed = self.observed
        n_rows = observed.n_rows
        found = inside(observed.mean(observed.row_proportions), n_rows)
        shape = (len(observed.row_bag), *score_shape(observed.n_classes))
        for _ in range(MAX_PRIOR_STEPS):
            before = found
            scores = np.broadcast_to(prior_scores(before), shape)
            found = inside(observed.mean(self.posterior(np.array(scores))), n_rows)
            if np.abs(found - before).max() < PRIOR_TOL:
                break
        return found

    @cached_property
    def _counts(self) -> CountRisk:
        return count_risk(self.observed)

    @cached_property
    def _noisy_rows(self) -> NDArray[np.intp]:
        given: Any = self.observed.given
        return np.flatnonzero(np.ptp(given, axis=1) > 0)

    @cached_property
    def _log_given(self) -> FloatArray:
        given: Any = self.observed.given
        with np.errstate(divide="ignore"):  # −∞ is right: that class is excluded
            return np.asarray(np.log(given[self._noisy_rows]))
