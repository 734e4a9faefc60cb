"""The label step of ∝SVM: the optimal labels of all rows for given scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decorrupt._typing import FloatArray
from decorrupt.observed import Observed

PENALTIES = ("size", "bag")
Labels = NDArray[np.int8]


@dataclass(frozen=True)
class ProportionPenalty:
    """C_p·Σ_k s_k·|p̂_k(y) − p_k|, with p̂_k(y) the share of positive labels in bag k.

    Attributes
    ----------
    row_bag : ndarray of int, shape (n_rows,)
        The bag of each row.
    sizes, proportions, bag_costs : ndarray of shape (n_bags,)
        n_k, p_k and C_p·s_k.
    steps : ndarray of shape (n_rows,)
        The change of the penalty by the r-th positive label of a bag, r = 1…n_k, bag after bag.
    """

    row_bag: NDArray[np.intp]
    sizes: NDArray[np.intp]
    proportions: FloatArray
    bag_costs: FloatArray
    steps: FloatArray

    def value(self, labels: Labels) -> float:
        """Return the penalty of labels −1 and +1."""
        shares = np.bincount(self.row_bag, labels > 0, minlength=len(self.sizes)) / self.sizes
        return float(np.dot(self.bag_costs, np.abs(shares - self.proportions)))


def proportion_penalty(observed: Observed, cost: float, penalty: str) -> ProportionPenalty:
    """Return the penalty with s_k = n_k ("size") or s_k = 1 ("bag")."""
    sizes, proportions = observed.sizes, observed.proportions[:, 1]
    bag_costs = cost * (sizes if penalty == "size" else np.ones(len(sizes)))
    bag = np.repeat(np.arange(len(sizes)), sizes)
    rank = np.arange(1, len(bag) + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # |t| − |t−1| with t = r − n_k·p_k; in this form rounding cannot make it decrease in r.
    change = np.clip(2 * (rank - (sizes * proportions)[bag]) - 1, -1, 1)
    steps = (bag_costs / sizes)[bag] * change
    return ProportionPenalty(observed.row_bag, sizes, proportions, bag_costs, steps)


def hinge(margins: FloatArray) -> FloatArray:
    """Return max(0, 1 − m)."""
    return np.asarray(np.maximum(0.0, 1.0 - margins))


def best_labels(scores: FloatArray, penalty: ProportionPenalty, cost: float) -> Labels:
    """Return argmin_y cost·Σ_i hinge(y_i f_i) + penalty(y).

    The R positives of a bag must be its R highest scores. In decreasing order of scores, the r-th
    positive label saves δ_r = hinge(−f_r) − hinge(f_r), which does not increase in r, and changes
    the penalty by a step that does not decrease in r. The objective is therefore convex in R, and
    row r is positive iff its saving exceeds its step. O(n log n) for all bags together.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        f.
    penalty : ProportionPenalty
        The penalty of the bags.
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
    """Return random labellings as close to the proportions as whole rows allow.

    Every second labelling uses the negated priorities of the one before. The starts for
    proportions p are then those for 1−p with the classes swapped.
    """
    priorities = random_state.standard_normal(((n_starts + 1) // 2, len(penalty.row_bag)))
    # The cost is so small that the scores decide only between counts with the same penalty.
    cost = 1e-6 * float(np.min(penalty.bag_costs / penalty.sizes))
    pairs = [(best_labels(p, penalty, cost), best_labels(-p, penalty, cost)) for p in priorities]
    return [labels for pair in pairs for labels in pair][:n_starts]
