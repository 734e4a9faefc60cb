"""A new method for bags, as small as possible: the tutorial "Add a method" shows this file.

min_f Σ_k (n_k/n)·(mean_{j∈k} σ(f(x_j)) − p_k)² + λ‖f‖²: the mean probability of a bag is fitted to
its proportion by least squares. Run it with ``python examples/squared_matching.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from decorrupt import AutoLabelProportionsClassifier
from decorrupt.datasets import make_bags, make_gaussian_classes
from decorrupt.estimators import BagClassifier
from decorrupt.observed import Observed
from decorrupt.solvers import Problem, mean_map_start


# start: risk
@dataclass(frozen=True)
class SquaredMatchingRisk:
    """Σ_k (n_k/n)·(m_k − p_k)², m_k = mean_{j∈k} σ(f_j), as a function of the scores f."""

    observed: Observed
    is_convex = False

    def value_and_slope(self, scores):
        """Return the risk and its gradient in the scores."""
        probability, excess, weight = self._parts(scores)
        value = float(weight @ excess**2)
        # dm_k/df_j = σ'(f_j)/n_k, and the weight is n_k/n.
        slope = 2 * excess[self.observed.row_bag] * probability * (1 - probability)
        return value, slope / len(scores)

    def curvature(self, scores):
        """Return v ↦ Hv without the part that can be negative (Gauss-Newton)."""
        probability, _, weight = self._parts(scores)
        row, sizes = self.observed.row_bag, self.observed.sizes
        change = probability * (1 - probability) / sizes[row]

        def apply(v):
            by_bag = np.zeros((len(sizes), *v.shape[1:]))
            np.add.at(by_bag, row, (change * v.T).T)
            return (change * (2 * weight * by_bag.T).T[row].T).T

        return apply

    def _parts(self, scores):
        probability = expit(scores)
        sizes = self.observed.sizes
        mean = np.bincount(self.observed.row_bag, probability, len(sizes)) / sizes
        return probability, mean - self.observed.proportions[:, 1], sizes / len(scores)


# end: risk


# start: estimator
class SquaredMatchingClassifier(BagClassifier):
    """Fit the mean probability of each bag to its proportion by least squares."""

    labels_as_bags = True  # without bags, every labelled row is a bag of its own
    _takes_several_classes = False
    # Not parameters: users cannot change them.
    fit_intercept, solver, tol, max_iter = True, "lbfgs", 1e-6, 1000

    def __init__(
        self,
        *,
        kernel="rbf",
        kernel_gamma="scale",
        reg_strength=1e-3,
        decision="balanced",
        random_state=None,
    ):
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.reg_strength = reg_strength
        self.decision = decision
        self.random_state = random_state

    def problem(self, observed):
        """Return the risk of what is known about the labels, and where to start."""
        return Problem(SquaredMatchingRisk(observed), mean_map_start(observed))


# end: estimator


# start: search
def compare(random_state=0):
    """Let the automatic choice compare the new method with the mean map."""
    data = make_gaussian_classes(600, random_state=random_state)
    made = make_bags(data.y, bag_size=8, random_state=random_state)
    search = AutoLabelProportionsClassifier(
        candidates=["mean_map", ("squared_matching", SquaredMatchingClassifier())],
        cv=3,
        random_state=random_state,
    )
    return search.fit(data.X[made.rows], made.y, bags=made.bags)


if __name__ == "__main__":
    print(compare().leaderboard_)
# end: search
