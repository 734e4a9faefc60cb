"""Forward risk of several classes: the negative log-likelihood of noisy labels or bags."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.risks.multiclass.softmax import SoftmaxRisk, log_softmax


@dataclass(frozen=True)
class ClassForwardRisk(SoftmaxRisk):
    """−(1/n)·Σ_j log Σ_c given[j, c]·softmax(f_j + shift_j)_c.

    Parameters
    ----------
    given : ndarray of shape (n_rows, n_classes)
        P(observed | Y=c), up to a factor per row; not all zero in a row.
    shift : ndarray of shape (n_rows, n_classes) or float
        The log class prior of the row's own population minus the log prior of the scores.
    """

    given: FloatArray
    shift: FloatArray | float = 0.0

    @cached_property
    def is_convex(self) -> bool:
        """Whether every observation determines its row's class or has no information about it."""
        only_one = (self.given > 0).sum(axis=1) == 1
        nothing = np.ptp(self.given, axis=1) == 0
        return bool((only_one | nothing).all())

    def value_and_slope(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its slope [P(Y=c|x) − P(Y=c|x, observed)]/n."""
        log_prob = log_softmax(scores + self.shift)
        joint = log_prob + self._log_given
        log_likelihood = logsumexp(joint, axis=1, keepdims=True)
        slope = np.exp(log_prob) - np.exp(joint - log_likelihood)
        return -float(log_likelihood.mean()), slope / len(scores)

    def log_likelihoods(self, scores: FloatArray) -> FloatArray:
        """Return log P(observed | x) of every row."""
        return np.asarray(logsumexp(log_softmax(scores + self.shift) + self._log_given, axis=1))

    @cached_property
    def _log_given(self) -> FloatArray:
        with np.errstate(divide="ignore"):  # −∞ is right: that class is excluded
            return np.asarray(np.log(self.given))


def class_noisy_label_risk(
    noisy_class: NDArray[np.intp],
    transitions: FloatArray,
    row_source: NDArray[np.intp],
    shift: FloatArray | float = 0.0,
) -> ClassForwardRisk:
    """Return −(1/n)·Σ_j log Σ_y P(y|x_j)·T_s[y, ỹ_j], s the source of row j.

    Parameters
    ----------
    noisy_class, row_source : ndarray of int, shape (n_rows,)
        The noisy label and the source of each row, as indices.
    transitions : ndarray of shape (n_sources, n_classes, n_classes)
        From :func:`check_transitions`.
    shift : ndarray of shape (n_rows, n_classes) or float
        See :class:`ClassForwardRisk`.
    """
    return ClassForwardRisk(transitions[row_source, :, noisy_class], shift)


def class_set_risk(strata: Strata) -> ClassForwardRisk:
    """Return −(1/n)·Σ_j log P(bag(j) | x_j), the scores being those at the pooled class shares.

    P(bag = b | x) = Σ_c P(Y=c|x)·n_bΓ_bc/Σ_b' n_b'Γ_b'c, which sums to 1 over the bags.

    Parameters
    ----------
    strata : Strata
        Bags with shares of several classes, each of which occurs.
    """
    return ClassForwardRisk(class_bag_shares(strata)[strata.row_stratum])


def class_bag_shares(strata: Strata) -> FloatArray:
    """Return P(bag = b | Y=c) = n_bΓ_bc/Σ_b' n_b'Γ_b'c, shape (n_bags, n_classes)."""
    rows = strata.sizes[:, None] * strata.proportions
    return np.asarray(rows / rows.sum(axis=0))
