"""The held-out likelihood of noisy labels."""

from __future__ import annotations

import numpy as np

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata
from decorrupt.estimators.class_sources import ClassSources
from decorrupt.estimators.forward_sources import forward_risk
from decorrupt.estimators.inputs import NoisySources, source_strata
from decorrupt.estimators.priors import BALANCED
from decorrupt.model_selection.scorers import BagScorer
from decorrupt.risks.forward import ForwardRisk
from decorrupt.risks.multiclass import ClassForwardRisk

NOISY_LABELS = "noisy_label_log_likelihood"


class NoisyLabelScorer(BagScorer):
    """(1/n)·Σ_j log Σ_y P_s(y|x_j)·T_s[y, ỹ_j], s the source of row j: a proper scoring rule.

    P_s(y|x) is at the class shares of the source. Every row is an observation, so the bags of
    this criterion are single rows.

    Parameters
    ----------
    likelihood : ForwardRisk or ClassForwardRisk
        The likelihood of all labels, for scores of a balanced population.
    """

    def __init__(self, likelihood: ForwardRisk | ClassForwardRisk) -> None:
        self.name = NOISY_LABELS
        self.options = {}
        self.likelihood = likelihood

    @property
    def takes_log_odds(self) -> bool:
        """Whether the criterion uses probabilities instead of decision values: yes."""
        return True

    @classmethod
    def of(cls, noisy: NoisySources | ClassSources, priors: FloatArray) -> NoisyLabelScorer:
        """Return the scorer of these labels, for sources with the class shares `priors`."""
        return cls(forward_risk(noisy, priors, BALANCED))

    def by_bag(self, log_odds: FloatArray, strata: Strata) -> FloatArray:
        """Return log P(ỹ|x) of each row.

        Parameters
        ----------
        log_odds : ndarray of shape (n_rows,) or (n_rows, n_classes)
            In a balanced population.
        strata : Strata
            From :func:`rows_as_strata`, all or some of its rows in their order.
        """
        all_rows = np.zeros(np.shape(self.likelihood.shift))
        all_rows[strata.ids] = log_odds
        return np.asarray(self.likelihood.log_likelihoods(all_rows)[strata.ids])


def rows_as_strata(noisy: NoisySources | ClassSources, priors: FloatArray) -> Strata:
    """Return one stratum per row, named by its number, with P(Y|ỹ) as its proportion."""
    rows = np.arange(len(noisy.row_source))
    return Strata(rows, rows, source_strata(noisy, priors).row_proportions)
