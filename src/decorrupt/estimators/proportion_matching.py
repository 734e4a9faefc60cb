"""Proportion matching: fit each bag's mean probability to its proportion."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from decorrupt._typing import FloatArray
from decorrupt.corruption import combine_bags
from decorrupt.estimators._estimator import estimator
from decorrupt.estimators.bags import BagFitMixin
from decorrupt.estimators.kernel_classifier import COUNT_PRIOR_VARIANCE, KernelClassifier
from decorrupt.observed import Observed
from decorrupt.risks import ProportionRisk, logistic_risk
from decorrupt.solvers import Objective, Problem, prior_start, solve_lbfgs

# A starting point does not need many digits.
START_TOL = 1e-3
START_MAX_ITER = 200


@estimator
class ProportionMatchingClassifier(BagFitMixin, KernelClassifier):
    """Kernel classifier whose mean probabilities match the proportions of the bags.

    It minimises (1/M)·Σ_k (n_k/n̄)·CE(p_k, mean_{j∈k} σ(f(x_j))) + λ‖f‖²: empirical proportion risk
    minimisation (Yu et al. 2015) with the cross-entropy CE(p, m) = −p·log m − (1−p)·log(1−m). M is
    the number of bags, n̄ their mean size. With bags of one row this is logistic regression.
    Otherwise it is not convex, and the solver starts from the mean map. For several classes the
    cross-entropy is that of all class shares, with softmax(f) and the penalty 2λ‖f‖².

    Unlike :class:`CountLikelihoodClassifier` it assumes neither that labels are independent given
    the rows nor that p_k·n_k is whole. But a bag matches its proportion equally well if all its
    rows have the same probability as if they are near 0 and 1, so small bags are used less well.

    Parameters
    ----------
    reg_strength : float or "auto", default="auto"
        λ, at least 0; the penalty is λ‖f‖², without a factor ½. "auto" is s/(2·C·n), a Gaussian
        prior on the log-odds with the variance C = 10: n is the number of rows, s the mean of k(x,
        x), 1 for the rbf kernel.

    See Also
    --------
    CountLikelihoodClassifier : Better with small bags, if labels are independent given the rows.
    AutoLabelProportionsClassifier : Compares the methods on held-out bags and averages them.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import ProportionMatchingClassifier, bag_targets
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 400)                  # not used in training
    >>> X = rng.normal(size=(400, 2)) + 2 * labels[:, None]
    >>> bags = np.arange(400) // 10
    >>> shares = {bag: labels[bags == bag].mean() for bag in range(40)}
    >>> model = ProportionMatchingClassifier(random_state=0)
    >>> model = model.fit(X, bag_targets(bags, shares), bags=bags)
    >>> bool(model.score(X, labels) > 0.85)
    True
    """

    needs_common_probabilities: ClassVar[bool] = True
    prior_variance: ClassVar[float] = COUNT_PRIOR_VARIANCE

    def problem(self, observed: Observed) -> Problem:
        """Return the cross-entropy of the bags' shares, started at the mean map, roughly."""

        def mean_map(objective: Objective, minimize: object) -> FloatArray:
            combination = combine_bags(
                observed.sizes, observed.proportions, method="least_squares", class_prior="pooled"
            )
            convex = replace(objective, risk=logistic_risk(combination, observed))
            first = prior_start(observed.class_prior)(objective, minimize)  # type: ignore[arg-type]
            return solve_lbfgs(convex, first, tol=START_TOL, max_iter=START_MAX_ITER).coef

        return Problem(ProportionRisk(observed), observed.n_rows, mean_map)
