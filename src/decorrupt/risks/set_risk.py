"""Set classification: predict the bag of each row through the score of the classes."""

from __future__ import annotations

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata, pooled_proportion
from decorrupt.risks.forward import ForwardRisk
from decorrupt.risks.multiclass import class_set_risk
from decorrupt.risks.score_risk import ScoreRisk


def set_risk(strata: Strata) -> ScoreRisk:
    """Return −(1/n)·Σ_j log P(bag(j) | x_j), as a function of the log-odds f at the pooled prior.

    Let g = σ(f) = P(Y=1|x) among all rows, and γ̄ their share of positives. Bag k has the share
    n_k/n of the rows, and

        P(bag = k | x) = (n_k/n)·[ (p_k/γ̄)·g + ((1−p_k)/(1−γ̄))·(1−g) ],

    which sums to one over the bags. At any prior other than γ̄ it would need a normaliser that
    depends on x. Up to the factor γ̄(1−γ̄), the bracket is the (p_k−γ̄)·g + (1−p_k)·γ̄ of Lu et al.
    (2021).

    Parameters
    ----------
    strata : Strata
        Bags with at least two different proportions. With the shares of several classes, the
        risk is :func:`decorrupt.risks.multiclass.class_set_risk`.
    """
    if strata.n_classes is not None:
        return class_set_risk(strata)
    given_pos, given_neg = bag_shares_by_class(strata)
    return ForwardRisk(given_pos[strata.row_stratum], given_neg[strata.row_stratum])


def bag_shares_by_class(strata: Strata) -> tuple[FloatArray, FloatArray]:
    """Return P(bag = k | Y=1) = n_k·p_k/(nγ̄) and P(bag = k | Y=−1), for every bag."""
    sizes = strata.sizes.astype(float)
    prior = pooled_proportion(sizes, strata.proportions)
    share = sizes / sizes.sum()
    return share * strata.proportions / prior, share * (1 - strata.proportions) / (1 - prior)
