"""Proportion matching: fit each bag's mean probability to its proportion."""

from __future__ import annotations

from decorrupt.estimators.bag_classifier import BagClassifier
from decorrupt.estimators.default_strength import COUNT_PRIOR_VARIANCE
from decorrupt.observed import Observed
from decorrupt.risks import ProportionRisk
from decorrupt.solvers import Problem, mean_map_start


class ProportionMatchingClassifier(BagClassifier):
    """min_f (1/M)·Σ_k (n_k/n̄)·CE(p_k, mean_{j∈k} σ(f(x_j))) + λ‖f‖².

    Empirical proportion risk minimisation (Yu et al. 2015) with the cross-entropy
    CE(p, m) = −p·log m − (1−p)·log(1−m). M is the number of bags, n̄ their mean size. With bags of
    one row this is logistic regression. Otherwise it is not convex, and the solver starts from the
    mean map.

    Unlike :class:`CountLikelihoodClassifier` it assumes neither that labels are independent given
    the rows nor that p_k·n_k is whole. But a bag matches its proportion equally well if all its
    rows have the same probability as if they are near 0 and 1, so small bags are used less well.

    Parameters
    ----------
    kernel, kernel_gamma, tol, max_iter, random_state
        As in :class:`CorrectedLossClassifier`.
    reg_strength : float or "auto", default="auto"
        λ, at least 0. "auto" is s/(2·C·n), a Gaussian prior on the log-odds with the variance
        C = 10: n is the number of rows, s the mean of k(x, x), 1 for the rbf kernel.
    fit_intercept : bool, default=True
        Whether f has an unpenalised intercept.
    decision : {"balanced", "accuracy"}, default="balanced"
        Which error `predict` minimises: the balanced error, or the error in the population of the
        training rows.
    solver : {"auto", "newton", "lbfgs", "gradient_descent"} or GradientDescent, default="auto"
        How the objective is minimised, as in :class:`CorrectedLossClassifier`.

    Attributes
    ----------
    class_prior_ : float
        The share of positives among the training rows, Σn_k·p_k/Σn_k.
    classes_, decision_threshold_, dual_coef_, landmarks_, feature_coef_, frequencies_, \
frequency_centre_, projection_, coef_, intercept_, kernel_gamma_, reg_strength_, kernel_rank_, \
kernel_error_, n_iter_, solver_, n_features_in_, feature_names_in_
        As in :class:`CorrectedLossClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from decorrupt import bag_targets
    >>> from decorrupt.estimators.proportion_matching import ProportionMatchingClassifier
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

    labels_as_bags = True
    needs_common_probabilities = True
    prior_variance = COUNT_PRIOR_VARIANCE

    def problem(self, observed: Observed) -> Problem:
        """Return the cross-entropy of the bags' shares, started at the mean map."""
        return Problem(ProportionRisk(observed), mean_map_start(observed))
