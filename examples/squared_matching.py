"""A new method for bags, as small as possible: the tutorial "Add a method" shows this file.

The mean probability of each class in a bag is fitted to its share by least squares:
min_f ½·Σ_k (n_k/n)·Σ_c (mean_{j∈k} P(Y_j=c) − p_kc)² + λ‖f‖². Run it with
``python examples/squared_matching.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from decorrupt import AutoLabelProportionsClassifier
from decorrupt.datasets import make_bags, make_gaussian_classes
from decorrupt.estimators import BagFitMixin, KernelClassifier, estimator
from decorrupt.losses import probabilities, slope_in_scores
from decorrupt.observed import Observed
from decorrupt.solvers import Problem, prior_start


# start: risk
@dataclass(frozen=True)
class SquaredMatchingRisk:
    """½·Σ_k (n_k/n)·Σ_c (m_kc − p_kc)², m_kc = mean_{j∈k} P(Y_j=c), as a function of the scores."""

    observed: Observed
    is_convex = False

    def value_and_slope(self, scores):
        """Return the risk and its gradient in the scores."""
        prob = probabilities(scores)  # one column per class
        excess = self.observed.mean_by_bag(prob) - self.observed.proportions
        value = 0.5 * float(self.observed.sizes @ (excess**2).sum(axis=1)) / len(scores)
        # The slope in log P(Y_j=c): dm_kc = P(Y_j=c)/n_k, and the weight of the bag is n_k/n.
        slope = excess[self.observed.row_bag] * prob / len(scores)
        return value, slope_in_scores(slope, prob)

    def curvature(self, scores):
        """Return v ↦ Hv for two classes, without the part that can be negative (Gauss-Newton)."""
        prob, row_bag = probabilities(scores), self.observed.row_bag
        change = prob[:, 0] * prob[:, 1]  # of P(Y_j=1) with the score of row j

        def apply(v):
            by_bag = self.observed.mean_by_bag((change * v.T).T)
            return (2 * change * by_bag[row_bag].T).T / len(scores)

        return apply


# end: risk


# start: estimator
@estimator
class SquaredMatchingClassifier(BagFitMixin, KernelClassifier):
    """Fit the mean probabilities of each bag to its class shares by least squares."""

    def problem(self, observed):
        """Return the risk, the rows it is worth, and where its minimisation starts."""
        start = prior_start(observed.class_prior)
        return Problem(SquaredMatchingRisk(observed), observed.n_rows, start)


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
