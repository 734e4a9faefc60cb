"""Forward risk: the negative log-likelihood of the observations, summed over the true labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit

from decorrupt._typing import FloatArray
from decorrupt.risks.score_risk import Operator


@dataclass(frozen=True)
class ForwardRisk:
    """−(1/n)·Σ_j log[ given_pos·σ(f_j + shift) + given_neg·σ(−f_j − shift) ].

    σ(f + shift) is P(Y=1|x) in the population the row was drawn from. The two factors are the
    probabilities of the observation (a noisy label, a bag, a source) given each true label. The
    risk is bounded below. The term of a row is convex only if its observation excludes one label
    (then it is the logistic loss) or has no information about the label.

    Parameters
    ----------
    given_pos, given_neg : ndarray of shape (n_rows,)
        P(observed | Y=1) and P(observed | Y=−1), up to a factor per row; not both zero.
    shift : ndarray of shape (n_rows,) or float
        The log-odds of the row's own class prior minus the log-odds of the prior of the score.
    """

    given_pos: FloatArray
    given_neg: FloatArray
    shift: FloatArray | float = 0.0

    @cached_property
    def is_convex(self) -> bool:
        """Whether every observation determines its row's label or has no information about it."""
        return bool((np.isinf(self._evidence) | (self._evidence == 0)).all())

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its slope σ(f+shift) − P(Y=1|x, observed), over n."""
        log_odds = scores + self.shift
        slope = expit(log_odds) - expit(log_odds + self._evidence)
        return -float(np.mean(self.log_likelihoods(scores), dtype=float)), slope / len(scores)

    def log_likelihoods(self, scores: FloatArray) -> FloatArray:
        """Return log P(observed | x) of every row."""
        log_odds = scores + self.shift
        return np.asarray(
            np.logaddexp(self._log_pos + log_expit(log_odds), self._log_neg + log_expit(-log_odds))
        )

    def curvature(self, scores: FloatArray) -> Operator:
        """Return the diagonal Var(Y|x) − Var(Y|x, observed) of 0–1 labels, over n."""
        log_odds = scores + self.shift
        posterior_odds = log_odds + self._evidence
        bend = expit(log_odds) * expit(-log_odds) - expit(posterior_odds) * expit(-posterior_odds)
        diagonal = bend / len(scores)
        return lambda v: (diagonal * v.T).T

    @cached_property
    def _log_pos(self) -> FloatArray:
        return _log(self.given_pos)

    @cached_property
    def _log_neg(self) -> FloatArray:
        return _log(self.given_neg)

    @cached_property
    def _evidence(self) -> FloatArray:
        """The log-likelihood ratio of each row's observation, added to its log-odds."""
        return self._log_pos - self._log_neg


def noisy_label_risk(
    is_pos: NDArray[np.bool_],
    flip_pos: ArrayLike,
    flip_neg: ArrayLike,
    shift: FloatArray | float = 0.0,
) -> ForwardRisk:
    """Return −(1/n)·Σ_j log P(ỹ_j | x_j), P(ỹ|x) = Σ_y T(y, ỹ)·P(y|x).

    T(1, 1) = 1−ρ₊, T(−1, 1) = ρ₋; T(1, −1) = ρ₊, T(−1, −1) = 1−ρ₋.

    Parameters
    ----------
    is_pos : ndarray of bool, shape (n_rows,)
        Whether the noisy label is the positive class.
    flip_pos, flip_neg : array-like of shape (n_rows,) or float
        ρ₊ = P(Ỹ=−1 | Y=1) and ρ₋ = P(Ỹ=1 | Y=−1), for all rows or per row.
    shift : ndarray of shape (n_rows,) or float
        See :class:`ForwardRisk`.
    """
    flip_pos, flip_neg = np.asarray(flip_pos, dtype=float), np.asarray(flip_neg, dtype=float)
    return ForwardRisk(
        given_pos=np.where(is_pos, 1 - flip_pos, flip_pos),
        given_neg=np.where(is_pos, flip_neg, 1 - flip_neg),
        shift=shift,
    )


def _log(probability: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # −∞ is right: that label is excluded
        return np.asarray(np.log(probability))
