"""The label step of ∝SVM: the best labels of all rows for given scores, bag by bag, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.corruption import Strata

PENALTIES = ("size", "bag")
Labels = NDArray[np.int8]


@dataclass(frozen=True)
class ProportionPenalty:
    """C_p·Σ_k s_k·|p̂_k(y) − p_k|, p̂_k(y) the share of positive labels in bag k.

    Attributes
    ----------
    row_bag : ndarray of int, shape (n_rows,)
        The bag of each row.
    sizes, proportions, bag_costs : ndarray of shape (n_bags,)
        n_k, p_k and C_p·s_k.
    steps : ndarray of shape (n_rows,)
        What the r-th positive label of a bag adds to the penalty, r = 1…n_k, bag after bag.
    """

    row_bag: NDArray[np.intp]
    sizes: NDArray[np.intp]
    proportions: FloatArray
    bag_costs: FloatArray
    steps: FloatArray

    def value(self, labels: Labels) -> float:
        """Return the penalty of a labelling by −1 and +1."""
        shares = np.bincount(self.row_bag, labels > 0, minlength=len(self.sizes)) / self.sizes
        return float(np.dot(self.bag_costs, np.abs(shares - self.proportions)))


def proportion_penalty(strata: Strata, cost: float, penalty: str) -> ProportionPenalty:
    """Return the penalty with s_k = n_k ("size") or s_k = 1 ("bag")."""
    sizes = strata.sizes
    bag_costs = cost * (sizes if penalty == "size" else np.ones(len(sizes)))
    bag = np.repeat(np.arange(len(sizes)), sizes)
    rank = np.arange(1, len(bag) + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # |t| − |t−1| with t = r − n_k·p_k; written so, it cannot fall from one r to the next.
    change = np.clip(2 * (rank - (sizes * strata.proportions)[bag]) - 1, -1, 1)
    steps = (bag_costs / sizes)[bag] * change
    return ProportionPenalty(strata.row_stratum, sizes, strata.proportions, bag_costs, steps)


def hinge(margins: FloatArray) -> FloatArray:
    """Return max(0, 1 − m)."""
    return np.asarray(np.maximum(0.0, 1.0 - margins))


def best_labels(scores: FloatArray, penalty: ProportionPenalty, cost: float) -> Labels:
    """Return argmin_y cost·Σ_i hinge(y_i f_i) + penalty(y).

    The R positives of a bag must be its R highest scores. In the order of falling scores every
    further positive label saves less, δ_r = hinge(−f_r) − hinge(f_r), and adds no less to the
    penalty than the one before it, so the objective is convex in R: row r is positive iff its own
    saving exceeds its own step. O(n log n) for all bags together.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        f.
    penalty : ProportionPenalty
        The bags and what a wrong share of positives costs.
    cost : float
        C.
    """
    order = np.lexsort((-scores, penalty.row_bag))
    ranked = scores[order]
    saving = cost * (hinge(-ranked) - hinge(ranked))
    labels = np.empty(len(scores), dtype=np.int8)
    labels[order] = np.where(saving > penalty.steps, 1, -1)
    return labels


def labels_at_random(
    penalty: ProportionPenalty, n_starts: int, random_state: np.random.RandomState
) -> list[Labels]:
    """Return labellings that agree with the proportions as far as whole rows can.

    Every second one is drawn with the priorities of the one before it reversed: then the starts
    for proportions p are, with the classes swapped, those for 1−p.
    """
    priorities = random_state.standard_normal(((n_starts + 1) // 2, len(penalty.row_bag)))
    # So small a cost that the scores decide only between counts with the same penalty.
    cost = 1e-6 * float(np.min(penalty.bag_costs / penalty.sizes))
    pairs = [(best_labels(p, penalty, cost), best_labels(-p, penalty, cost)) for p in priorities]
    return [labels for pair in pairs for labels in pair][:n_starts]
