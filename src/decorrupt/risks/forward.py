"""Forward risk: the negative log-likelihood of observations of rows, summed over true labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.losses import likelihood_and_slope, likelihood_curvature, prior_scores
from decorrupt.observed import Observed
from decorrupt.risks.score_risk import Operator


@dataclass(frozen=True, eq=False)
class ForwardRisk:
    """−(1/n)·Σ_j log Σ_c given[j, c]·P(Y=c|x_j), the scores being f_j + shift_j.

    Parameters
    ----------
    given : ndarray of shape (n_rows, n_classes)
        P(observation of row j | Y=c), up to a factor per row.
    shift : float or ndarray
        Moves the scores of each row to the class prior of its population; of two classes of shape
        (n_rows,), of several (n_rows, n_classes).
    weights : ndarray of shape (n_rows,), optional
        How many rows each row represents; n is their sum.
    """

    given: FloatArray
    shift: FloatArray | float = 0.0
    weights: NDArray[Any] | None = None

    @cached_property
    def is_convex(self) -> bool:
        """Whether every observation determines its row's class or has no information about it."""
        only_one = (self.given > 0).sum(axis=1) == 1
        nothing = np.ptp(self.given, axis=1) == 0
        return bool((only_one | nothing).all())

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its slope [P(Y=c|x) − P(Y=c|x, observed)]/n."""
        log_likelihood, slope = likelihood_and_slope(scores + self.shift, self._log_given)
        value = float(np.sum(self._row_shares * log_likelihood, dtype=float))
        return -value, (slope.T * -self._row_shares.astype(slope.dtype)).T

    def log_likelihoods(self, scores: FloatArray) -> FloatArray:
        """Return log P(observed | x) of every row."""
        return likelihood_and_slope(scores + self.shift, self._log_given)[0]

    def curvature(self, scores: FloatArray) -> Operator:
        """Return the diagonal Var(Y|x) − Var(Y|x, observed) of 0–1 labels, over n."""
        diagonal = likelihood_curvature(scores + self.shift, self._log_given) * self._row_shares
        return lambda v: (diagonal * v.T).T

    @cached_property
    def _row_shares(self) -> FloatArray:
        """1/n of every row, times its weight."""
        weights = np.ones(len(self.given)) if self.weights is None else self.weights
        return np.asarray(weights / weights.sum())

    @cached_property
    def _log_given(self) -> FloatArray:
        with np.errstate(divide="ignore"):  # −∞ is right: that class is excluded
            return np.asarray(np.log(self.given))


def noisy_label_risk(observed: Observed, score_prior: FloatArray | None = None) -> ForwardRisk:
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
    row_source = observed.only_sources().row_source
    given: Any = observed.given
    return ForwardRisk(given, by_source[row_source], observed.weights)


def bag_shares_by_class(observed: Observed) -> FloatArray:
    """Return P(bag = b | Y=c) = n_bΓ_bc/Σ_b' n_b'Γ_b'c, shape (n_bags, n_classes)."""
    rows = observed.sizes[:, None] * observed.proportions
    return np.asarray(rows / rows.sum(axis=0))
