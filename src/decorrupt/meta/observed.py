"""What is observed about the labels of all rows: bags, noisy labels of sources, or nothing.

Every observation turns scores into posteriors and a log-likelihood, and observations of different
rows are independent. So bags, labelled rows (bags of one row), noisy labels and unlabelled rows go
into one fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.priors import log_prior
from decorrupt.risks.count import CountRisk, count_risk
from decorrupt.risks.multiclass import ClassCountRisk, class_posterior
from decorrupt.risks.multiclass.softmax import SoftmaxRisk, slope_in_scores
from decorrupt.risks.observations import CountObservations

PRIOR_TOL = 1e-6
MAX_PRIOR_STEPS = 100


@dataclass(frozen=True)
class ObservedLabels(SoftmaxRisk):
    """−(1/n)·Σ log P(observation), as a function of the scores, and the label posterior.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    strata : Strata
        The bag of each row, with its shares; a row outside the bags is a bag of one row.
    counts : CountObservations or None
        What is known about the counts; None for known counts of several classes.
    given : ndarray of shape (n_rows, n_classes) or None
        P(noisy label | Y=c) of rows with a noisy label; NaN for all other rows.
    """

    classes: NDArray[Any]
    strata: Strata
    counts: CountObservations | None
    given: FloatArray | None = None

    @property
    def is_convex(self) -> bool:
        """Whether it is known to be convex: every row has its own label."""
        return self.given is None and self._risk.is_convex

    @property
    def n_columns(self) -> int | None:
        """Scores per row if there are several classes; None for two."""
        return self.strata.n_classes

    def take(self, rows: NDArray[np.intp]) -> ObservedLabels:
        """Return the observations of some rows; bags must be whole."""
        bags = np.unique(self.strata.row_stratum[rows])
        counts = None if self.counts is None else self.counts.take(bags)
        given = None if self.given is None else self.given[rows]
        return ObservedLabels(self.classes, self.strata.take(rows), counts, given)

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log-likelihood per row, and its slope in the scores."""
        by_bag, slope = self.log_likelihood_and_slope(scores)
        return -float(by_bag.sum()) / len(scores), slope / -len(scores)

    def log_likelihood_and_slope(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(observation) of every bag, and the slope of their sum in the scores."""
        risk = self._risk
        if isinstance(risk, CountRisk):
            by_bag, slope = risk.log_probs_and_slope(scores)
        else:
            logs = log_softmax(scores.astype(float), axis=1)
            by_bag, slope = risk.log_probs_and_slope(logs)
            slope = slope_in_scores(slope, np.exp(logs))
        if self.given is not None:
            log_likelihood, posterior = self._noisy_posterior(scores)
            by_bag[self.strata.row_stratum[self._noisy]] = log_likelihood
            slope[self._noisy] = posterior - probabilities_of(scores[self._noisy])
        return by_bag, slope

    def log_likelihood(self, scores: FloatArray) -> float:
        """Return Σ log P(observation)."""
        return float(self.log_likelihood_and_slope(scores)[0].sum())

    def posterior(self, scores: FloatArray) -> FloatArray:
        """Return P(Y=1 | observation) of every row; of several classes one column per class."""
        risk = self._risk
        if isinstance(risk, CountRisk):
            slope = self.log_likelihood_and_slope(scores)[1]
            return np.asarray(np.clip(expit(scores) + slope, 0.0, 1.0))
        posterior = class_posterior(risk, log_softmax(scores.astype(float), axis=1))
        if self.given is not None:
            posterior[self._noisy] = self._noisy_posterior(scores)[1]
        return posterior

    @cached_property
    def prior(self) -> Any:
        """The class shares of maximum likelihood if no column is used: π = mean posterior at π."""
        shares = self.strata.row_proportions
        found = _inside(shares.mean(axis=0), len(shares))
        for _ in range(MAX_PRIOR_STEPS):
            before = found
            scores = np.broadcast_to(log_prior(before), shares.shape)
            found = _inside(self.posterior(np.array(scores)).mean(axis=0), len(shares))
            if np.abs(found - before).max() < PRIOR_TOL:
                break
        return found if np.ndim(found) else float(found)

    @cached_property
    def _risk(self) -> CountRisk | ClassCountRisk:
        return count_risk(self.strata, observations=self.counts)

    @cached_property
    def _noisy(self) -> NDArray[np.intp]:
        assert self.given is not None  # noqa: S101
        return np.flatnonzero(~np.isnan(self.given[:, 0]))

    def _noisy_posterior(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log Σ_c P(ỹ|c)·P(c|x) and P(c | x, ỹ) of the rows with a noisy label."""
        assert self.given is not None  # noqa: S101
        some = scores[self._noisy].astype(float)
        if some.ndim == 1:
            some = np.column_stack([np.zeros(len(some)), some])
        with np.errstate(divide="ignore"):  # −∞ is right: that class is excluded
            joint = log_softmax(some, axis=1) + np.log(self.given[self._noisy])
        total = np.logaddexp.reduce(joint, axis=1)
        posterior = np.exp(joint - total[:, None])
        return total, posterior if scores.ndim == 2 else posterior[:, 1]


def probabilities_of(scores: FloatArray) -> FloatArray:
    """Return σ(f), or the softmax of several scores per row, in double precision."""
    scores = scores.astype(float, copy=False)
    return np.asarray(expit(scores) if scores.ndim == 1 else np.exp(log_softmax(scores, axis=1)))


def _inside(shares: Any, n_rows: int) -> Any:
    """Return class shares strictly between 0 and 1: a sample cannot exclude a class."""
    margin = 0.5 / n_rows
    clipped = np.clip(shares, margin, 1 - margin)
    return clipped / clipped.sum() if np.ndim(clipped) else clipped
